"""What a verification finds: how bad it is, in words, and what can be done about it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Severity = Literal["note", "repairable", "unknown", "changed", "damaged"]
TranscriptState = Literal["proven", "repairable", "unknown", "changed", "damaged"]
_WORST_FIRST: tuple[TranscriptState, ...] = ("damaged", "changed", "unknown", "repairable")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is worth saying about a transcript or its archive.

    ``note``: nothing is lost and nothing is to be done. ``repairable``: ``--repair`` sets it
    right and loses nothing. ``unknown``: it could not be looked into. ``changed``: the transcript
    is in no state that its archive knows, but the archive is whole. ``damaged``: a state cannot
    be restored. ``rename`` is what a repair renames, and to what.
    """

    severity: Severity
    text: str
    rename: tuple[Path, Path] | None = None


def worst_state(findings: Iterable[Finding]) -> TranscriptState:
    """Return the worst that was found; ``proven`` when there is nothing but notes."""
    found = {finding.severity for finding in findings}
    return next((verdict for verdict in _WORST_FIRST if verdict in found), "proven")
