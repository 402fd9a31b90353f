"""Encode edits as JSON for the archive, so that a single group can be undone later."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta, to_builtins

from compactctl.errors import ArchiveError
from compactctl.model.bounds import Count
from compactctl.model.edit import (
    CorrectRecord,
    DropPart,
    Edit,
    FieldName,
    Hide,
    HideKind,
    Insert,
    RemoveUnsent,
    Replace,
    SetField,
    groups_of,
)
from compactctl.model.message import GroupId, JsonPath, MessageId, Synthetic
from compactctl.model.transcript import FieldValue
from compactctl.model.unsent import UnsentKinds
from compactctl.model.validation import validated
from compactctl.records import Record

MAX_MESSAGE_EDITS = 100_000
"""Limit for the edits of one message; real ones have at most one per part and stage."""
_REPLACEMENT = ("id", "part", "text", "group", "reason", "refers_to")
_SYNTHETIC = ("id", "kind", "role", "text", "group", "through", "details", "tool", "call_id")
_DROP = ("id", "part", "group", "reason")
_FIELD = ("id", "part", "name", "value", "group", "reason", "medium")
_CORRECTION = ("id", "line", "path", "values", "group", "reason")
_REMOVAL = ("id", "kinds", "group", "reason")
"""The fields of each kind of edit, in the order that the ids of operations depend on."""


class _Row(Record, tag_field="edit"):
    """A row of an edit: the number and the stage of the edit, and the size of its message."""

    n: Count
    stage: str
    tokens: Count


class _HideRow(_Row, tag="hide"):
    id: MessageId
    group: GroupId
    kind: HideKind
    reason: str


class _ReplaceRow(_Row, tag="replace"):
    id: MessageId
    part: Count
    text: str
    group: GroupId
    reason: str
    refers_to: MessageId | None


class _DropRow(_Row, tag="drop"):
    id: MessageId
    part: Count
    group: GroupId
    reason: str


class _FieldRow(_Row, tag="set"):
    id: MessageId
    part: Count
    name: FieldName
    value: str
    group: GroupId
    reason: str
    medium: Count | None


class _CorrectRow(_Row, tag="correct"):
    id: MessageId
    line: Count
    path: JsonPath
    values: tuple[FieldValue, ...]
    group: GroupId
    reason: str


class _InsertRow(_Row, tag="insert"):
    before: MessageId
    message: Synthetic


class _UnloadRow(_Row, tag="unload"):
    id: MessageId
    kinds: UnsentKinds
    group: GroupId
    reason: str


_AnyRow = _HideRow | _ReplaceRow | _DropRow | _FieldRow | _CorrectRow | _InsertRow | _UnloadRow
_MessageRows = Annotated[tuple[_AnyRow, ...], Meta(max_length=MAX_MESSAGE_EDITS)]


class ArchivedEdits(Record):
    """The edits of an archived operation.

    Attributes:
        edits: the edits, in order.
        groups: the stage of each group, by group.
        sizes: by group, the messages that it hides or rewrites, each with its size in tokens before
            the edit; empty for a group that changes no message.
    """

    edits: tuple[Edit, ...]
    groups: Mapping[str, str]
    sizes: Mapping[str, Mapping[MessageId, int]]


def encode_edits(
    edits: Sequence[Edit], stages: Mapping[str, str], tokens: Mapping[MessageId, int]
) -> dict[MessageId, list[dict[str, Any]]]:
    """Return the edits as JSON objects, by the original message whose archive row stores them.

    A ``Hide`` becomes one object per message. An edit of a synthetic message is stored with the
    original message that it was inserted before. ``n`` is the edit's index in ``edits``::

        Hide(ids=("a", "b"), …)  ->  {"a": [{"n": 0, "edit": "hide", "id": "a", …}],
                                     "b": [{"n": 0, "edit": "hide", "id": "b", …}]}

    Args:
        edits: the edits, in order.
        stages: the stage of each group, by group.
        tokens: the size of each message before the edits.
    """
    rows: dict[MessageId, list[dict[str, Any]]] = defaultdict(list)
    anchors: dict[MessageId, MessageId] = {}
    for number, edit in enumerate(edits):
        if isinstance(edit, Insert):
            anchors[edit.message.id] = anchors.get(edit.before, edit.before)
        shared = {"n": number, "stage": stages.get(groups_of([edit])[0], "")}
        for message_id, fields in _edit_rows(edit):
            row = shared | {"tokens": tokens.get(message_id, 0)} | fields
            rows[anchors.get(message_id, message_id)].append(row)
    return dict(rows)


def _edit_rows(edit: Edit) -> list[tuple[MessageId, dict[str, Any]]]:
    """Return the rows of an edit, each with the message that it hides, changes or precedes."""
    match edit:
        case Hide():
            shared = {"group": edit.group, "kind": edit.kind, "reason": edit.reason}
            return [
                (message_id, {"edit": "hide", "id": message_id, **shared})
                for message_id in edit.ids
            ]
        case Replace():
            return [(edit.id, {"edit": "replace", **_values(edit, _REPLACEMENT)})]
        case DropPart():
            return [(edit.id, {"edit": "drop", **_values(edit, _DROP)})]
        case SetField():
            return [(edit.id, {"edit": "set", **_values(edit, _FIELD)})]
        case CorrectRecord():
            return [(edit.id, {"edit": "correct", **to_builtins(_values(edit, _CORRECTION))})]
        case Insert():
            message = _values(edit.message, _SYNTHETIC)
            return [(edit.before, {"edit": "insert", "before": edit.before, "message": message})]
        case RemoveUnsent():
            return [(edit.id, {"edit": "unload", **_values(edit, _REMOVAL)})]


def read_edits(texts: Iterable[str | None], where: object = "archive") -> ArchivedEdits:
    """Parse the edits in the rows of an archive; a row without edits has None instead of a text.

    Raises:
        ArchiveError: a text was not written by ``dump_edits``; the message begins with ``where``.
    """
    rows = _parse_rows(texts, where)
    rows_by_number: dict[int, list[_AnyRow]] = defaultdict(list)
    sizes: dict[str, dict[MessageId, int]] = defaultdict(dict)
    for row in rows:
        rows_by_number[row.n].append(row)
        if isinstance(row, _HideRow | _ReplaceRow | _DropRow | _FieldRow):
            sizes[row.group][row.id] = row.tokens
        elif isinstance(row, _UnloadRow | _CorrectRow):
            sizes.setdefault(row.group, {})
    return ArchivedEdits(
        edits=tuple(_decode_edit(rows_by_number[n]) for n in sorted(rows_by_number)),
        groups={_group_of(row): row.stage for row in rows},
        sizes=dict(sizes),
    )


def _group_of(row: _AnyRow) -> GroupId:
    return row.message.group if isinstance(row, _InsertRow) else row.group


def _decode_edit(rows: list[_AnyRow]) -> Edit:
    match rows[0]:
        case _HideRow() as row:
            ids = tuple(row.id for row in rows if isinstance(row, _HideRow))
            return Hide(ids=ids, group=row.group, kind=row.kind, reason=row.reason)
        case _InsertRow() as row:
            return Insert(before=row.before, message=row.message)
        case _UnloadRow() as row:
            return RemoveUnsent(**_values(row, _REMOVAL))
        case _DropRow() as row:
            return DropPart(**_values(row, _DROP))
        case _FieldRow() as row:
            return SetField(**_values(row, _FIELD))
        case _CorrectRow() as row:
            return CorrectRecord(**_values(row, _CORRECTION))
        case _ReplaceRow() as row:
            return Replace(**_values(row, _REPLACEMENT))


def _values(record: Record, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


def canonical_text(edits: Iterable[Edit]) -> str:
    """Return a text that only equal edits share; operation ids are derived from it."""
    # One row at a time: all rows together take more memory as objects than as text.
    rows = (dump_edits([row])[1:-1] for edit in edits for _, row in _edit_rows(edit))
    return f"[{','.join(rows)}]"


def _parse_rows(texts: Iterable[str | None], where: object) -> list[_AnyRow]:
    rows: list[_AnyRow] = []
    try:
        for text in texts:
            if text:
                rows += validated(json.loads(text), _MessageRows)
        _check_numbers(rows)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise ArchiveError(
            f"{where}: its edits cannot be read ({reason}); restore it from a backup"
        ) from error
    return rows


def dump_edits(rows: Sequence[dict[str, Any]]) -> str:
    """Return the JSON that the archive stores for one message's edits."""
    return json.dumps(rows, separators=(",", ":"))


def _check_numbers(rows: Iterable[_AnyRow]) -> None:
    """Raise ValueError if two edits share a number, as only the rows of one ``Hide`` may."""
    hides: dict[int, tuple[str, str, str] | None] = {}
    for row in rows:
        hide = (row.group, row.kind, row.reason) if isinstance(row, _HideRow) else None
        if row.n in hides and (hide is None or hide != hides[row.n]):
            raise ValueError(f"two edits are number {row.n}")
        hides[row.n] = hide
