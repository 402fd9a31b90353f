"""How much text of a file was not read, and where."""

from itertools import islice

from compactctl.model.transcript import Unread

# Unread fields that a message names; it only counts the others.
_MAX_FIELDS = 3
_MAX_NAME_CHARS = 60
_KILOBYTE = 1_000


def describe_unread(unread: Unread) -> str:
    """Describe how much text was not read, and where; "" if too little to change the size.

    Every command that shows or checks a size must call this, and treat the size as unknown if this
    returns a text.
    """
    if not unread.is_significant:
        return ""
    if unread.elsewhere and not unread.lost:
        are = "part of a request is" if unread.elsewhere == 1 else "parts of requests are"
        return f"{unread.elsewhere:,} {are} stored elsewhere, and of unknown size"
    if not unread.fields:
        lines = "1 line was" if unread.lines == 1 else f"{unread.lines:,} lines were"
        return f"{lines} not recognized, and no other line holds a message"
    return f"{_size_text(unread.n_bytes)} of text in {_places_text(unread)} was not read"


def _places_text(unread: Unread) -> str:
    """Name the fields of unread text, and the first line that has some unless it is the first."""
    names = [f"`{_shown_name(name)}`" for name in islice(unread.fields, _MAX_FIELDS)]
    n_more = len(unread.fields) - len(names)
    if n_more:
        names.append("1 other field" if n_more == 1 else f"{n_more:,} other fields")
    *others, last = names
    fields = f"{', '.join(others)} and {last}" if others else last
    return f"{fields}, from line {unread.first_line + 1:,} on," if unread.first_line else fields


def _shown_name(name: str) -> str:
    """Return a field's name so that it can neither end its quotation nor begin a line."""
    shown = " ".join(name[: 2 * _MAX_NAME_CHARS].replace("`", "'").split())
    return shown if len(shown) <= _MAX_NAME_CHARS else f"{shown[: _MAX_NAME_CHARS - 1]}…"


def _size_text(n_bytes: int) -> str:
    if n_bytes < _KILOBYTE:
        return f"{n_bytes} bytes"
    return f"{n_bytes / _KILOBYTE:,.0f} kB"
