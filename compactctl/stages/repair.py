"""Repair: remove, complete or correct what the provider or the client refuses."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal

from compactctl.history.conversation_view import ConversationView, Protection
from compactctl.history.faults import IMAGE_TYPES, Fault, find_faults
from compactctl.history.pair_faults import PAIR_RULES, unpaired_halves
from compactctl.history.pairs import PartIndex, tool_pairs, unpaired_parts
from compactctl.history.protection import hideable
from compactctl.history.stand_ins import newest_id
from compactctl.model.edit import (
    CorrectRecord,
    DropPart,
    Edit,
    FieldName,
    Insert,
    Proposal,
    Replace,
    SetField,
    SkippedStage,
)
from compactctl.model.message import (
    CallId,
    GroupId,
    MediaPart,
    Message,
    MessageId,
    OmittedPart,
    Part,
    ReasoningPart,
    Synthetic,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    block_path,
    is_replaceable,
    media_of,
    media_text,
)
from compactctl.model.operation import neurolink_schema
from compactctl.model.transcript import FieldValue
from compactctl.records import Record, replace
from compactctl.stages.support.stage import Stage, group_id, option
from compactctl.stages.support.truncation import Marker, hide_behind_marker
from compactctl.tokens.meter import Meter

NAME = "repair"
TOOL = "{tool}"
# OpenAI and Anthropic refuse a call that names no tool.
UNKNOWN_TOOL = "unknown"
RepairPolicy = Literal["drop", "synth"]
_PairHalf = ToolCallPart | ToolResultPart
Orphans = Mapping[PartIndex, _PairHalf]
_NOT_IN_ID = re.compile(r"[^a-zA-Z0-9_-]")
# The shortest limit of ids, and what is left of a longer one before its digest.
_MAX_ID, _DIGEST_CHARS = 40, 12
# Google's placeholder for calls that have no signature, which its API accepts.
_NO_SIGNATURE = "skip_thought_signature_validator"
_EMPTY_RESULT = "[empty]"
# Rules whose results go where their call wants them.
_MOVED = frozenset({"result-not-next", "result-first", "result-in-user", "result-with-text"})
_DROPPED = frozenset({
    "text-empty", "result-once", "thinking-signature", "reasoning-alone", "reasoning-encrypted",
    "reasoning-content", "item-value",
})  # fmt: skip
# Rules on fields of records; one that is never sent is left out instead.
_LEFT_OUT = frozenset({"field-value", "field-required"})
_NEW_IDS = frozenset({"call-id-unique", "call-id-pattern", "call-id-length"})
_MEDIA = frozenset({
    "image-bytes", "image-pixels", "image-pixels-many", "image-count", "image-readable",
    "image-media-type", "pdf-pages", "document-bytes", "request-bytes",
})  # fmt: skip


class RepairOptions(Record):
    """How to repair; the texts are those of NeuroLink."""

    policy: RepairPolicy = option(
        "drop",
        '"drop" removes unpaired calls and results; "synth" writes the missing half, in the '
        "formats neurolink, openai-chat, anthropic-messages, spring-ai and agent-code.",
    )
    marker: str = option(
        "[Tool calls and results without their other half were removed: {count}]",
        "Text that replaces the hidden messages; ``{count}`` is their number.",
    )
    result_text: str = option(
        "[Tool result unavailable - conversation was compacted]",
        'With "synth", the text of a missing result.',
    )
    call_text: str = option(
        "[Tool call for {tool} - conversation was compacted]",
        'With "synth", the text of a missing call; ``{tool}`` is the name of the tool.',
    )


# What stands for messages without content, and for the beginning of a conversation.
_EMPTY_MARKER = "[Messages without content were removed: {count}]"
# Why half of a pair is removed.
_HALF = "its other half is missing"
BEGINNING = "[The beginning of this conversation is not in the transcript]"


def propose(
    view: ConversationView,
    meter: Meter,  # noqa: ARG001 - a broken conversation is repaired whatever its size
    options: RepairOptions,
) -> Proposal | SkippedStage:
    """Propose edits after which the next request is accepted.

    Protected messages are repaired too: sessions break at their end. Calls of the newest response
    may still get their results, so they are not touched.
    """
    # As stored: what the client would fix by itself is repaired too.
    view = replace(view, messages=view.stored or view.messages, protection=Protection())
    faults = find_faults(view.messages, (), view.refused, view.recipient)
    halves = unpaired_halves(view.messages)
    others = [fault for fault in faults if fault.rule.id not in PAIR_RULES]
    if not halves and not others:
        reason = "every tool call has its result and every result its call"
        return SkippedStage(stage=NAME, reason=reason)
    pairs = _POLICIES[options.policy](view, options, halves) if halves else None
    repair = _Repair(view, options, others)
    if not repair.edits:
        return pairs or _cannot_be_repaired(others)
    if isinstance(pairs, Proposal):
        return replace(
            pairs, edits=(*pairs.edits, *repair.edits), notes=(*pairs.notes, *repair.notes)
        )
    return Proposal(stage=NAME, edits=tuple(repair.edits), notes=repair.notes, figures=_figures(()))


def _cannot_be_repaired(faults: Sequence[Fault]) -> SkippedStage:
    advice = next((fault.rule.advice for fault in faults if fault.rule.advice), "")
    reason = f"only the user can fix it: {faults[0].text} (line {faults[0].line + 1:,})"
    return SkippedStage(stage=NAME, reason=reason, detail=advice)


class _Repair:
    """The edits that repair the faults of a conversation, apart from missing halves of pairs."""

    def __init__(
        self, view: ConversationView, options: RepairOptions, faults: Sequence[Fault]
    ) -> None:
        self.view, self.messages = view, view.messages
        self.faults = faults
        places = (f"{fault.rule.id} {fault.message} {fault.part} {fault.line}" for fault in faults)
        self.group = group_id(NAME, options, places)
        self.indices = {message.id: index for index, message in enumerate(self.messages)}
        self.pairs = tool_pairs(self.messages)
        self.results: dict[PartIndex, list[PartIndex]] = {}
        for result, call in self.pairs.items():
            self.results.setdefault(call, []).append(result)
        self.repaired: Counter[str] = Counter()
        self.edits: list[Edit] = []
        self._make_edits(options)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done, with the number of places."""
        return tuple(f"{repaired}: {count:,}" for repaired, count in self.repaired.items())

    def _make_edits(self, options: RepairOptions) -> None:
        by_part: dict[tuple[MessageId, int], list[Fault]] = {}
        empty: list[MessageId] = []
        used_ids = {call.call_id for message in self.messages for call in message.calls}
        for fault in self.faults:
            if fault.record is not None:
                self._add(fault, self._correction(fault))
            elif fault.rule.id in _MEDIA and fault.message is not None and fault.part is not None:
                by_part.setdefault((fault.message, fault.part), []).append(fault)
            elif fault.rule.id == "message-empty" and fault.message is not None:
                empty.append(fault.message)
            elif fault.message is not None:
                index = self.indices[fault.message]
                if self.messages[index].locks.immutable_reason is None:
                    self._add(fault, self._edits_of(fault, index, used_ids))
        for media_faults in by_part.values():
            self._add(media_faults[0], self._without_media(media_faults))
        ids = hideable(self.view, empty)
        if ids:
            marker = Marker(
                stage=NAME,
                prefix="repair",
                template=_EMPTY_MARKER,
                reason="it has no content",
            )
            self.edits += hide_behind_marker(self.view, marker, ids, options, ()).edits
            self.repaired["message without content left out"] += len(ids)

    def _add(self, fault: Fault, edits: Iterable[Edit]) -> None:
        new = tuple(edits)
        self.edits += new
        if new:
            self.repaired[fault.rule.repaired] += 1

    def _correction(self, fault: Fault) -> Iterator[Edit]:
        record = fault.record
        is_fixable = record is not None and (record.values or not record.is_sent)
        is_useless = record is not None and not record.is_sent and record.rule in _LEFT_OUT
        if record is not None and is_fixable and self.messages:
            yield CorrectRecord(
                id=self.messages[0].id,
                line=record.line,
                path=record.path,
                values=() if is_useless else record.values,
                group=self.group,
                reason=record.reason,
            )

    def _edits_of(self, fault: Fault, index: int, used_ids: set[CallId]) -> Iterator[Edit]:
        """Yield the edits for a fault in the message at ``index``."""
        message, rule = self.messages[index], fault.rule.id
        if rule == "first-user":
            yield Insert(before=message.id, message=self._beginning(message))
        elif rule == "cache-control-count":
            yield from self._without_marks(fault)
        elif fault.part is None:
            if rule in _DROPPED:
                yield from self._dropped(message, range(len(message.parts)), fault)
        elif rule in _MOVED:
            yield from self._moved(PartIndex(index, fault.part), fault)
        elif rule in _NEW_IDS:
            yield from self._with_new_id(PartIndex(index, fault.part), fault, used_ids)
        elif rule in _DROPPED:
            yield from self._dropped(message, (fault.part,), fault)
        else:
            yield from self._rewritten(message, fault.part, fault)

    def _rewritten(self, message: Message, number: int, fault: Fault) -> Iterator[Edit]:
        part = message.parts[number]
        match fault.rule.id, part:
            case "call-name-pattern", ToolCallPart():
                name = _NOT_IN_ID.sub("_", part.tool)[: fault.limit or None] or UNKNOWN_TOOL
                yield self._set(message.id, number, "tool", name, fault)
            case "call-input-object", ToolCallPart():
                value = {"input": part.arguments}
                text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
                # OpenAI's chat has the arguments as text.
                if self.view.recipient.provider == "openai":
                    yield self._replace(message, number, text, fault)
                else:
                    yield self._set(message.id, number, "input", text, fault)
            case "thought-signature", ToolCallPart():
                yield self._set(message.id, number, "signature", _NO_SIGNATURE, fault)
            case "result-empty", ToolResultPart():
                yield self._replace(message, number, _EMPTY_RESULT, fault)
            case "trailing-space", TextPart():
                text = part.text.rstrip()
                if text:
                    yield self._replace(message, number, text, fault)
                else:
                    yield from self._dropped(message, (number,), fault)
            case "surrogate", _:
                yield from self._without_surrogates(message, number, fault)
            case _:
                pass

    def _without_surrogates(self, message: Message, number: int, fault: Fault) -> Iterator[Edit]:
        part = message.parts[number]
        if is_replaceable(part):
            text = part.arguments if isinstance(part, ToolCallPart) else _text_of(part)
            yield self._replace(message, number, _without_halves(text), fault)
        else:
            yield from self._dropped(message, (number,), fault)

    def _without_media(self, faults: Sequence[Fault]) -> Iterator[Edit]:
        """Yield the edits that put notes in the place of the media of one part, or set its type."""
        message = self.messages[self.indices[faults[0].message or MessageId("")]]
        number = faults[0].part or 0
        part = message.parts[number]
        media = media_of(part)
        real_types = {
            fault.medium or 0: media[fault.medium or 0].real_type or "" for fault in faults
        }
        is_only_type = all(fault.rule.id == "image-media-type" for fault in faults)
        if message.locks.immutable_reason is not None:
            return
        if is_only_type and IMAGE_TYPES.issuperset(real_types.values()):
            for index, real_type in real_types.items():
                medium = index if isinstance(part, ToolResultPart) else None
                edit = self._set(message.id, number, "media_type", real_type, faults[0])
                yield replace(edit, medium=medium)
            return
        if not is_replaceable(part):
            return
        reasons = {fault.medium or 0: fault.text for fault in faults}
        notes = (_note(medium, reasons.get(n, "")) for n, medium in enumerate(media))
        texts = (_text_of(part) if isinstance(part, ToolResultPart) else "", *notes)
        yield self._replace(message, number, "\n".join(filter(None, texts)), faults[0])

    def _without_marks(self, fault: Fault) -> Iterator[Edit]:
        """Yield the edits that remove the oldest marks for the prompt cache beyond the limit."""
        marks = [(message.line, path) for message in self.messages for path in message.cache_marks]
        surplus = marks[: len(marks) - fault.limit]
        for line in dict.fromkeys(line for line, _ in surplus):
            values = tuple(FieldValue(path=path) for at, path in surplus if at == line)
            yield CorrectRecord(
                id=self.messages[0].id,
                line=line,
                path=(),
                values=values,
                group=self.group,
                reason=fault.rule.repaired,
            )

    def _with_new_id(self, call: PartIndex, fault: Fault, used_ids: set[CallId]) -> Iterator[Edit]:
        """Yield the edits that give a call and its results an id of their own that is accepted."""
        old = self._call_at(call).call_id
        new = _new_id(old, fault.limit or _MAX_ID, used_ids)
        used_ids.add(new)
        for index in (call, *self.results.get(call, ())):
            message = self.messages[index.message]
            yield self._set(message.id, index.part, "call_id", new, fault)

    def _moved(self, index: PartIndex, fault: Fault) -> Iterator[Edit]:
        """Yield the edits that put the results of a call where it wants them.

        Where results cannot be written, the call is removed with them.
        """
        calls = self._calls_concerned(index)
        if fault.rule.id == "result-with-text" and len(calls) > 1:
            # Several results must be in one message, and only one can be written in it.
            return
        for call in calls:
            results = self.results.get(call, [])[:1]
            before = self._place_of_results(call)
            for result in results:
                holder = self.messages[result.message]
                yield from self._dropped(holder, (result.part,), fault)
                if self.view.can_write_results and before < len(self.messages):
                    yield Insert(
                        before=self.messages[before].id, message=self._result(call, result)
                    )
                else:
                    message = self.messages[call.message]
                    yield from self._dropped(message, (call.part,), fault)

    def _calls_concerned(self, index: PartIndex) -> list[PartIndex]:
        """Return the calls of the results that a fault at ``index`` is about."""
        part = self.messages[index.message].parts[index.part]
        if isinstance(part, ToolCallPart):
            return [index]
        results = [index]
        if not isinstance(part, ToolResultPart):
            count = len(self.messages[index.message].parts)
            results = [PartIndex(index.message, n) for n in range(count)]
        return [self.pairs[result] for result in results if result in self.pairs]

    def _place_of_results(self, call: PartIndex) -> int:
        part = self._call_at(call)
        return _insertion_index(self.messages, call, part, unpaired_halves(self.messages))

    def _result(self, call: PartIndex, result: PartIndex) -> Synthetic:
        part = self.messages[result.message].parts[result.part]
        texts = (_text_of(part), *map(media_text, media_of(part)))
        return Synthetic(
            id=MessageId(f"repair-result-{self.group}-{call.message}-{call.part}"),
            kind="result",
            role="tool",
            text="\n".join(filter(None, texts)),
            group=self.group,
            through=newest_id(self.messages),
            tool=self._call_at(call).tool or UNKNOWN_TOOL,
            call_id=self._call_at(call).call_id,
        )

    def _beginning(self, message: Message) -> Synthetic:
        return Synthetic(
            id=MessageId(f"repair-beginning-{self.group}"),
            kind="marker",
            role="user",
            text=BEGINNING,
            group=self.group,
            through=message.id,
        )

    def _call_at(self, index: PartIndex) -> ToolCallPart:
        part = self.messages[index.message].parts[index.part]
        if not isinstance(part, ToolCallPart):
            raise TypeError(f"the part at {index} holds something else than a call")
        return part

    def _dropped(self, message: Message, parts: Iterable[int], fault: Fault) -> Iterator[Edit]:
        return _drops(message, parts, self.group, fault.text)

    def _replace(self, message: Message, number: int, text: str, fault: Fault) -> Edit:
        return Replace(id=message.id, part=number, text=text, group=self.group, reason=fault.text)

    def _set(
        self, message: MessageId, number: int, name: FieldName, value: str, fault: Fault
    ) -> SetField:
        return SetField(
            id=message, part=number, name=name, value=value, group=self.group, reason=fault.text
        )


def _drops(
    message: Message, parts: Iterable[int], group: GroupId, reason: str
) -> Iterator[DropPart]:
    """Yield the edits that drop parts, with what cannot stand without them.

    That is what is in the same block, as a signature of Gemini, and the reasoning of a message if
    nothing else is left of it. A record that must stay in its place keeps its last part.
    """
    parts = set(parts)
    blocks = {block_path(message.parts[part]) for part in parts} - {()}
    parts |= {n for n, part in enumerate(message.parts) if block_path(part) in blocks}
    rest = [part for n, part in enumerate(message.parts) if n not in parts]
    if all(isinstance(part, ReasoningPart | OmittedPart) for part in rest):
        parts = set(range(len(message.parts)))
        if message.locks.unmovable_reason is not None:
            return
    for part in sorted(parts):
        yield DropPart(id=message.id, part=part, group=group, reason=reason)


def _text_of(part: Part) -> str:
    return "" if isinstance(part, MediaPart | OmittedPart | ToolCallPart) else part.text


def _note(media: MediaPart, reason: str) -> str:
    """Return what stands for a medium, with the reason why it does not.

    [image/png, 600x600, 5,600,268 bytes; left out: image is 7.1 MB as base64; the limit is 5.0 MB]
    """
    return f"{media_text(media)[:-1]}; left out{f': {reason}' if reason else ''}]"


def _without_halves(text: str) -> str:
    r"""Replace lone surrogates by U+FFFD, and join what is a pair of them.

    "\ud83d" alone becomes U+FFFD.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _new_id(old: str, limit: int, used_ids: set[CallId]) -> CallId:
    """Return an id of letters, digits, _ and - that no call has, as close to the old one as fits.

    "fs.read:1" -> "fs_read_1";  a second "call_1" -> "call_1_2"
    """
    valid = _NOT_IN_ID.sub("_", old) or "call"
    if len(valid) > limit:
        digest = hashlib.sha256(old.encode("utf-8", "surrogatepass")).hexdigest()
        valid = f"{valid[: limit - _DIGEST_CHARS - 1]}_{digest[:_DIGEST_CHARS]}"
    number, new = 1, CallId(valid)
    while new in used_ids:
        number += 1
        ending = f"_{number}"
        new = CallId(f"{valid[: limit - len(ending)]}{ending}")
    return new


def _is_only_of(message: Message, orphans: AbstractSet[int]) -> bool:
    """Whether a message has unpaired halves, and nothing beside them but reasoning."""
    rest = [part for n, part in enumerate(message.parts) if n not in orphans]
    return bool(orphans) and all(isinstance(part, ReasoningPart | OmittedPart) for part in rest)


def _drops_of(
    view: ConversationView, halves: Iterable[PartIndex], group: GroupId
) -> Iterator[DropPart]:
    parts_by_message: dict[int, list[int]] = {}
    for index in halves:
        parts_by_message.setdefault(index.message, []).append(index.part)
    for number, parts in parts_by_message.items():
        yield from _drops(view.messages[number], parts, group, _HALF)


def _hide_orphans(
    view: ConversationView, options: RepairOptions, orphans: Orphans
) -> Proposal | SkippedStage:
    """Hide messages that hold only unpaired halves, and drop the halves in other messages."""
    orphan_ids = [
        message.id
        for index, message in enumerate(view.messages)
        if _is_only_of(message, {part for n, part in orphans if n == index})
    ]
    ids = hideable(view, orphan_ids)
    hidden = set(ids)
    shared = {
        index: part
        for index, part in orphans.items()
        if view.messages[index.message].id not in hidden
        and view.messages[index.message].locks.immutable_reason is None
    }
    group = group_id(NAME, options, [f"{view.messages[n].id} {part}" for n, part in shared])
    drops = tuple(_drops_of(view, shared, group))
    if not ids and not drops:
        reason = f"{len(orphans):,} unpaired calls or results cannot be hidden"
        return SkippedStage(stage=NAME, reason=reason, detail="they must stay as they are")
    dropped = {(edit.id, edit.part) for edit in drops}
    halves = [
        part
        for index, part in orphans.items()
        if view.messages[index.message].id in hidden
        or (view.messages[index.message].id, index.part) in dropped
    ]
    if not ids:
        notes, figures = _notes(halves), _figures(halves)
        return Proposal(stage=NAME, edits=drops, notes=notes, figures=figures)
    marker = Marker(stage=NAME, prefix="repair", template=options.marker, reason=_HALF)
    proposal = hide_behind_marker(view, marker, ids, options, _notes(halves))
    return replace(proposal, edits=(*proposal.edits, *drops), figures=_figures(halves))


def _complete_pairs(
    view: ConversationView, options: RepairOptions, orphans: Orphans
) -> Proposal | SkippedStage:
    if not view.can_write_assistant:
        reason = "tool calls and results cannot be written in this format"
        return SkippedStage(stage=NAME, reason=reason, detail="see --repair-policy drop")
    messages = view.messages
    # The code that made a call cannot be written: such a call and its result stay as they are.
    unpaired = unpaired_parts(messages)
    orphans = {
        index: part for index, part in orphans.items() if index in unpaired or not part.call_id
    }
    completable = tuple(_completable_halves(messages, orphans))
    if not completable:
        reason = "there is no place for the missing halves: the next message must not change"
        if not any(map(is_replaceable, orphans.values())):
            reason = "only the provider can write the missing halves: it runs the tools"
        return SkippedStage(stage=NAME, reason=reason, detail="see --repair-policy drop")
    group = group_id(NAME, options, [messages[index].id for index, _ in completable])
    newest = newest_id(messages)
    inserts = tuple(
        Insert(before=messages[index].id, message=_missing_half(part, options, group, n, newest))
        for n, (index, part) in enumerate(completable, 1)
    )
    halves = [part for _, part in completable]
    return Proposal(stage=NAME, edits=inserts, notes=_notes(halves), figures=_figures(halves))


def _completable_halves(
    messages: Sequence[Message], orphans: Orphans
) -> Iterator[tuple[int, _PairHalf]]:
    """Yield each half that can be completed, with the index before which its other half goes.

    Several results with one id need only one call. Not completed are calls whose id is used again
    before the result could be inserted, which would then belong to the later call, and halves of
    tools that the provider runs, because it accepts only its own.
    """
    called_ids: set[CallId] = set()
    for part_index, part in orphans.items():
        index = _insertion_index(messages, part_index, part, orphans)
        # An immutable message may be part of the request instead of a record among others.
        if (
            index == len(messages)
            or messages[index].locks.immutable_reason
            or not is_replaceable(part)
        ):
            continue
        if isinstance(part, ToolCallPart):
            used_ids = _calls_between(messages, part_index, index)
        else:
            used_ids = called_ids - {CallId("")}
            called_ids.add(part.call_id)
        if part.call_id not in used_ids:
            yield index, part


def _calls_between(messages: Sequence[Message], part_index: PartIndex, end: int) -> set[CallId]:
    """Return the ids of the calls after a part and before the message at index ``end``."""
    index, number = part_index
    parts = list(messages[index].parts[number + 1 :])
    parts += (part for message in messages[index + 1 : end] for part in message.parts)
    return {part.call_id for part in parts if isinstance(part, ToolCallPart)}


def _insertion_index(
    messages: Sequence[Message], part_index: PartIndex, part: _PairHalf, orphans: Orphans
) -> int:
    """Return the index before which the other half goes.

    A call goes right before its result. A result goes after the results of parallel calls:

        call 1, call 2 (orphan), result 1, [result 2 goes here] user

    An orphaned result ends that row: it belongs to another call.
    """
    if isinstance(part, ToolResultPart):
        return part_index.message
    index = part_index.message + 1
    while index < len(messages) and messages[index].calls and not messages[index].results:
        index += 1
    while index < len(messages) and _holds_only_paired_results(messages[index], index, orphans):
        index += 1
    return index


def _holds_only_paired_results(message: Message, index: int, orphans: Orphans) -> bool:
    count = len(message.parts)
    is_paired = all(PartIndex(index, part) not in orphans for part in range(count))
    return is_paired and 0 < count == len(message.results)


def _missing_half(
    part: _PairHalf,
    options: RepairOptions,
    group: GroupId,
    number: int,
    newest: MessageId | None,
) -> Synthetic:
    tool = part.tool or UNKNOWN_TOOL
    is_call = isinstance(part, ToolCallPart)
    kind: Literal["call", "result"] = "result" if is_call else "call"
    text = options.result_text if is_call else options.call_text.replace(TOOL, tool)
    return Synthetic(
        id=MessageId(f"repair-{kind}-{group}-{number}"),
        kind=kind,
        role="tool" if is_call else "assistant",
        text=text,
        group=group,
        through=newest,
        tool=tool,
        call_id=part.call_id,
    )


def _notes(halves: Sequence[_PairHalf]) -> tuple[str, ...]:
    calls, results = _figures(halves).values()
    return (f"orphaned calls fixed: {calls:,}", f"orphaned results fixed: {results:,}")


def _figures(halves: Sequence[_PairHalf]) -> dict[str, int]:
    calls = sum(isinstance(part, ToolCallPart) for part in halves)
    return {"orphanedCallsFixed": calls, "orphanedResultsFixed": len(halves) - calls}


_POLICIES: Mapping[
    RepairPolicy, Callable[[ConversationView, RepairOptions, Orphans], Proposal | SkippedStage]
] = {
    "drop": _hide_orphans,
    "synth": _complete_pairs,
}

STAGE = Stage(
    name=NAME,
    title="remove, complete or correct what the provider or the client refuses",
    options=RepairOptions,
    propose=propose,
    repairs=True,
    count_names=("orphanedCallsFixed", "orphanedResultsFixed"),
    foreign_schemas=(
        neurolink_schema(
            "RepairResult",
            repaired="applied",
            orphanedCallsFixed="orphanedCallsFixed",
            orphanedResultsFixed="orphanedResultsFixed",
        ),
    ),
)
