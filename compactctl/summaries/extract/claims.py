"""What is said about calls in words of our own, by how they ended."""

from collections.abc import Mapping
from typing import NamedTuple

from compactctl.model.message import CallOutcome


class ClaimWords(NamedTuple):
    """What is said of a call with one outcome; "" where nothing is said.

    Attributes:
        command: of a command, behind what it ran.
        change: of a file that it should have changed; what it did if all went well is said by what
            the tool is for.
        heading: behind the heading of what is quoted of it.
        plan: of the plan that it presented.
    """

    command: str
    change: str
    heading: str
    plan: str


CLAIMS: Mapping[CallOutcome, ClaimWords] = {
    "ok": ClaimWords("ok", "", "", "agreed"),
    "failed": ClaimWords("FAILED", "failed edit", "failed", ""),
    "denied": ClaimWords("denied", "denied edit", "denied", "rejected"),
    "timed out": ClaimWords("timed out", "interrupted edit", "timed out", ""),
    "interrupted": ClaimWords("interrupted", "interrupted edit", "interrupted", ""),
    "unknown": ClaimWords("", "", "", "proposed"),
}
