"""What Claude Code records of its requests: system prompt and tool definitions, as they were sent.

Since 2.1.300 or before, it writes an ``api-request`` for each request, which names the
``api-request-shape`` with these two; the answer names the request.

    {"type": "api-request-shape", "shapeHash": "2c04…", "shape": {"system": […], "tools": […]}}
    {"type": "api-request", "id": "7d40…", "shapeHash": "2c04…"}
    {"type": "assistant", "requestRef": "7d40…", "message": …}

Clients since 2.1.270 or before write the same as an attachment, ``prompt_snapshot``, behind the
first answer. It stands in where the others are missing. Neither is ever sent from the file: the
client builds both parts anew for each request.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

from compactctl.formats.content.anthropic import content_parts
from compactctl.formats.content.tool_definitions import tool_definitions
from compactctl.formats.records.json_values import list_or_empty, object_or_empty, text_or_none
from compactctl.history.voices import command_in, is_clients
from compactctl.model.message import Message, MessageId, Part, TextPart

SHAPE = "api-request-shape"
REQUEST = "api-request"
SNAPSHOT = "prompt_snapshot"
WHY_FIXED = "the client builds the system prompt and tool definitions anew for each request"


def shape_parts(record: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return the system prompt and the tools of an ``api-request-shape``; () without any.

    A tool whose definition is loaded later (``defer_loading``) is left out.
    """
    shape = object_or_empty(record.get("shape"))
    tools = list_or_empty(shape.get("tools"))
    defined = zip(tools, tool_definitions(tools, ("shape", "tools")), strict=True)
    return (
        *content_parts(shape.get("system"), ("shape", "system")),
        *(part for tool, part in defined if object_or_empty(tool).get("defer_loading") is not True),
    )


def snapshot_parts(attachment: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return the same of a ``prompt_snapshot``; () before the one that also has the tools."""
    tools = [object_or_empty(tool).get("schema") for tool in list_or_empty(attachment.get("tools"))]
    if not tools:
        return ()
    return (
        *content_parts(attachment.get("cliPrefix"), ("attachment", "cliPrefix")),
        *content_parts(attachment.get("systemPrompt"), ("attachment", "systemPrompt")),
        *tool_definitions(tools, ("attachment", "tools")),
    )


class ClaudeRequests:
    """Takes in what is recorded of requests, in file order."""

    def __init__(self) -> None:
        self._shapes: dict[str, Message] = {}
        self._hashes: dict[str, str] = {}
        self._answers: dict[str, str] = {}
        self._snapshot: Message | None = None

    def add_shape(self, record: Mapping[str, Any], message: Message) -> None:
        """Take in the system prompt and tool definitions of requests, as a message.

        The client writes them again each time it is started; the first record counts.
        """
        self._shapes.setdefault(text_or_none(record.get("shapeHash")) or "", message)

    def add_snapshot(self, message: Message) -> None:
        """Take in the same of a snapshot."""
        self._snapshot = message

    def add_request(self, record: Mapping[str, Any]) -> None:
        """Take in a request."""
        name, shape = text_or_none(record.get("id")), text_or_none(record.get("shapeHash"))
        if name and shape:
            self._hashes[name] = shape

    def add_answer(self, record: Mapping[str, Any], message: Message) -> None:
        """Take in an answer to a request."""
        name = text_or_none(record.get("requestRef"))
        if name:
            self._answers[message.id] = name

    def newest_overhead(self, *histories: Iterable[Message]) -> Message | None:
        """Return what was sent along with the request of the newest answer, None if unknown.

        Of several histories the first counts that has such an answer.
        """
        newest_first = (message for history in histories for message in reversed([*history]))
        names = (self._answers.get(message.id, "") for message in newest_first)
        shapes = (self._shapes.get(self._hashes.get(name, "")) for name in names)
        return next((shape for shape in shapes if shape is not None), self._snapshot)


Changes = Mapping[MessageId, Callable[[Message], Message]]


def command_changes(messages: Sequence[Message], meta: Collection[MessageId]) -> Changes:
    """Return how to mark messages by what commands tell of them, in the order they are sent.

    A command that is sent to the model is followed by its text, a record of ``meta``; one that the
    client carries out itself, such as ``/model``, by what it printed.
    """
    return dict(_changes(messages, meta))


def with_changes(messages: Iterable[Message], changes: Changes) -> tuple[Message, ...]:
    """Return the messages with those changes."""
    return tuple(
        changes[message.id](message) if message.id in changes else message for message in messages
    )


def _changes(
    messages: Sequence[Message], meta: Collection[MessageId]
) -> Iterator[tuple[MessageId, Callable[[Message], Message]]]:
    for message, following in pairwise(messages):
        line = _command(message)
        if not line:
            continue
        if following.role == "user" and is_clients(following.parts):
            yield message.id, partial(_typed, parts=_parts(message, ""), is_injected=True)
        elif following.id in meta and not following.origin.is_synthetic:
            yield message.id, partial(_typed, parts=_parts(message, line), is_injected=False)
            yield following.id, _instruction


def _command(message: Message) -> str:
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    return command_in(texts[0]) if message.role == "user" and len(texts) == 1 else ""


def _parts(message: Message, line: str) -> tuple[Part, ...]:
    """Return the parts of a user's command, ``line``, or of one for the client, ""."""
    return tuple(
        replace(part, typed=line) if isinstance(part, TextPart) else part for part in message.parts
    )


def _typed(message: Message, *, parts: tuple[Part, ...], is_injected: bool) -> Message:
    origin = replace(message.origin, is_injected=is_injected)
    return replace(message, parts=parts, origin=origin)


def _instruction(message: Message) -> Message:
    return replace(message, origin=replace(message.origin, is_instruction=True))
