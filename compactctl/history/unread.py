"""Whether so much of a file's text was left aside that its size cannot be told."""

from compactctl.model.transcript import Unread

_NAMED = 3
_KILOBYTE = 1_000


def unread_text(unread: Unread) -> str:
    """Say how much text was not read, and in which fields; "" for a tenth of the text or less.

    Every command that tells or judges a size asks this, and takes no size for known where it
    answers.
    """
    if not unread.is_much:
        return ""
    named = [f"`{name}`" for name in unread.fields][:_NAMED]
    rest = len(unread.fields) - len(named)
    if rest:
        named.append("1 other field" if rest == 1 else f"{rest:,} other fields")
    *names, last = named
    where = f"{', '.join(names)} and {last}" if names else last
    return f"{_size_text(unread.n_bytes)} of text in {where} was not read"


def _size_text(n_bytes: int) -> str:
    if n_bytes < _KILOBYTE:
        return f"{n_bytes} bytes"
    return f"{n_bytes / _KILOBYTE:,.0f} kB"
