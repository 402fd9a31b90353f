"""The plan file: the fate of every message, to be read, edited by hand and applied.

Texts written by the compaction are stored verbatim, one array element per line, so that two plans
can be compared with diff.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar, get_args

from compactctl.commands.planning.fates import Fate, MessageFate
from compactctl.commands.planning.run_stages import AppliedEdits
from compactctl.errors import UsageError
from compactctl.model.edit import Hide, Replace
from compactctl.model.message import (
    GroupId,
    Message,
    MessageId,
    Role,
    Synthetic,
    SyntheticKind,
    TextPart,
)
from compactctl.model.operation import Digest
from compactctl.model.unsent import UnsentKind
from compactctl.model.validators import (
    MAX_INT64,
    Validator,
    any_list,
    build,
    dict_of,
    field_validators,
    list_of,
    object_of,
    one_of,
    optional,
    scalar,
    string,
    string_list,
)
from compactctl.pipeline.apply import NetEdits, latest_edit, net_edits
from compactctl.records import Record, replace
from compactctl.store.files.limits import READ_LIMITS
from compactctl.store.files.source import open_input
from compactctl.summaries.extract.items import one_line
from compactctl.tokens.meter import part_texts

T = TypeVar("T")

SCHEMA = "compactctl.plan/1"
_VERSION = re.compile(r"compactctl\.plan/(\d+)")
# Characters of each message that are shown.
_PREVIEW_CHARS = 80
_STANDING = ("summary", "marker")
_UNPRINTED = re.compile(r"[^\x20-\x7e\n]")


class PlannedText(Record):
    """The text that replaces one part; ``refers_to`` is the message that it points to, if any."""

    part: int
    text: str
    refers_to: MessageId | None = None


class PlannedMessage(Record):
    """A message and its fate, which the user may edit.

    Attributes:
        explained: the message's row, with its fate.
        says: the beginning of the message.
        group: the group that links a hidden message to the summary or marker that replaces it.
        texts: the new texts of a rewritten message. Like ``group``, they remain if the user edits
            the fate, and so show that it was edited.
        written: the inserted message, which the user may delete.
        sha256: the hash of a summary's text before editing.
    """

    explained: MessageFate
    says: str = ""
    group: GroupId | None = None
    texts: tuple[PlannedText, ...] = ()
    written: Synthetic | None = None
    sha256: str = ""

    @property
    def id(self) -> MessageId:
        """The id of the message."""
        return MessageId(self.explained.id)

    @property
    def fate(self) -> Fate:
        """The fate of the message."""
        return self.explained.fate


class PlanFile(Record):
    """The planned compaction of one transcript, identified by its digest.

    ``redo`` undoes the client's compactions first. ``target`` is the size to reach, None if there
    was none. ``unsent`` lists the kinds of never-sent records to remove. ``path`` and the tokens
    are for the reader only.
    """

    path: str
    format: str
    input: Digest
    redo: bool
    target: int | None
    tokens_before: int
    tokens_after: int
    messages: tuple[PlannedMessage, ...]
    unsent: tuple[UnsentKind, ...] = ()

    @property
    def edited_summaries(self) -> frozenset[GroupId]:
        """The groups of the summaries whose text was edited after the plan was made."""
        written = ((row, row.written) for row in self.messages)
        return frozenset(
            item.group
            for row, item in written
            if item and item.kind == "summary" and row.sha256 != _sha256(item.text)
        )


def planned_messages(
    applied: AppliedEdits, explained: Sequence[MessageFate]
) -> tuple[PlannedMessage, ...]:
    """Return a planned message for each row of ``explained``, in order."""
    before = {str(message.id): message for message in applied.before}
    after = {str(message.id): message for message in applied.after}
    folded = net_edits(applied.edits)
    written = {item.id: item for items in folded.inserted.values() for item in items}
    return tuple(
        _inserted_message(row, written[MessageId(row.id)], after[row.id])
        if row.fate == "written"
        else _hidden(row, before[row.id], applied.groups, _hide(row.id, folded, written))
        if row.fate == "hidden"
        else _planned(row, before[row.id], folded.replaced.get(row.id, {}))
        for row in explained
    )


def _planned(row: MessageFate, message: Message, edits: dict[int, Replace]) -> PlannedMessage:
    return PlannedMessage(
        explained=row if edits else replace(row, tokens_after=0),
        says=_beginning(message),
        group=latest_edit(edits).group if edits else None,
        texts=tuple(
            PlannedText(part=part, text=edit.text, refers_to=edit.refers_to)
            for part, edit in sorted(edits.items())
        ),
    )


def _hidden(
    row: MessageFate, message: Message, stages: Mapping[str, str], hide: Hide
) -> PlannedMessage:
    stage = stages.get(hide.group, "")
    explained = replace(row, stage=stage, reason=hide.reason)
    return replace(_planned(explained, message, {}), group=hide.group)


def _hide(message_id: str, folded: NetEdits, written: Mapping[MessageId, Synthetic]) -> Hide:
    """Return the edit whose summary or marker finally replaces a message.

    A summary may itself be hidden: m1 behind S1 (group 1), S1 behind S2 (group 2) gives group 2.
    """
    hide = folded.hidden[message_id]
    stand_in_id = next(item.id for item in written.values() if item.group == hide.group)
    return _hide(stand_in_id, folded, written) if stand_in_id in folded.hidden else hide


def _inserted_message(row: MessageFate, item: Synthetic, message: Message) -> PlannedMessage:
    text = _said(message) if item.kind in _STANDING else item.text
    return PlannedMessage(
        explained=replace(row, line=0, role=item.role, tools=(), tokens=0),
        group=item.group,
        written=replace(item, text=text),
        sha256=_sha256(text) if item.kind == "summary" else "",
    )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _said(message: Message) -> str:
    """Return the final text of a summary or marker, which a later stage may have rewritten."""
    return "\n".join(part.text for part in message.parts if isinstance(part, TextPart))


def _beginning(message: Message) -> str:
    from compactctl.summaries.by_model.secrets import mask_secrets

    texts = (texts for part in message.parts for texts in part_texts(part) if texts.strip())
    # Mask secrets before cutting: half of a secret may not be recognized as one.
    beginnings = (
        mask_secrets(text[: 30 * _PREVIEW_CHARS])[: 10 * _PREVIEW_CHARS]
        for text in islice(texts, 3)
    )
    return one_line(mask_secrets(" ".join(beginnings)), _PREVIEW_CHARS)


def plan_text(plan: PlanFile) -> str:
    """Return a plan as JSON: one line per message, and below it one line per line of its texts."""
    head = {
        "schema": SCHEMA,
        "path": plan.path,
        "format": plan.format,
        "input": {
            "sha256": plan.input.sha256,
            "bytes": plan.input.n_bytes,
            "lines": plan.input.n_lines,
        },
        "redo": plan.redo,
        "targetTokens": plan.target,
        "tokensBefore": plan.tokens_before,
        "tokensAfter": plan.tokens_after,
        **({"unsent": list(plan.unsent)} if plan.unsent else {}),
    }
    fields = ",\n".join(f'"{name}": {_json(value)}' for name, value in head.items())
    rows = ",\n".join(_row_text(row) for row in plan.messages)
    return f'{{\n{fields},\n"messages": [\n{rows}\n]\n}}\n'


def _row_text(row: PlannedMessage) -> str:
    """Return a row on one line, and its texts below, line by line."""
    head = _json(dict(_row_fields(row)))[:-1]
    if row.written is not None:
        return f'{head},\n "text": {_lines(row.written.text)}}}'
    texts = ",\n".join(
        f'  {_json(dict(_text_fields(text)))[:-1]}, "text": {_lines(text.text)}}}'
        for text in row.texts
    )
    return f'{head},\n "texts": [\n{texts}]}}' if texts else f"{head}}}"


def _lines(text: str) -> str:
    lines = ",\n".join(f"   {_json(line)}" for line in text.split("\n"))
    return f"[\n{lines}]"


def _row_fields(row: PlannedMessage) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a row except its texts; empty fields are left out."""
    from compactctl.summaries.by_model.secrets import mask_secrets

    explained = row.explained
    fields = {
        "line": explained.line or None,
        "fate": explained.fate,
        "role": explained.role,
        "tools": list(map(mask_secrets, explained.tools)),
        "tokens": explained.tokens if explained.line else None,
        "tokensAfter": explained.tokens_after if row.fate in {"rewritten", "written"} else None,
        "stage": explained.stage,
        "reason": explained.reason,
        "says": row.says,
        "id": row.id,
        "group": row.group,
        **(_written_fields(row.written) if row.written else {}),
        "sha256": row.sha256,
    }
    yield from ((name, value) for name, value in fields.items() if value not in (None, "", []))


def _text_fields(text: PlannedText) -> Iterator[tuple[str, Any]]:
    yield "part", text.part
    if text.refers_to:
        yield "refersTo", text.refers_to


def _written_fields(item: Synthetic) -> dict[str, Any]:
    return {
        "kind": item.kind,
        "through": item.through,
        "details": dict(item.details) or None,
        "tool": item.tool,
        "callId": item.call_id,
    }


def _json(value: object) -> str:
    """Return JSON with printable characters of all scripts unescaped, and all others escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return _UNPRINTED.sub(lambda match: _escape(match[0]), text)


def _escape(character: str) -> str:
    return character if character.isprintable() else json.dumps(character)[1:-1]


def read_plan(path: str) -> PlanFile:
    """Read a plan. Raises NoInputError, and UsageError for an invalid plan or another version."""
    data = open_input(path, READ_LIMITS).data
    try:
        document = json.loads(data)
        _check_version(document)
        del document["schema"]
        plan: PlanFile = _PLAN(document)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else error
        raise UsageError(
            f"{path}: not a valid plan: {why}; fix it, or make a new one with compactctl compact "
            "-n --plan-out"
        ) from error
    return plan


def _check_version(document: object) -> None:
    schema = document.get("schema") if isinstance(document, dict) else None
    match = _VERSION.fullmatch(schema) if isinstance(schema, str) else None
    if match is None:
        raise ValueError(f'it has no "schema": "{SCHEMA}"')
    if schema != SCHEMA:
        raise ValueError(f"it is of version {match[1]}, and this compactctl knows version 1")


def _join_lines(value: object) -> str:
    return "\n".join(string_list(value))


def _rows(value: object) -> tuple[PlannedMessage, ...]:
    """Read the messages; a ValueError says which one is wrong."""
    return tuple(_row_at(index, row) for index, row in enumerate(any_list(value), 1))


def _row_at(index: int, value: object) -> PlannedMessage:
    try:
        return _row(value)
    except ValueError as error:
        raise ValueError(f"entry {index:,}: {error}") from error


def _row(value: object) -> PlannedMessage:
    """Read a message: a flat object with the fields of several records."""
    values: dict[str, Any] = _ROW(value)
    fate, written, others = (
        {name: values[name] for name in validators if name in values}
        for validators in (_FATE, _WRITTEN, _OTHERS)
    )
    row = PlannedMessage(explained=build(MessageFate, {**_EMPTY, **fate}), **others)
    if (row.fate == "written") != bool(written):
        raise ValueError("fate: what is written has a kind and a text, and nothing else has")
    if not written:
        return row
    if row.group is None:
        raise ValueError("group is missing")
    head = {"id": row.id, "role": row.explained.role, "group": row.group}
    return replace(row, written=build(Synthetic, {**head, **written}))


# JSON keys that differ from the field's name.
_NAMES = {
    "target": "targetTokens",
    "tokens_before": "tokensBefore",
    "tokens_after": "tokensAfter",
    "refers_to": "refersTo",
    "call_id": "callId",
    "n_bytes": "bytes",
    "n_lines": "lines",
}
# Fields that are left out of a row if empty.
_EMPTY: Mapping[str, Any] = {"line": 0, "tools": (), "stage": "", "reason": ""}
_FATE = field_validators(MessageFate, role=one_of(*get_args(Role)))
_WRITTEN: Mapping[str, Validator] = {
    "kind": one_of(*get_args(SyntheticKind)),
    "through": optional(string),
    "details": dict_of(scalar),
    "tool": string,
    "call_id": string,
    "text": _join_lines,
}
_TEXT = object_of(PlannedText, field_validators(PlannedText, text=_join_lines), _NAMES)
_OTHERS: Mapping[str, Validator] = {
    "says": string,
    "group": string,
    "texts": list_of(_TEXT, max_items=MAX_INT64),
    "sha256": string,
}
_ROW = object_of(dict, {**_FATE, **_WRITTEN, **_OTHERS}, _NAMES)
_DIGEST = object_of(Digest, field_validators(Digest), _NAMES)
_PLAN = object_of(PlanFile, field_validators(PlanFile, input=_DIGEST, messages=_rows), _NAMES)
