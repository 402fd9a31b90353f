"""Whether a file is as its client writes it, or as a crash leaves it."""

from collections.abc import Iterable

from compactctl.model.transcript import Link, Transcript


def damage_of(transcript: Transcript) -> str | None:
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
