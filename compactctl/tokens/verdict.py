"""The verdict about a context: what is worst about it, for screens, gates and reports alike."""

from collections.abc import Iterator
from typing import Literal, get_args

from compactctl.records import Record

Verdict = Literal[
    "failed", "will be refused", "incomplete", "over limit", "over target", "unchanged", "fits"
]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
"""All verdicts, the worst first."""


class Judgment(Record):
    """What is known about a context before it is called good.

    Attributes:
        tokens: the size of the largest next request; None if it is unknown.
        limit: the most tokens that a gate, or else the window, allows; None without a limit.
        target: the size that a compaction was to reach; None without one.
        has_failed: whether the transcript could not be read, or could not be processed.
        is_refused: whether the provider or the client will refuse the next request.
        is_incomplete: whether text that could have been sent was not read: it may be larger.
        is_unchanged: whether a compaction changed nothing.
    """

    tokens: int | None = None
    limit: int | None = None
    target: int | None = None
    has_failed: bool = False
    is_refused: bool = False
    is_incomplete: bool = False
    is_unchanged: bool = False

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """All verdicts that are true, the worst first; "fits" if none of the others is."""
        return tuple(self._bad()) or ("fits",)

    @property
    def verdict(self) -> Verdict:
        """The worst verdict that is true."""
        return self.verdicts[0]

    @property
    def fits(self) -> bool:
        """Whether the context is known to be within its limits, and will be accepted."""
        return self.verdict in {"unchanged", "fits"}

    @property
    def is_over(self) -> bool:
        """Whether the context is over its limit or its target."""
        return _exceeds(self.tokens, self.limit) or _exceeds(self.tokens, self.target)

    @property
    def is_within(self) -> bool:
        """Whether the context is known to be within its limits, whether or not it is accepted."""
        return not (self.is_over or self.is_incomplete or self.has_failed)

    def _bad(self) -> Iterator[Verdict]:
        if self.has_failed:
            yield "failed"
        if self.is_refused:
            yield "will be refused"
        if self.is_incomplete:
            yield "incomplete"
        if _exceeds(self.tokens, self.limit):
            yield "over limit"
        if _exceeds(self.tokens, self.target):
            yield "over target"
        if self.is_unchanged:
            yield "unchanged"


def _exceeds(tokens: int | None, most: int | None) -> bool:
    return tokens is not None and most is not None and tokens > most
