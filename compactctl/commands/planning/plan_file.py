"""A compaction as a file: the fate of every message, to be read, edited by hand and carried out.

The texts that a compaction writes stand in it as they are, a line each, so that two such files can
be compared line by line.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from compactctl.store.files.limits import READ_LIMITS
from compactctl.store.files.source import open_input
from compactctl.summaries.by_model.secrets import mask_secrets
from compactctl.summaries.extract.items import one_line
from compactctl.tokens.meter import part_texts

T = TypeVar("T")

SCHEMA = "compactctl.plan/1"
_VERSION = re.compile(r"compactctl\.plan/(\d+)")
# How much of a message is shown, in characters.
_BEGINNING = 80
_STANDING = ("summary", "marker")
_UNPRINTED = re.compile(r"[^\x20-\x7e\n]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedText:
    """The text that takes the place of one part; ``refers_to`` is a message that it points to."""

    part: int
    text: str
    refers_to: MessageId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedMessage:
    """A message and its fate; who edits a plan changes that, or takes out what is ``written``.

    ``says`` is how it begins. ``group`` joins what is hidden to what stands for it, and ``texts``
    are those of a message that is rewritten. Both stay behind where the fate is edited, and tell
    that it was. ``sha256`` is that of a summary's text before anybody edited it.
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
        """What becomes of it."""
        return self.explained.fate


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFile:
    """What is to become of one transcript, known by its digest.

    ``redo`` says that what the client compacted is undone first, ``target`` is the size that was
    to be reached, None where there was none, and ``unsent`` is what is taken out of the file that
    is never sent. ``path`` and the tokens are there to be read.
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
        """The groups of the summaries whose text is not the one that the plan was made with."""
        written = ((row, row.written) for row in self.messages)
        return frozenset(
            item.group
            for row, item in written
            if item and item.kind == "summary" and row.sha256 != _sha256(item.text)
        )


def planned_messages(
    applied: AppliedEdits, explained: Sequence[MessageFate]
) -> tuple[PlannedMessage, ...]:
    """Return all messages with their fates, in order; ``explained`` has a row for each."""
    before = {str(message.id): message for message in applied.before}
    after = {str(message.id): message for message in applied.after}
    folded = net_edits(applied.edits)
    written = {item.id: item for items in folded.inserted.values() for item in items}
    return tuple(
        _written(row, written[MessageId(row.id)], after[row.id])
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


def _hide(name: str, folded: NetEdits, written: Mapping[MessageId, Synthetic]) -> Hide:
    """Return the edit whose summary or marker is left for a message, however often it was hidden.

    What stands for it may have been hidden itself, behind another one.
    """
    hide = folded.hidden[name]
    own = next(item.id for item in written.values() if item.group == hide.group)
    return _hide(own, folded, written) if own in folded.hidden else hide


def _written(row: MessageFate, item: Synthetic, message: Message) -> PlannedMessage:
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
    """Return the text of a summary or marker, which a later stage may have rewritten."""
    return "\n".join(part.text for part in message.parts if isinstance(part, TextPart))


def _beginning(message: Message) -> str:
    said = (said for part in message.parts for said in part_texts(part) if said.strip())
    # A secret is masked as a whole before it may be cut: half of one may look like none.
    begun = (mask_secrets(each[: 30 * _BEGINNING])[: 10 * _BEGINNING] for each in islice(said, 3))
    return one_line(mask_secrets(" ".join(begun)), _BEGINNING)


def plan_text(plan: PlanFile) -> str:
    """Return a plan as JSON: a message per line, but for those with texts."""
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
    """Return a row on one line, with its texts below it line by line."""
    head = _json(dict(_row_fields(row)))[:-1]
    if row.written is not None:
        return f'{head},\n "text": {_lines(row.written.text)}}}'
    texts = ",\n".join(
        f'  {_json(dict(_text_fields(each)))[:-1]}, "text": {_lines(each.text)}}}'
        for each in row.texts
    )
    return f'{head},\n "texts": [\n{texts}]}}' if texts else f"{head}}}"


def _lines(said: str) -> str:
    lines = ",\n".join(f"   {_json(line)}" for line in said.split("\n"))
    return f"[\n{lines}]"


def _row_fields(row: PlannedMessage) -> Iterator[tuple[str, Any]]:
    """Yield what a row says beside its texts, without what is empty."""
    explained = row.explained
    told = {
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
    yield from ((name, value) for name, value in told.items() if value not in (None, "", []))


def _text_fields(each: PlannedText) -> Iterator[tuple[str, Any]]:
    yield "part", each.part
    if each.refers_to:
        yield "refersTo", each.refers_to


def _written_fields(item: Synthetic) -> dict[str, Any]:
    return {
        "kind": item.kind,
        "through": item.through,
        "details": dict(item.details) or None,
        "tool": item.tool,
        "callId": item.call_id,
    }


def _json(value: object) -> str:
    """Return JSON in which letters of all languages stand as they are, and nothing invisible."""
    made = json.dumps(value, ensure_ascii=False)
    return _UNPRINTED.sub(lambda found: _shown(found[0]), made)


def _shown(character: str) -> str:
    return character if character.isprintable() else json.dumps(character)[1:-1]


def read_plan(path: str) -> PlanFile:
    """Read a plan. Raises NoInputError, and UsageError for what is not a plan of this version."""
    data = open_input(path, READ_LIMITS).data
    try:
        document = json.loads(data)
        _check_version(document)
        del document["schema"]
        plan: PlanFile = _PLAN(document)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else error
        raise UsageError(
            f"{path}: cannot be carried out as a plan: {why}; mend it, or make it anew with "
            "compactctl compact -n --plan-out"
        ) from error
    return plan


def _check_version(document: object) -> None:
    schema = document.get("schema") if isinstance(document, dict) else None
    found = _VERSION.fullmatch(schema) if isinstance(schema, str) else None
    if found is None:
        raise ValueError(f'it has no "schema": "{SCHEMA}"')
    if schema != SCHEMA:
        raise ValueError(f"it is of version {found[1]}, and this compactctl knows version 1")


def _joined(value: object) -> str:
    return "\n".join(string_list(value))


def _rows(value: object) -> tuple[PlannedMessage, ...]:
    """Read the messages; a ValueError says which one is wrong."""
    return tuple(_row_at(number, row) for number, row in enumerate(any_list(value), 1))


def _row_at(number: int, value: object) -> PlannedMessage:
    try:
        return _row(value)
    except ValueError as error:
        raise ValueError(f"entry {number:,}: {error}") from error


def _row(value: object) -> PlannedMessage:
    """Read a message: its fields stand side by side, whichever record they are of."""
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


# What fields are called in a document, where that is something else.
_NAMES = {
    "target": "targetTokens",
    "tokens_before": "tokensBefore",
    "tokens_after": "tokensAfter",
    "refers_to": "refersTo",
    "call_id": "callId",
    "n_bytes": "bytes",
    "n_lines": "lines",
}
# What is left out of a row where it is empty.
_EMPTY: Mapping[str, Any] = {"line": 0, "tools": (), "stage": "", "reason": ""}
_FATE = field_validators(MessageFate, role=one_of(*get_args(Role)))
_WRITTEN: Mapping[str, Validator] = {
    "kind": one_of(*get_args(SyntheticKind)),
    "through": optional(string),
    "details": dict_of(scalar),
    "tool": string,
    "call_id": string,
    "text": _joined,
}
_TEXT = object_of(PlannedText, field_validators(PlannedText, text=_joined), _NAMES)
_OTHERS: Mapping[str, Validator] = {
    "says": string,
    "group": string,
    "texts": list_of(_TEXT, most=MAX_INT64),
    "sha256": string,
}
_ROW = object_of(dict, {**_FATE, **_WRITTEN, **_OTHERS}, _NAMES)
_DIGEST = object_of(Digest, field_validators(Digest), _NAMES)
_PLAN = object_of(PlanFile, field_validators(PlanFile, input=_DIGEST, messages=_rows), _NAMES)
