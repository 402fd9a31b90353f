"""The system prompt and tool definitions that Claude Code records with its requests, and commands.

Since about 2.1.300 the client writes an ``api-request`` per request. It names the shape that holds
both; the answer names the request.

    {"type": "api-request-shape", "shapeHash": "2c04…", "shape": {"system": […], "tools": […]}}
    {"type": "api-request", "id": "7d40…", "shapeHash": "2c04…"}
    {"type": "assistant", "requestRef": "7d40…", "message": …}

Clients since about 2.1.270 write the same as an attachment, ``prompt_snapshot``, after the first
answer. It is used where there is no ``api-request``. Neither is ever sent from the file: the client
builds both anew for each request.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from compactctl.clients.content.anthropic import content_parts
from compactctl.clients.content.tool_definitions import tool_definitions
from compactctl.clients.records.json_values import list_or_empty, object_or_empty, text_or_none
from compactctl.clients.records.wrapping import command_in, is_from_client
from compactctl.model.message import Message, MessageId, Part, TextPart
from compactctl.records import replace

SHAPE = "api-request-shape"
_SERVER_COMMAND = "/mcp__"
REQUEST = "api-request"
OVERHEAD_REASON = "the client builds the system prompt and tool definitions anew for each request"


def shape_parts(record: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return the system prompt and the tools of an ``api-request-shape``; () if it has neither.

    Tools whose definition is loaded later (``defer_loading``) are left out.
    """
    shape = object_or_empty(record.get("shape"))
    tools = list_or_empty(shape.get("tools"))
    pairs = zip(tools, tool_definitions(tools, ("shape", "tools")), strict=True)
    return (
        *content_parts(shape.get("system"), ("shape", "system")),
        *(part for tool, part in pairs if object_or_empty(tool).get("defer_loading") is not True),
    )


def snapshot_parts(attachment: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return the same for a ``prompt_snapshot``; () for an early one without the tools."""
    tools = [object_or_empty(tool).get("schema") for tool in list_or_empty(attachment.get("tools"))]
    if not tools:
        return ()
    return (
        *content_parts(attachment.get("cliPrefix"), ("attachment", "cliPrefix")),
        *content_parts(attachment.get("systemPrompt"), ("attachment", "systemPrompt")),
        *tool_definitions(tools, ("attachment", "tools")),
    )


class ClaudeRequests:
    """Joins answers, requests and shapes, which are recorded separately; added in file order."""

    def __init__(self) -> None:
        self._shapes: dict[str, Message] = {}
        self._hash_by_request: dict[str, str] = {}
        self._request_by_message: dict[str, str] = {}
        self._snapshot: Message | None = None

    def add_shape(self, record: Mapping[str, Any], message: Message) -> None:
        """Add a shape, already read as a message. The client repeats it at every start."""
        self._shapes.setdefault(text_or_none(record.get("shapeHash")) or "", message)

    def add_snapshot(self, message: Message) -> None:
        """Add a snapshot, already read as a message; the newest counts."""
        self._snapshot = message

    def add_request(self, record: Mapping[str, Any]) -> None:
        """Add an ``api-request``."""
        request_id, shape = text_or_none(record.get("id")), text_or_none(record.get("shapeHash"))
        if request_id and shape:
            self._hash_by_request[request_id] = shape

    def add_answer(self, record: Mapping[str, Any], message: Message) -> None:
        """Add an answer, which may name its request."""
        request_id = text_or_none(record.get("requestRef"))
        if request_id:
            self._request_by_message[message.id] = request_id

    def newest_overhead(self, *histories: Iterable[Message]) -> Message | None:
        """Return what was sent with the request of the newest answer, or None if unknown.

        Later histories are searched only if no answer in the earlier ones has a known shape.
        """
        if not self._shapes:
            return self._snapshot
        newest_first = (message for history in histories for message in reversed([*history]))
        request_ids = (self._request_by_message.get(m.id, "") for m in newest_first)
        hashes = (self._hash_by_request.get(request_id, "") for request_id in request_ids)
        shapes = map(self._shapes.get, hashes)
        return next((shape for shape in shapes if shape is not None), self._snapshot)


Changes = Mapping[MessageId, Callable[[Message], Message]]


def command_changes(messages: Sequence[Message], meta_ids: Collection[MessageId]) -> Changes:
    """Return how to mark slash commands and what follows them; ``messages`` in order of sending.

    A command for the model is followed by its prompt, a record among ``meta_ids``; one that the
    client runs itself, such as ``/model``, by its output.
    """
    return dict(_iter_changes(messages, meta_ids))


def with_changes(messages: Iterable[Message], changes: Changes) -> tuple[Message, ...]:
    """Apply the changes to the messages that have one."""
    if not changes:
        return tuple(messages)
    return tuple(
        changes[message.id](message) if message.id in changes else message for message in messages
    )


def _iter_changes(
    messages: Sequence[Message], meta_ids: Collection[MessageId]
) -> Iterator[tuple[MessageId, Callable[[Message], Message]]]:
    for message, following in pairwise(messages):
        command = _command(message)
        if not command:
            continue
        if following.role == "user" and is_from_client(following.parts):
            parts = _with_typed_text(message, "")
            yield message.id, partial(_with_parts, parts=parts, is_injected=True)
        elif following.id in meta_ids and not following.origin.is_synthetic:
            parts = _with_typed_text(message, command)
            yield message.id, partial(_with_parts, parts=parts, is_injected=False)
            # The prompt of a server is not the operator's.
            if not command.startswith(_SERVER_COMMAND):
                yield following.id, _as_instruction


def _command(message: Message) -> str:
    if message.role != "user":
        return ""
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    return command_in(texts[0]) if len(texts) == 1 else ""


def _with_typed_text(message: Message, typed: str) -> tuple[Part, ...]:
    return tuple(
        replace(part, typed=typed) if isinstance(part, TextPart) else part for part in message.parts
    )


def _with_parts(message: Message, *, parts: tuple[Part, ...], is_injected: bool) -> Message:
    origin = replace(message.origin, is_injected=is_injected)
    return replace(message, parts=parts, origin=origin)


def _as_instruction(message: Message) -> Message:
    return replace(message, origin=replace(message.origin, is_instruction=True))
