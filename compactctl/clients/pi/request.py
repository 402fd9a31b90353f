"""What pi does with the messages that its path and its compactions have left.

Each step is a function of messages, after the client's function in 1.6.0. A part that is left out
becomes an ``OmittedPart``. Where an older client did something else, the newest counts.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from compactctl.clients.pi.messages import content_parts, result_content
from compactctl.clients.records.json_values import object_or_empty, text_or_empty, text_or_none
from compactctl.history.omissions import omitted, with_each
from compactctl.model.message import (
    CallId,
    JsonPath,
    MediaPart,
    Message,
    MessageId,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolDefinitionPart,
)
from compactctl.model.transcript import Omission
from compactctl.records import Record, replace

# What the client sends as the result of a call without one.
_NO_RESULT = "No result provided"


_EDITABLE_ROLES = frozenset({"user", "assistant", "toolResult", "custom", "hookMessage"})


class ContextEdit(Record):
    """What is sent instead of the content of the entry ``target``, or that nothing is."""

    target: str
    content: Any = None
    is_removal: bool = False


class AnswerModel(NamedTuple):
    """The model that answered, or was chosen; None for what is not recorded."""

    provider: str | None = None
    api: str | None = None
    name: str | None = None


def edit_of(entry: Mapping[str, Any]) -> ContextEdit | None:
    """Return what a ``context_edit`` states (``projectContextEntry``)."""
    target, replacement = text_or_none(entry.get("targetId")), entry.get("replacement")
    if entry.get("type") != "context_edit" or target is None:
        return None
    if replacement is None:
        return ContextEdit(target=target, is_removal=True)
    return ContextEdit(target=target, content=object_or_empty(replacement).get("content"))


def is_editable(entry: Mapping[str, Any]) -> bool:
    """Whether the content of an entry can be replaced; any entry can be removed."""
    role = text_or_empty(object_or_empty(entry.get("message")).get("role"))
    return entry.get("type") == "custom_message" or role in _EDITABLE_ROLES


def model_of(entry: Mapping[str, Any]) -> AnswerModel | None:
    """Return the model that an entry names; None for none (``getSessionContextSettings``).

    Relatives of pi name it with its provider, and have other models for other roles.
    """
    message = object_or_empty(entry.get("message"))
    if entry.get("type") == "message" and message.get("role") == "assistant":
        fields = (text_or_none(message.get(name)) for name in ("provider", "api", "model"))
        return AnswerModel(*fields)
    if entry.get("type") != "model_change" or entry.get("role") not in (None, "default"):
        return None
    name = text_or_none(entry.get("modelId")) or text_or_none(entry.get("model"))
    return AnswerModel(text_or_none(entry.get("provider")), None, name)


def apply_edits(
    messages: Iterable[Message], edits: Mapping[MessageId, ContextEdit]
) -> tuple[Message, ...]:
    """Replace or leave out what was edited (``projectContextEntry``, 0.87.0 and later).

    What stands instead is stored in the edit, so nothing else can take its place.
    """
    return tuple(
        _edited(message, edits[message.id]) if message.id in edits else message
        for message in messages
    )


def _edited(message: Message, edit: ContextEdit) -> Message:
    if edit.is_removal:
        return with_each(message, lambda part: omitted(part, "block", "removed by a context edit"))
    parts = content_parts(edit.content, ())
    if message.role == "tool":
        text, media = result_content(parts)
        result = replace(message.results[0], text=text, media=media, cleared=True, embedded=True)
        return replace(message, parts=(result,))
    path = message.parts[0].path if message.parts else ()
    return replace(message, parts=tuple(_of_edit(part, path) for part in parts))


def _of_edit(part: Part, path: JsonPath) -> Part:
    """Return a part of an edit as one that stands at ``path`` and cannot be replaced there."""
    match part:
        case TextPart():
            return replace(part, typed="", embedded=True, path=path)
        case ToolCallPart() | MediaPart():
            return replace(part, embedded=True, path=path)
        case _:
            return replace(part, path=path)


def replacements(
    messages: Iterable[Message], edits: Mapping[MessageId, ContextEdit]
) -> Iterator[Omission]:
    """Yield the messages that ``apply_edits`` replaced."""
    for message in messages:
        if message.id in edits and not edits[message.id].is_removal:
            yield Omission(message=message.id, noun="message", detail="replaced by a context edit")


def replay_system_messages(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Leave out the sections and tools that a later message replaces or removes.

    ``getCurrentSystemMessage`` puts what remains into one message in front. Models that take
    system messages anywhere are sent each as it is.
    """
    later: set[tuple[str, str]] = set()
    replayed = []
    for message in reversed(messages):
        if message.role != "system":
            replayed.append(message)
            continue
        replayed.append(with_each(message, partial(_current, later=later)))
        later.update(filter(None, map(_name_of, message.parts)))
    return tuple(reversed(replayed))


def _current(part: Part, later: Collection[tuple[str, str]]) -> Part:
    """Return a part of a system message, or what stands for it if it is not sent."""
    name = _name_of(part)
    if name is None:
        return part
    if not getattr(part, "text", ""):
        return omitted(part, "removal", "of sections or tools")
    return omitted(part, name[0], "of an earlier prompt") if name in later else part


def _name_of(part: Part) -> tuple[str, str] | None:
    """Return the kind and name of a part that a later one of the same name replaces, else None."""
    if isinstance(part, ToolDefinitionPart):
        return "tool definition", part.name
    is_section = isinstance(part, TextPart) and part.path[-2:-1] == ("sections",)
    return ("section", str(part.path[-1])) if is_section else None


def drop_foreign_thinking(
    messages: Iterable[Message], models: Mapping[MessageId, AnswerModel], current: AnswerModel
) -> tuple[Message, ...]:
    """Leave out the reasoning of another model than the current one (``transformMessages``).

    Before 1.3.0 it was sent as text.
    """
    foreign = {name for name, model in models.items() if not _is_same(model, current)}
    return tuple(
        with_each(message, _without_thinking) if message.id in foreign else message
        for message in messages
    )


def _without_thinking(part: Part) -> Part:
    if isinstance(part, ReasoningPart):
        return omitted(part, "reasoning block", "of another model")
    return part


def _is_same(model: AnswerModel, current: AnswerModel) -> bool:
    pairs = zip(model, current, strict=True)
    return all(
        one == other or other.endswith(f"/{one}")
        for one, other in pairs
        if one is not None and other is not None
    )


def answer_calls(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Answer each call without a result before the next answer or prompt (``transformMessages``).

    A result further on is sent as well.
    """
    results: set[CallId] = set()
    answered = []
    for message in reversed(messages):
        answered.append(with_each(message, partial(_answered, results=results)))
        if message.role == "tool":
            results.update(result.call_id for result in message.results)
        elif message.role != "system":
            results = set()
    return tuple(reversed(answered))


def _answered(part: Part, results: Collection[CallId]) -> Part:
    if isinstance(part, ToolCallPart) and part.call_id not in results:
        return replace(part, added=_NO_RESULT)
    return part
