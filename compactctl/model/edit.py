"""What a stage may propose: edits keyed by message id, or a reason for proposing none."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from compactctl.model.message import GroupId, MessageId, Synthetic
from compactctl.model.unsent import UnsentKind

HideKind = Literal["condense", "truncate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hide:
    """Take messages out of the effective history, behind the group's summary or marker."""

    ids: tuple[MessageId, ...]
    group: GroupId
    kind: HideKind
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replace:
    """Put ``text`` in place of one part's content.

    ``refers_to`` names a message that the new text points the reader to.
    """

    id: MessageId
    part: int
    text: str
    group: GroupId
    reason: str = ""
    refers_to: MessageId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert:
    """Put a summary or marker right before the message ``before``."""

    before: MessageId
    message: Synthetic


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveUnsent:
    """Take what is never sent out of the file, by its kinds; no message changes.

    ``id`` is a message at which the edit is archived: what it takes out has none.
    """

    id: MessageId
    kinds: tuple[UnsentKind, ...]
    group: GroupId
    reason: str = ""


Edit = Hide | Replace | Insert | RemoveUnsent


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A stage's edits.

    ``notes`` are lines a user may want to read about them; ``figures`` are what the stage has
    counted, by the names that the reference systems give them in their results.
    """

    stage: str
    edits: tuple[Edit, ...]
    notes: tuple[str, ...] = ()
    figures: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A stage that does nothing, why, and which option changes that."""

    stage: str
    reason: str
    detail: str = ""


def groups_of(edits: Iterable[Edit]) -> tuple[GroupId, ...]:
    """Return the groups of edits in order of first appearance."""
    names = (e.message.group if isinstance(e, Insert) else e.group for e in edits)
    return tuple(dict.fromkeys(names))


def without_group(edits: Iterable[Edit], group: str) -> tuple[Edit, ...]:
    """Return the edits that do not belong to ``group``."""
    return tuple(edit for edit in edits if group not in groups_of([edit]))
