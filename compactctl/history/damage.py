"""Whether a file is as its client writes it, or as a crash leaves it."""

from collections.abc import Iterable

from compactctl.model.transcript import Link, Transcript, Unread


def first_damage(transcript: Transcript) -> str | None:
    """Return the first sign that records were lost, torn, repeated or mixed; None for a whole file.

    A record that follows one that is not in the file before it is such a sign.
    """
    for opaque in transcript.opaque:
        return f"line {opaque.line + 1}: {opaque.damage}"
    for warning in transcript.warnings:
        return warning
    return _disorder(transcript.chain.links)


def _disorder(links: Iterable[Link]) -> str | None:
    known: set[str] = set()
    for link in links:
        if link.id in known:
            return f"line {link.line + 1}: the record is there twice"
        if link.parent is not None and link.parent not in known:
            return f"line {link.line + 1}: the record it follows does not stand before it"
        known.add(link.id)
    return None


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
