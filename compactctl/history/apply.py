"""Apply edits to messages. The new file is laid out from the same edits later."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from compactctl.history.omissions import omitted, sent_messages
from compactctl.history.stand_ins import occurrence, same_name_indices
from compactctl.model.edit import (
    CorrectRecord,
    DropPart,
    Edit,
    Hide,
    Insert,
    PartEdit,
    RemoveUnsent,
    Replace,
    SetField,
    groups_of,
)
from compactctl.model.message import (
    CallId,
    FilePart,
    MediaPart,
    Message,
    OmittedPart,
    Origin,
    Part,
    ReasoningPart,
    Synthetic,
    Tags,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.model.own_texts import own_texts_in
from compactctl.model.unsent import UnsentKind
from compactctl.records import Record, field, replace

PartField = tuple[int, str]
"""The index of a part and the name of a field, "" for its content."""


class NetEdits(Record, kw_only=False):
    """The net effect of a sequence of edits, looked up by message id.

    Attributes:
        hidden: the edit that hides a message.
        replaced: the edits of a message by what they rewrite, the newest last.
        inserted: the synthetic messages before an original message, in order. One that a later
            edit hides again is in here and in ``hidden``.
        removed_unsent: the edit that removes each kind of record that is never sent.
        corrected: the edits of records, by their lines.
    """

    hidden: dict[str, Hide] = field(default_factory=dict)
    replaced: dict[str, dict[PartField, PartEdit]] = field(default_factory=dict)
    inserted: dict[str, list[Synthetic]] = field(default_factory=dict)
    removed_unsent: dict[UnsentKind, RemoveUnsent] = field(default_factory=dict)
    corrected: dict[int, list[CorrectRecord]] = field(default_factory=dict)


def net_edits(edits: Iterable[Edit]) -> NetEdits:
    """Return the net effect: the first edit to hide a message wins, the last to rewrite a part."""
    net = NetEdits()
    anchors: dict[str, str] = {}
    for edit in edits:
        match edit:
            case Hide():
                for message_id in edit.ids:
                    net.hidden.setdefault(message_id, edit)
            case Replace() | DropPart() | SetField():
                parts = net.replaced.setdefault(edit.id, {})
                rewritten = _part_field(edit)
                parts.pop(rewritten, None)
                parts[rewritten] = edit
            case CorrectRecord():
                net.corrected.setdefault(edit.line, []).append(edit)
            case Insert():
                _insert(edit, net.inserted, anchors)
            case RemoveUnsent():
                net.removed_unsent.update(dict.fromkeys(edit.kinds, edit))
    return net


def _part_field(edit: PartEdit) -> PartField:
    if not isinstance(edit, SetField):
        return edit.part, ""
    return edit.part, edit.name if edit.medium is None else f"{edit.name} {edit.medium}"


def latest_edit(parts: Mapping[PartField, PartEdit]) -> PartEdit:
    """Return the newest of a message's rewrites. Its group becomes the message's ``edit_id``."""
    return next(reversed(tuple(parts.values())))


def _insert(edit: Insert, inserted: dict[str, list[Synthetic]], anchors: dict[str, str]) -> None:
    # S before A, then M before S: both are listed under A, as M, S.
    anchor = anchors.get(edit.before, edit.before)
    items = inserted.setdefault(anchor, [])
    index = next((i for i, message in enumerate(items) if message.id == edit.before), len(items))
    items.insert(index, edit.message)
    anchors[edit.message.id] = anchor


def apply(messages: Sequence[Message], edits: Sequence[Edit]) -> tuple[Message, ...]:
    """Return the effective history after one stage's edits.

    Edits of messages that are not in it are ignored.
    """
    net = net_edits(edits)
    result: list[Message] = []
    for message in messages:
        items = net.inserted.get(message.id, ())
        result += (synthetic_message(item, message) for item in items)
        if message.id not in net.hidden:
            result += _rewritten(message, net.replaced.get(message.id))
    inserted_ids = {item.id for items in net.inserted.values() for item in items}
    return tuple(_with_occurrences(result, inserted_ids) if inserted_ids else result)


def _with_occurrences(
    messages: Sequence[Message], inserted_ids: Container[str]
) -> Iterator[Message]:
    """Note on synthetic messages which of several messages with equal content ``through`` is."""
    indices: dict[str, Sequence[int]] = {}
    for index, message in enumerate(messages):
        through = message.tags.through if message.id in inserted_ids else None
        if through is None:
            yield message
            continue
        if through not in indices:
            indices[through] = same_name_indices(messages, through)
        number = occurrence(indices[through], index)
        yield replace(message, tags=replace(message.tags, occurrence=number))


def apply_all(messages: Sequence[Message], edits: Sequence[Edit]) -> tuple[Message, ...]:
    """Return the effective history after the edits of several stages, applied in order."""
    for _, stage_edits in groupby(edits, lambda edit: groups_of([edit])):
        messages = apply(messages, tuple(stage_edits))
    return tuple(messages)


def synthetic_message(item: Synthetic, anchor: Message) -> Message:
    """Return a summary, a marker or half a tool pair as a message at the place of ``anchor``."""
    return Message(
        id=item.id,
        role=item.role,
        parts=_synthetic_parts(item),
        line=anchor.line,
        record_path=anchor.record_path,
        conversation=anchor.conversation,
        origin=Origin(is_injected=True, is_summary=item.kind == "summary", is_synthetic=True),
        tags=synthetic_tags(item),
    )


def _synthetic_parts(item: Synthetic) -> tuple[Part, ...]:
    match item.kind:
        case "result":
            return (ToolResultPart(call_id=item.call_id, tool=item.tool, text=item.text),)
        case "call":
            call = ToolCallPart(call_id=item.call_id, tool=item.tool, arguments="{}")
            return (TextPart(text=item.text), call)
        case _:
            return (TextPart(text=item.text, own_texts=own_texts_in(item.text).texts),)


def synthetic_tags(item: Synthetic, operation: str | None = None) -> Tags:
    """Return the tags of a synthetic message; ``operation`` is the one that writes it."""
    if item.kind == "summary":
        return Tags(condense_id=item.group, operation=operation, through=item.through)
    return Tags(
        truncation_id=item.group,
        is_truncation_marker=item.kind == "marker",
        operation=operation,
        through=item.through,
        is_final=item.is_final,
    )


def _rewritten(message: Message, edits: dict[PartField, PartEdit] | None) -> tuple[Message, ...]:
    """Return a message after its edits; none if they leave no part of it."""
    if not edits:
        return (message,)
    parts = list(message.parts)
    for edit in edits.values():
        parts[edit.part] = _edited(parts[edit.part], edit)
    group = latest_edit(edits).group
    rewritten = replace(message, parts=tuple(parts), tags=replace(message.tags, edit_id=group))
    return sent_messages((rewritten,))


def _edited(part: Part, edit: PartEdit) -> Part:
    match edit:
        case Replace():
            return _with_text(part, edit.text)
        case DropPart():
            return omitted(part, "part", edit.reason)
        case SetField():
            return _with_field(part, edit)


def _with_field(part: Part, edit: SetField) -> Part:
    match part:
        case ToolCallPart() | ToolResultPart() if edit.name == "call_id":
            return replace(part, call_id=CallId(edit.value))
        case ToolCallPart() | ToolResultPart() if edit.name == "tool":
            return replace(part, tool=edit.value)
        case ToolCallPart() if edit.name == "input":
            return replace(part, arguments=edit.value)
        case ToolResultPart() if edit.name == "text":
            return replace(part, text=edit.value)
        case MediaPart() if edit.name == "media_type":
            return replace(part, media_type=edit.value)
        case ToolResultPart() if edit.medium is not None:
            media = list(part.media)
            media[edit.medium] = replace(media[edit.medium], media_type=edit.value)
            return replace(part, media=tuple(media))
        case _:
            return part


def _with_text(part: Part, text: str) -> Part:
    match part:
        case OmittedPart():
            return part
        case ToolResultPart():
            return replace(part, text=text, media=())
        case ToolCallPart():
            return replace(part, arguments=text)
        case TextPart():
            # A text that the user typed is only ever reduced to the words they typed.
            return replace(part, text=text, typed=None if part.typed else part.typed)
        case ReasoningPart() | FilePart():
            return replace(part, text=text)
        case _:
            return TextPart(text=text, typed="", path=part.path)
