"""The outcome of a stage: edits keyed by message id, or the reason why there are none."""

from collections.abc import Iterable, Mapping
from typing import Literal

from compactctl.model.message import GroupId, JsonPath, MessageId, Synthetic
from compactctl.model.transcript import FieldValue
from compactctl.model.unsent import UnsentKind
from compactctl.records import Record, field

HideKind = Literal["condense", "truncate"]


class Hide(Record):
    """Hide messages from the effective history, behind the group's summary or marker."""

    ids: tuple[MessageId, ...]
    group: GroupId
    kind: HideKind
    reason: str = ""


class Replace(Record):
    """Replace the content of one part with ``text``.

    ``refers_to`` is the message that the new text refers to; None if it refers to none.
    """

    id: MessageId
    part: int
    text: str
    group: GroupId
    reason: str = ""
    refers_to: MessageId | None = None


class DropPart(Record):
    """Remove one part of a message, and with its last part the message's record."""

    id: MessageId
    part: int
    group: GroupId
    reason: str = ""


FieldName = Literal["call_id", "tool", "input", "media_type", "signature", "text"]


class SetField(Record):
    """Set a field of a part to ``value``; its content stays.

    The ``input`` of a call becomes the object whose JSON text ``value`` is. The ``text`` of a
    result is ``value`` once the halves of characters in it are replaced, and its media stay.
    ``medium`` is the index of a medium in a tool result, None for the part itself.
    """

    id: MessageId
    part: int
    name: FieldName
    value: str
    group: GroupId
    reason: str = ""
    medium: int | None = None


class CorrectRecord(Record):
    """Set values of a record, or remove it. No message changes.

    ``id`` is only the key under which the archive stores the edit, that of a message of the file.
    ``path`` leads to the record in its line, () when the record is the line. Without ``values``
    the record is removed.
    """

    id: MessageId
    line: int
    path: JsonPath
    values: tuple[FieldValue, ...]
    group: GroupId
    reason: str = ""


class Insert(Record):
    """Insert a summary or marker right before the message ``before``."""

    before: MessageId
    message: Synthetic


class RemoveUnsent(Record):
    """Remove records that the client never sends, by kind. No message changes.

    ``id`` is only the key under which the archive stores the edit: removed records are not messages
    and have no message id.
    """

    id: MessageId
    kinds: tuple[UnsentKind, ...]
    group: GroupId
    reason: str = ""


PartEdit = Replace | DropPart | SetField
RecordEdit = RemoveUnsent | CorrectRecord
"""Edits that change no message."""
Edit = Hide | PartEdit | Insert | RecordEdit


class Proposal(Record):
    """The edits that a stage proposes.

    ``notes`` are shown to the user. ``figures`` are counts, named as in the results of the systems
    that the stage reproduces.
    """

    stage: str
    edits: tuple[Edit, ...]
    notes: tuple[str, ...] = ()
    figures: Mapping[str, int] = field(default_factory=dict)


class SkippedStage(Record):
    """Why a stage proposes nothing; ``detail`` says which option would change that."""

    stage: str
    reason: str
    detail: str = ""


def groups_of(edits: Iterable[Edit]) -> tuple[GroupId, ...]:
    """Return the groups of edits, each once, in order of first appearance."""
    groups = (edit.message.group if isinstance(edit, Insert) else edit.group for edit in edits)
    return tuple(dict.fromkeys(groups))


def without_group(edits: Iterable[Edit], group: str) -> tuple[Edit, ...]:
    """Return the edits that do not belong to ``group``."""
    return tuple(edit for edit in edits if group not in groups_of([edit]))
