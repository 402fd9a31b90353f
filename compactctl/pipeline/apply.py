"""Carries edits out on messages; the files are laid out from the same edits later."""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from compactctl.history.stand_ins import occurrence, same_name_indices
from compactctl.model.edit import Edit, Hide, Insert, RemoveUnsent, Replace, groups_of
from compactctl.model.message import (
    FilePart,
    Message,
    Origin,
    Part,
    ReasoningPart,
    Synthetic,
    Tags,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.model.unsent import UnsentKind


@dataclass(frozen=True, slots=True)
class NetEdits:
    """What a sequence of edits comes to.

    ``inserted`` holds the written messages by the original message they stand before, in order;
    those that a later edit hides again are in it and in ``hidden``. ``replaced`` holds a message's
    edits by the part that they rewrite, the newest last. ``removed_unsent`` is what of the file
    goes that is never sent, by its kinds.
    """

    hidden: dict[str, Hide] = field(default_factory=dict)
    replaced: dict[str, dict[int, Replace]] = field(default_factory=dict)
    inserted: dict[str, list[Synthetic]] = field(default_factory=dict)
    removed_unsent: dict[UnsentKind, RemoveUnsent] = field(default_factory=dict)


def net_edits(edits: Iterable[Edit]) -> NetEdits:
    """Fold edits, in order: the first to hide a message wins, the last to rewrite a part."""
    folded = NetEdits()
    anchors: dict[str, str] = {}
    for edit in edits:
        match edit:
            case Hide():
                for name in edit.ids:
                    folded.hidden.setdefault(name, edit)
            case Replace():
                parts = folded.replaced.setdefault(edit.id, {})
                parts.pop(edit.part, None)
                parts[edit.part] = edit
            case Insert():
                _insert(edit, folded.inserted, anchors)
            case RemoveUnsent():
                folded.removed_unsent.update(dict.fromkeys(edit.kinds, edit))
    return folded


def latest_edit(parts: dict[int, Replace]) -> Replace:
    """Return the edit whose group stands for a message of which several parts were rewritten."""
    return next(reversed(parts.values()))


def _insert(edit: Insert, placed: dict[str, list[Synthetic]], anchors: dict[str, str]) -> None:
    anchor = anchors.get(edit.before, edit.before)
    row = placed.setdefault(anchor, [])
    at = next((i for i, message in enumerate(row) if message.id == edit.before), len(row))
    row.insert(at, edit.message)
    anchors[edit.message.id] = anchor


def apply(messages: Sequence[Message], edits: Sequence[Edit]) -> tuple[Message, ...]:
    """Return the effective history after one stage's edits.

    Edits of messages that are not there are ignored.
    """
    folded = net_edits(edits)
    result: list[Message] = []
    for message in messages:
        placed = folded.inserted.get(message.id, ())
        result += (synthetic_message(item, message) for item in placed)
        if message.id not in folded.hidden:
            result.append(_rewritten(message, folded.replaced.get(message.id)))
    written = {item.id for items in folded.inserted.values() for item in items}
    return tuple(_with_occurrences(result, written) if written else result)


def _with_occurrences(messages: Sequence[Message], written: Container[str]) -> Iterator[Message]:
    """Note on written messages which of those with its name the newest message is."""
    places: dict[str, Sequence[int]] = {}
    for index, message in enumerate(messages):
        through = message.tags.through if message.id in written else None
        if through is None:
            yield message
            continue
        if through not in places:
            places[through] = same_name_indices(messages, through)
        number = occurrence(places[through], index)
        yield replace(message, tags=replace(message.tags, occurrence=number))


def apply_all(messages: Sequence[Message], edits: Sequence[Edit]) -> tuple[Message, ...]:
    """Return the effective history after the edits of several stages, one after another."""
    for _, stage in groupby(edits, lambda edit: groups_of([edit])):
        messages = apply(messages, tuple(stage))
    return tuple(messages)


def synthetic_message(item: Synthetic, anchor: Message) -> Message:
    """Return the message that is written in place of others or to complete a tool pair."""
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
            return (TextPart(text=item.text),)


def synthetic_tags(item: Synthetic, operation: str | None = None) -> Tags:
    """Return the tags that a written message carries."""
    if item.kind == "summary":
        return Tags(condense_id=item.group, operation=operation, through=item.through)
    return Tags(
        truncation_id=item.group,
        is_truncation_marker=item.kind == "marker",
        operation=operation,
        through=item.through,
        is_final=item.is_final,
    )


def _rewritten(message: Message, edits: dict[int, Replace] | None) -> Message:
    if not edits:
        return message
    parts = tuple(
        _with_text(part, edits[index].text) if index in edits else part
        for index, part in enumerate(message.parts)
    )
    group = latest_edit(edits).group
    return replace(message, parts=parts, tags=replace(message.tags, edit_id=group))


def _with_text(part: Part, text: str) -> Part:
    match part:
        case ToolResultPart():
            return replace(part, text=text, media=())
        case ToolCallPart():
            return replace(part, arguments=text)
        case TextPart():
            # Of a text with words of a person, no more than these are left.
            return replace(part, text=text, typed=None if part.typed else part.typed)
        case ReasoningPart() | FilePart():
            return replace(part, text=text)
        case _:
            return TextPart(text=text, typed="", path=part.path)
