"""What an audit finds in a compaction."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from compactctl.summaries.by_model.unsupported_claims import ClaimKind
from compactctl.summaries.extract.passages import SourceRef

LossKind = Literal["rule", "task", "file", "error", "identifier", "read"]

LOSS_KINDS: tuple[LossKind, ...] = ("rule", "task", "file", "error", "identifier", "read")
"""In the order in which they matter: ``file`` is a changed one, ``read`` one that was only read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """Something that was known before a compaction and is told nowhere after it.

    Attributes:
        kind: what it is.
        text: its words, or the path or identifier.
        ref: where it was said last.
        note: what was done with it, "" for nothing worth telling.
        mentioned_again: where it came up again; None where it did not.
    """

    kind: LossKind
    text: str
    ref: SourceRef
    note: str = ""
    mentioned_again: SourceRef | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsupportedClaim:
    """A claim of a summary that is not in its source; ``line`` is its line there, from 1."""

    kind: ClaimKind
    text: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedRead:
    """A tool call that showed again what a compaction had taken away.

    Attributes:
        what: the file, or the tool and what it was asked.
        ref: where it was called.
        first_seen: where the same had been shown, or written, before the compaction.
        tokens: of the call and its result.
    """

    what: str
    ref: SourceRef
    first_seen: SourceRef
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What became of what was known.

    Attributes:
        known_counts: how many there were of each kind before.
        lost: those that are told nowhere after it, by kind and then as they matter.
        invented: claims of the summary without a source; None where no summary can be read.
        rereads: in order.
        read_calls: how many calls there were that look at something, re-reads among them.
        read_tokens: their tokens.
    """

    known_counts: Mapping[LossKind, int]
    lost: tuple[Loss, ...]
    invented: tuple[UnsupportedClaim, ...] | None
    rereads: tuple[RepeatedRead, ...] = ()
    read_calls: int = 0
    read_tokens: int = 0

    def lost_of(self, kind: LossKind) -> tuple[Loss, ...]:
        """Return what was lost of one kind."""
        return tuple(loss for loss in self.lost if loss.kind == kind)

    @property
    def reread_tokens(self) -> int:
        """The tokens that were paid to see things again."""
        return sum(reread.tokens for reread in self.rereads)
