"""Corrections of what a provider or client refuses, apart from unpaired calls and results."""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence

from compactctl.history.apply import apply
from compactctl.history.conversation_view import ConversationView
from compactctl.history.faults import IMAGE_TYPES, Fault, find_faults, follows_reasoning
from compactctl.history.pair_faults import unpaired_halves
from compactctl.history.pairs import PartIndex, tool_pairs
from compactctl.history.stand_ins import newest_id
from compactctl.model.characters import without_halves
from compactctl.model.edit import (
    CorrectRecord,
    DropPart,
    Edit,
    FieldName,
    Insert,
    Replace,
    SetField,
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
    media_note,
    media_of,
    media_text,
)
from compactctl.model.transcript import FieldValue
from compactctl.records import replace

BEGINNING = "[The beginning of this conversation is not in the transcript]"
# OpenAI and Anthropic refuse a call that names no tool.
UNKNOWN_TOOL = "unknown"
_NOT_IN_ID = re.compile(r"[^a-zA-Z0-9_-]")
# The shortest limit of ids, and what is left of a longer one before its digest.
_MAX_ID, _DIGEST_CHARS = 40, 12
# Google's placeholder for calls that have no signature, which its API accepts.
_NO_SIGNATURE = "skip_thought_signature_validator"
_EMPTY_RESULT = "[empty]"
# Rules on fields of records; one that is never sent is left out instead.
_LEFT_OUT = frozenset({"field-value", "field-required"})
_NEW_IDS = frozenset({"call-id-unique", "call-id-pattern", "call-id-length"})
_DROPPED = frozenset({
    "text-empty", "result-once", "thinking-signature", "thinking-modified", "thinking-missing",
    "reasoning-alone", "reasoning-encrypted", "reasoning-content", "item-value",
})  # fmt: skip
# Rules whose results go where their call wants them.
_MOVED = frozenset({"result-not-next", "result-first", "result-in-user", "result-with-text"})
_MEDIA = frozenset({
    "image-bytes", "image-pixels", "image-pixels-many", "image-count", "image-readable",
    "image-media-type", "pdf-pages", "document-bytes", "request-bytes",
})  # fmt: skip
_COUNTED = frozenset({"image-pixels-many", "image-count", "request-bytes"})

ROUNDS = (
    frozenset({"surrogate"}),
    _NEW_IDS,
    frozenset({"call-name-pattern", "call-input-object", "thought-signature", "result-empty"}),
    _MEDIA - _COUNTED,
    *(frozenset({rule}) for rule in ("image-pixels-many", "image-count", "request-bytes")),
    _DROPPED | {"trailing-space"},
    _MOVED,
)
"""The rules that are repaired together, in order.

Each round sees what the rounds before left: what is moved has its new id and text, and of images
beyond the limit are only those that are otherwise accepted.
"""


class Corrections:
    """The edits of a repair so far, and the conversation as they leave it.

    Attributes:
        view: the conversation after the edits.
        group: the group of the edits.
        edits: the edits.
        repaired: what was done, with the number of places.
        written: the messages that it inserts.
    """

    def __init__(self, view: ConversationView, group: GroupId) -> None:
        self.view, self.group = view, group
        self.edits: list[Edit] = []
        self.repaired: Counter[str] = Counter()
        self.written: set[MessageId] = set()
        self._originals = view.messages
        self._done: set[tuple[str, MessageId | None, int | None]] = set()

    def add(self, edits: Sequence[Edit]) -> None:
        """Add edits, and carry them out."""
        self.edits += edits
        self.written |= {edit.message.id for edit in edits if isinstance(edit, Insert)}
        self.view = replace(self.view, messages=apply(self.view.messages, edits))

    def correct_file(self, faults: Iterable[Fault]) -> None:
        """Correct what is wrong with records instead of messages."""
        # A layout that keeps the original records keeps their faults.
        if not self._originals or self.view.keeps_originals:
            return
        for fault in faults:
            if fault.record is not None:
                self._add_counted(fault, self._correction(fault))
            elif fault.rule.id == "cache-control-count":
                self._add_counted(fault, self._without_marks(fault))
            elif fault.rule.id == "reasoning-missing":
                item = next(one for one in self._originals if one.id == fault.message)
                self._add_counted(fault, self._without_id(item))

    def correct(self, rules: frozenset[str]) -> None:
        """Correct what breaks these rules, which belong to one round."""
        faults = [fault for fault in self.faults(rules) if self._is_new(fault)]
        if faults:
            edits, corrected = _Round(self).correct(faults)
            self.repaired.update(fault.rule.repaired for fault in corrected)
            self.add(edits)

    def drop_lone_ids(self) -> None:
        """Leave out the ids of items whose reasoning was left out, which the provider looks for."""
        followed = {
            message.id
            for number, message in enumerate(self._originals)
            if message.item_id is not None and follows_reasoning(number, self._originals)
        }
        for number, message in enumerate(self.view.messages):
            if message.id in followed and not follows_reasoning(number, self.view.messages):
                followed.remove(message.id)
                self.add(tuple(self._without_id(message)))

    def put_user_first(self) -> None:
        """Let the conversation begin with a message of the user, if it must."""
        for fault in filter(self._is_new, self.faults(frozenset({"first-user"}))):
            first = next(one for one in self.view.messages if one.id == fault.message)
            if first.locks.immutable_reason is not None:
                continue
            beginning = Synthetic(
                id=MessageId(f"repair-beginning-{self.group}"),
                kind="marker",
                role="user",
                text=BEGINNING,
                group=self.group,
                through=first.id,
            )
            self._add_counted(fault, [Insert(before=first.id, message=beginning)])

    def faults(self, rules: frozenset[str]) -> tuple[Fault, ...]:
        """Return what breaks these rules, in the conversation as it is now."""
        recipient = self.view.recipient
        chosen = {name: rule for name, rule in recipient.rules.items() if name in rules}
        return find_faults(self.view.messages, (), (), replace(recipient, rules=chosen))

    def _is_new(self, fault: Fault) -> bool:
        """Whether it was not tried to correct it before."""
        place = fault.rule.id, fault.message, fault.part
        is_new = place not in self._done
        self._done.add(place)
        return is_new

    def _add_counted(self, fault: Fault, edits: Iterable[Edit]) -> None:
        new = tuple(edits)
        self.add(new)
        if new:
            self.repaired[fault.rule.repaired] += 1

    def _correction(self, fault: Fault) -> Iterator[Edit]:
        record = fault.record
        if record is None or (record.is_sent and not record.values):
            return
        is_useless = not record.is_sent and record.rule in _LEFT_OUT
        values = () if is_useless else record.values
        yield self._corrected(record.line, record.path, values, record.reason)

    def _without_marks(self, fault: Fault) -> Iterator[Edit]:
        """Yield the edits that remove the oldest marks for the prompt cache beyond the limit."""
        marks = [
            (message.line, path) for message in self._originals for path in message.cache_marks
        ]
        paths: dict[int, list[FieldValue]] = defaultdict(list)
        for line, path in marks[: len(marks) - fault.limit]:
            paths[line].append(FieldValue(path=path))
        for line, values in paths.items():
            yield self._corrected(line, (), tuple(values), fault.rule.repaired)

    def _without_id(self, item: Message) -> Iterator[Edit]:
        if item.item_id is not None:
            values = (FieldValue(path=item.item_id.path),)
            reason = "its reasoning is missing"
            yield self._corrected(item.line, item.record_path, values, reason)

    def _corrected(
        self, line: int, path: tuple[str | int, ...], values: tuple[FieldValue, ...], reason: str
    ) -> CorrectRecord:
        return CorrectRecord(
            id=self._originals[0].id,
            line=line,
            path=path,
            values=values,
            group=self.group,
            reason=reason,
        )


class _Round:
    """The edits for faults that are corrected together."""

    def __init__(self, corrections: Corrections) -> None:
        self.view, self.group = corrections.view, corrections.group
        self.messages = self.view.messages
        self.written = corrections.written
        self.indices = {message.id: index for index, message in enumerate(self.messages)}
        self.pairs = tool_pairs(self.messages)
        self.results: dict[PartIndex, list[PartIndex]] = defaultdict(list)
        for result, call in self.pairs.items():
            self.results[call].append(result)
        self.used_ids = {call.call_id for message in self.messages for call in message.calls}
        self.orphans = unpaired_halves(self.messages)
        self.moved: set[PartIndex] = set()
        self.dropped = Drops(self.view, self.group)
        self.edits: list[Edit] = []

    def correct(self, faults: Sequence[Fault]) -> tuple[list[Edit], list[Fault]]:
        """Return the edits, and the faults that they correct."""
        media_faults: dict[PartIndex, list[Fault]] = defaultdict(list)
        corrected = []
        for fault in faults:
            index = self.indices.get(fault.message or MessageId(""))
            if index is None or not self._is_editable(index):
                continue
            if fault.rule.id in _MEDIA and fault.part is not None:
                media_faults[PartIndex(index, fault.part)].append(fault)
            elif self._corrects(index, fault):
                corrected.append(fault)
        for place, of_part in media_faults.items():
            if self._corrects_media(place, of_part):
                corrected += of_part
        return [*self.edits, *self.dropped.edits()], corrected

    def _is_editable(self, message: int) -> bool:
        """Whether a message may change; those that the repair wrote are not in the file yet."""
        is_written = self.messages[message].id in self.written
        return self.messages[message].locks.immutable_reason is None and not is_written

    def _corrects(self, message: int, fault: Fault) -> bool:
        """Add the edits for a fault in a message, and return whether there are any."""
        rule = fault.rule.id
        if fault.part is None:
            count = len(self.messages[message].parts)
            return rule in _DROPPED and self.dropped.add(message, range(count), fault.text)
        place = PartIndex(message, fault.part)
        if rule in _MOVED:
            return self._moves(place, fault)
        if rule in _NEW_IDS:
            return self._renames(place, fault)
        if rule in _DROPPED:
            return self.dropped.add(message, (fault.part,), fault.text)
        return self._rewrites(place, fault)

    def _rewrites(self, place: PartIndex, fault: Fault) -> bool:
        part = self._part(place)
        match fault.rule.id, part:
            case "call-name-pattern", ToolCallPart():
                name = _NOT_IN_ID.sub("_", part.tool)[: fault.limit or None] or UNKNOWN_TOOL
                self._set(place, "tool", name, fault)
            case "call-input-object", ToolCallPart():
                value = {"input": part.arguments}
                text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
                # OpenAI's chat has the arguments as text.
                if self.view.recipient.provider == "openai":
                    self._replace(place, text, fault)
                else:
                    self._set(place, "input", text, fault)
            case "thought-signature", ToolCallPart():
                self._set(place, "signature", _NO_SIGNATURE, fault)
            case "result-empty", ToolResultPart():
                self._replace(place, _EMPTY_RESULT, fault)
            case "trailing-space", TextPart():
                if not part.text.strip():
                    return self.dropped.add(place.message, (place.part,), fault.text)
                self._replace(place, part.text.rstrip(), fault)
            case "surrogate", _:
                return self._completes_characters(place, fault)
            case _:
                return False
        return True

    def _completes_characters(self, place: PartIndex, fault: Fault) -> bool:
        part = self._part(place)
        if not is_replaceable(part):
            return self.dropped.add(place.message, (place.part,), fault.text)
        text = part.arguments if isinstance(part, ToolCallPart) else _text_of(part)
        if media_of(part):
            self._set(place, "text", without_halves(text), fault)
        else:
            self._replace(place, without_halves(text), fault)
        return True

    def _corrects_media(self, place: PartIndex, faults: Sequence[Fault]) -> bool:
        """Put notes in the place of the media of one part, or correct their types."""
        part = self._part(place)
        media = media_of(part)
        real_types = {
            fault.medium or 0: media[fault.medium or 0].real_type or "" for fault in faults
        }
        is_only_type = all(fault.rule.id == "image-media-type" for fault in faults)
        if is_only_type and IMAGE_TYPES.issuperset(real_types.values()):
            for index, real_type in real_types.items():
                medium = index if isinstance(part, ToolResultPart) else None
                self._set(place, "media_type", real_type, faults[0], medium)
            return True
        if not is_replaceable(part):
            return False
        reasons = {fault.medium or 0: fault.text for fault in faults}
        notes = (media_note(medium, reasons.get(n, "")) for n, medium in enumerate(media))
        texts = (_text_of(part) if isinstance(part, ToolResultPart) else "", *notes)
        self._replace(place, "\n".join(filter(None, texts)), faults[0])
        return True

    def _renames(self, call: PartIndex, fault: Fault) -> bool:
        """Give a call and its results an id of their own that is accepted."""
        places = (call, *self.results.get(call, ()))
        if not all(self._is_editable(place.message) for place in places):
            return False
        new = _new_id(self._call_at(call).call_id, fault.limit or _MAX_ID, self.used_ids)
        self.used_ids.add(new)
        for place in places:
            self._set(place, "call_id", new, fault)
        return True

    def _moves(self, place: PartIndex, fault: Fault) -> bool:
        """Put the results of a call where it wants them.

        Where results cannot be written, the call is removed with them.
        """
        calls = self._calls_concerned(place)
        if fault.rule.id == "result-with-text" and len(calls) > 1:
            # Several results must be in one message, and only one can be written in it.
            return False
        moves = [self._moves_result(call, fault) for call in calls if call not in self.moved]
        return any(moves)

    def _moves_result(self, call: PartIndex, fault: Fault) -> bool:
        self.moved.add(call)
        result = self.results[call][0]
        before = place_of_result(self.messages, call, self.orphans)
        is_written = self.view.can_write_results and can_write_half(self.view, before)
        holders = {result.message} if is_written else {result.message, call.message}
        if not all(map(self._is_editable, holders)):
            return False
        if not self.dropped.add(result.message, (result.part,), fault.text):
            return False
        if not is_written:
            return self.dropped.add(call.message, (call.part,), fault.text)
        moved = self._result(call, result)
        self.edits.append(Insert(before=self.messages[before].id, message=moved))
        return True

    def _calls_concerned(self, place: PartIndex) -> list[PartIndex]:
        """Return the calls of the results that a fault is about."""
        part = self._part(place)
        if isinstance(part, ToolCallPart):
            return [place]
        results = [place]
        if not isinstance(part, ToolResultPart):
            count = len(self.messages[place.message].parts)
            results = [PartIndex(place.message, n) for n in range(count)]
        return [self.pairs[result] for result in results if result in self.pairs]

    def _result(self, call: PartIndex, result: PartIndex) -> Synthetic:
        part = self._part(result)
        texts = (_text_of(part), *map(media_text, media_of(part)))
        return Synthetic(
            id=MessageId(f"repair-result-{self.group}-{len(self.written) + len(self.moved)}"),
            kind="result",
            role="tool",
            text="\n".join(filter(None, texts)),
            group=self.group,
            through=newest_id(self.messages),
            tool=self._call_at(call).tool or UNKNOWN_TOOL,
            call_id=self._call_at(call).call_id,
        )

    def _part(self, place: PartIndex) -> Part:
        return self.messages[place.message].parts[place.part]

    def _call_at(self, place: PartIndex) -> ToolCallPart:
        part = self._part(place)
        if not isinstance(part, ToolCallPart):
            raise TypeError(f"the part at {place} is not a call")
        return part

    def _replace(self, place: PartIndex, text: str, fault: Fault) -> None:
        self.edits.append(
            Replace(
                id=self.messages[place.message].id,
                part=place.part,
                text=text,
                group=self.group,
                reason=fault.text,
            )
        )

    def _set(
        self, place: PartIndex, name: FieldName, value: str, fault: Fault, medium: int | None = None
    ) -> None:
        self.edits.append(
            SetField(
                id=self.messages[place.message].id,
                part=place.part,
                name=name,
                value=value,
                group=self.group,
                reason=fault.text,
                medium=medium,
            )
        )


class Drops:
    """The parts to drop, with what cannot stand without them.

    That is what is in the same block, as a signature of Gemini, and the reasoning of a message if
    nothing else is left of it. A record that must stay in its place keeps its last part.
    """

    def __init__(self, view: ConversationView, group: GroupId) -> None:
        self.view, self.group = view, group
        self.reasons: dict[int, dict[int, str]] = defaultdict(dict)

    def add(self, message: int, parts: Iterable[int], reason: str) -> bool:
        """Drop parts of the message at an index; return False if they must stay."""
        holder = self.view.messages[message]
        blocks = {_own_block(holder, part) for part in parts} - {()}
        mates = {n for n in range(len(holder.parts)) if _own_block(holder, n) in blocks}
        dropped = {*self.reasons.get(message, ()), *parts, *mates}
        if _is_emptied(holder, dropped):
            if holder.locks.unmovable_reason is not None or self.view.keeps_originals:
                return False
            dropped = set(range(len(holder.parts)))
        for part in dropped:
            self.reasons[message].setdefault(part, reason)
        return True

    def edits(self) -> Iterator[DropPart]:
        """Yield the edits, in order."""
        for message, reasons in sorted(self.reasons.items()):
            name = self.view.messages[message].id
            for part, reason in sorted(reasons.items()):
                yield DropPart(id=name, part=part, group=self.group, reason=reason)


def _own_block(message: Message, part: int) -> tuple[str | int, ...]:
    """Return the path of the block that holds a part; () if that is the whole record."""
    block = block_path(message.parts[part])
    return block if len(block) > len(message.record_path) else ()


def _is_emptied(message: Message, dropped: Container[int]) -> bool:
    """Whether nothing but reasoning is left of a message without some parts."""
    rest = (part for n, part in enumerate(message.parts) if n not in dropped)
    return all(isinstance(part, ReasoningPart | OmittedPart) for part in rest)


def place_of_result(
    messages: Sequence[Message], call: PartIndex, orphans: Container[PartIndex]
) -> int:
    """Return the index before which the result of a call goes: after those of parallel calls.

        call 1, call 2 (orphan), result 1, [result 2 goes here] user

    An orphaned result ends that row: it belongs to another call.
    """
    index = call.message + 1
    while index < len(messages) and messages[index].calls and not messages[index].results:
        index += 1
    while index < len(messages) and _holds_only_paired_results(messages[index], index, orphans):
        index += 1
    return index


def can_write_half(view: ConversationView, index: int) -> bool:
    """Whether half of a pair may be inserted before the message at an index.

    An immutable message may be part of a request instead of a record among others, and some APIs
    want all results of one response in one message.
    """
    if index == len(view.messages) or view.messages[index].locks.immutable_reason is not None:
        return False
    before = view.messages[index - 1] if index else None
    is_result = before is not None and bool(before.results)
    return not (is_result and before and view.roles_between and view.roles_between(before, before))


def _holds_only_paired_results(message: Message, index: int, orphans: Container[PartIndex]) -> bool:
    count = len(message.parts)
    is_paired = all(PartIndex(index, part) not in orphans for part in range(count))
    return is_paired and 0 < count == len(message.results)


def _text_of(part: Part) -> str:
    return "" if isinstance(part, MediaPart | OmittedPart | ToolCallPart) else part.text


def _new_id(old: str, limit: int, used_ids: set[CallId]) -> CallId:
    """Return an id of letters, digits, _ and - that no call has, as close to the old one as fits.

    "fs.read:1" -> "fs_read_1";  a second "call_1" -> "call_1-2"
    """
    valid = _NOT_IN_ID.sub("_", old) or "call"
    if len(valid) > limit:
        digest = hashlib.sha256(old.encode("utf-8", "surrogatepass")).hexdigest()
        valid = f"{valid[: limit - _DIGEST_CHARS - 1]}_{digest[:_DIGEST_CHARS]}"
    number, new = 1, CallId(valid)
    while new in used_ids:
        number += 1
        # Claude Code takes an id that ends in _2 for one that it made itself, and drops its result.
        ending = f"-{number}"
        new = CallId(f"{valid[: limit - len(ending)]}{ending}")
    return new
