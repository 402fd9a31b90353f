"""The findings of an audit: losses, unsupported claims and re-reads."""

from collections.abc import Mapping
from typing import Literal

from compactctl.history.references import SourceRef
from compactctl.records import Record
from compactctl.summaries.by_model.unsupported_claims import ClaimKind

LossKind = Literal["rule", "task", "file", "error", "identifier", "read"]

LOSS_KINDS: tuple[LossKind, ...] = ("rule", "task", "file", "error", "identifier", "read")
"""Most important first. ``file`` is a changed file, ``read`` one that was only read."""


class Loss(Record):
    """Something known before a compaction that the context after it no longer mentions.

    Attributes:
        kind: what it is.
        text: the rule, task or error line, or the path or identifier.
        ref: where it was last mentioned.
        note: the task's status, the failed command, or how a file or identifier was used.
        mentioned_again: where the agent first wrote it later; None if it did not.
    """

    kind: LossKind
    text: str
    ref: SourceRef
    note: str = ""
    mentioned_again: SourceRef | None = None


class UnsupportedClaim(Record):
    """A claim of a summary that its source does not hold.

    ``line`` is the claim's line in the summary, from 1; 0 if no line holds its text.
    """

    kind: ClaimKind
    text: str
    line: int


class RepeatedRead(Record):
    """A tool call that read again what a compaction had removed.

    Attributes:
        what: the file, or the command, or the tool and its arguments.
        ref: where the tool was called.
        first_seen: where the same had last been shown, or written, before the compaction.
        tokens: size of the call and its result.
    """

    what: str
    ref: SourceRef
    first_seen: SourceRef
    tokens: int


class Audit(Record):
    """The result of an audit.

    Attributes:
        known_counts: number of known facts of each kind before the compaction.
        lost: those no longer mentioned after it, by kind, the important ones first.
        invented: unsupported claims of the summary; None if the summary cannot be read.
        rereads: the re-reads after it, in order.
        read_calls: number of read-only calls after it, re-reads included.
        read_tokens: their tokens.
    """

    known_counts: Mapping[LossKind, int]
    lost: tuple[Loss, ...]
    invented: tuple[UnsupportedClaim, ...] | None
    rereads: tuple[RepeatedRead, ...] = ()
    read_calls: int = 0
    read_tokens: int = 0

    def lost_of(self, kind: LossKind) -> tuple[Loss, ...]:
        """Return the losses of one kind."""
        return tuple(loss for loss in self.lost if loss.kind == kind)

    @property
    def reread_tokens(self) -> int:
        """The tokens of all re-reads."""
        return sum(reread.tokens for reread in self.rereads)
