"""The plan file: the fate of every message, to be read, edited by hand and applied.

Texts written by the compaction are stored verbatim, one array element per line, so that two plans
can be compared with diff.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import UNSET, UnsetType, to_builtins

from compactctl.commands.planning.fates import Fate, MessageFate
from compactctl.commands.planning.run_stages import AppliedEdits
from compactctl.errors import UsageError
from compactctl.history.apply import NetEdits, PartField, latest_edit, net_edits
from compactctl.model.bounds import Count, Scalar
from compactctl.model.edit import Hide, PartEdit, Replace
from compactctl.model.message import (
    CallId,
    GroupId,
    Message,
    MessageId,
    Role,
    Synthetic,
    SyntheticKind,
    TextPart,
)
from compactctl.model.operation import Digest
from compactctl.model.unsent import UnsentKind, UnsentKinds
from compactctl.model.validation import validated
from compactctl.records import Record, field, replace
from compactctl.store.files.limits import READ_LIMITS
from compactctl.store.files.source import open_input
from compactctl.summaries.extract.items import clip_to_line
from compactctl.tokens.meter import part_texts

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
    was none. ``unsent`` lists the kinds of never-sent records to remove. ``repair`` says that what
    is refused is repaired after all else. ``path`` and the tokens are for the reader only.
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
    repair: bool = False

    @property
    def edited_summaries(self) -> frozenset[GroupId]:
        """The groups of the summaries whose text was edited after the plan was made."""
        written = ((row, row.written) for row in self.messages)
        return frozenset(
            item.group
            for row, item in written
            if item and item.kind == "summary" and row.sha256 != _sha256(item.text)
        )


class _DigestObject(Record):
    sha256: str
    bytes: Count
    lines: Count


class _TextObject(Record, rename="camel", omit_defaults=True):
    part: Count
    refers_to: MessageId | None = None
    text: tuple[str, ...]


class _RowObject(Record, rename="camel", omit_defaults=True):
    """A message in the file: the fields of several records, in their order there."""

    line: Count = 0
    fate: Fate
    role: Role
    tools: tuple[str, ...] = ()
    tokens: Count | UnsetType = UNSET
    tokens_after: Count | UnsetType = UNSET
    stage: str = ""
    reason: str = ""
    says: str = ""
    id: MessageId
    group: GroupId | UnsetType = UNSET
    kind: SyntheticKind | UnsetType = UNSET
    through: MessageId | None = None
    details: Mapping[str, Scalar] = field(default_factory=dict)
    tool: str = ""
    call_id: CallId = CallId("")
    sha256: str = ""
    text: tuple[str, ...] | UnsetType = UNSET
    texts: tuple[_TextObject, ...] = ()


class _PlanDocument(Record, rename="camel", omit_defaults=True):
    """The file, with its fields in their order there."""

    schema: str
    path: str
    format: str
    input: _DigestObject
    redo: bool
    target_tokens: Count | None
    tokens_before: Count
    tokens_after: Count
    unsent: UnsentKinds = ()
    repair: bool = False
    messages: tuple[_RowObject, ...]


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


def _planned(
    row: MessageFate, message: Message, edits: Mapping[PartField, PartEdit]
) -> PlannedMessage:
    return PlannedMessage(
        explained=row if edits else replace(row, tokens_after=0),
        says=_beginning(message),
        group=latest_edit(edits).group if edits else None,
        texts=tuple(
            PlannedText(part=edit.part, text=edit.text, refers_to=edit.refers_to)
            for _, edit in sorted(edits.items())
            if isinstance(edit, Replace)
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
    from compactctl.secrets.mask import mask_secrets

    texts = (texts for part in message.parts for texts in part_texts(part) if texts.strip())
    # Mask secrets before cutting: half of a secret may not be recognized as one.
    beginnings = (
        mask_secrets(text[: 30 * _PREVIEW_CHARS])[: 10 * _PREVIEW_CHARS]
        for text in islice(texts, 3)
    )
    return clip_to_line(mask_secrets(" ".join(beginnings)), _PREVIEW_CHARS)


def plan_text(plan: PlanFile) -> str:
    """Return a plan as JSON: one line per message, and below it one line per line of its texts."""
    document = to_builtins(_document(plan))
    rows = ",\n".join(map(_row_text, document.pop("messages")))
    fields = ",\n".join(f'"{name}": {_json(value)}' for name, value in document.items())
    return f'{{\n{fields},\n"messages": [\n{rows}\n]\n}}\n'


def _row_text(row: dict[str, Any]) -> str:
    """Return a row on one line, and its texts below, line by line."""
    lines, texts = row.pop("text", None), row.pop("texts", [])
    head = _json(row)[:-1]
    if lines is not None:
        return f'{head},\n "text": {_list(lines)}}}'
    below = ",\n".join(f"  {_text(text)}" for text in texts)
    return f'{head},\n "texts": [\n{below}]}}' if below else f"{head}}}"


def _text(text: dict[str, Any]) -> str:
    lines = text.pop("text")
    return f'{_json(text)[:-1]}, "text": {_list(lines)}}}'


def _list(lines: Iterable[str]) -> str:
    rows = ",\n".join(f"   {_json(line)}" for line in lines)
    return f"[\n{rows}]"


def _document(plan: PlanFile) -> _PlanDocument:
    digest = plan.input
    return _PlanDocument(
        schema=SCHEMA,
        path=plan.path,
        format=plan.format,
        input=_DigestObject(sha256=digest.sha256, bytes=digest.n_bytes, lines=digest.n_lines),
        redo=plan.redo,
        target_tokens=plan.target,
        tokens_before=plan.tokens_before,
        tokens_after=plan.tokens_after,
        unsent=plan.unsent,
        repair=plan.repair,
        messages=tuple(map(_row, plan.messages)),
    )


def _row(row: PlannedMessage) -> _RowObject:
    from compactctl.secrets.mask import mask_secrets

    explained, item = row.explained, row.written
    has_new_size = row.fate in {"rewritten", "written"}
    plain = _RowObject(
        line=explained.line,
        fate=explained.fate,
        role=explained.role,
        tools=tuple(map(mask_secrets, explained.tools)),
        tokens=explained.tokens if explained.line else UNSET,
        tokens_after=explained.tokens_after if has_new_size else UNSET,
        stage=explained.stage,
        reason=explained.reason,
        says=row.says,
        id=row.id,
        group=row.group or UNSET,
        sha256=row.sha256,
        texts=tuple(
            _TextObject(part=text.part, refers_to=text.refers_to, text=tuple(text.text.split("\n")))
            for text in row.texts
        ),
    )
    if item is None:
        return plain
    return replace(
        plain,
        kind=item.kind,
        through=item.through,
        details=item.details,
        tool=item.tool,
        call_id=item.call_id,
        text=tuple(item.text.split("\n")),
    )


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
        return _plan(validated(document, _PlanDocument))
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else error
        raise UsageError(
            f"{path}: not a valid plan: {why}; fix it, or make a new one with compactctl compact "
            "-n --plan-out"
        ) from error


def _check_version(document: object) -> None:
    schema = document.get("schema") if isinstance(document, dict) else None
    match = _VERSION.fullmatch(schema) if isinstance(schema, str) else None
    if match is None:
        raise ValueError(f'it has no "schema": "{SCHEMA}"')
    if schema != SCHEMA:
        raise ValueError(f"it is of version {match[1]}, and this compactctl knows version 1")


def _plan(document: _PlanDocument) -> PlanFile:
    digest = document.input
    return PlanFile(
        path=document.path,
        format=document.format,
        input=Digest(sha256=digest.sha256, n_bytes=digest.bytes, n_lines=digest.lines),
        redo=document.redo,
        target=document.target_tokens,
        tokens_before=document.tokens_before,
        tokens_after=document.tokens_after,
        messages=tuple(_message(index, row) for index, row in enumerate(document.messages, 1)),
        unsent=document.unsent,
        repair=document.repair,
    )


def _message(number: int, row: _RowObject) -> PlannedMessage:
    return PlannedMessage(
        explained=MessageFate(
            line=row.line,
            id=row.id,
            role=row.role,
            tools=row.tools,
            tokens=row.tokens or 0,
            tokens_after=row.tokens_after or 0,
            fate=row.fate,
            stage=row.stage,
            reason=row.reason,
        ),
        says=row.says,
        group=row.group or None,
        texts=tuple(
            PlannedText(part=text.part, text="\n".join(text.text), refers_to=text.refers_to)
            for text in row.texts
        ),
        written=_written(f"messages: entry {number:,}: ", row),
        sha256=row.sha256,
    )


def _written(where: str, row: _RowObject) -> Synthetic | None:
    """Return the message that is inserted, None for another row. Raises ValueError."""
    has_text = row.kind is not UNSET or row.text is not UNSET
    has_more = bool(row.through or row.details or row.tool or row.call_id)
    if (row.fate == "written") != (has_text or has_more):
        raise ValueError(
            f"{where}fate: what is written has a kind and a text, and nothing else has"
        )
    if row.fate != "written":
        return None
    if row.kind is UNSET or row.text is UNSET or row.group is UNSET:
        missing = next(name for name in ("kind", "text", "group") if getattr(row, name) is UNSET)
        raise ValueError(f"{where}{missing} is missing")
    return Synthetic(
        id=row.id,
        kind=row.kind,
        role=row.role,
        text="\n".join(row.text),
        group=row.group,
        through=row.through,
        details=row.details,
        tool=row.tool,
        call_id=row.call_id,
    )
