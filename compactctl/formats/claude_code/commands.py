"""Commands that a person typed in Claude Code: a task of theirs, or something for the client."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from compactctl.history.voices import command_in, is_clients
from compactctl.model.message import Message, MessageId, TextPart

Changes = Mapping[MessageId, Mapping[str, Any]]


def command_changes(messages: Sequence[Message], meta: Collection[MessageId]) -> Changes:
    """Return what commands tell of ``messages`` in the order they are sent, by id and field.

    A command that is sent to the model is followed by its text, a record of ``meta``; one that the
    client carries out itself, such as ``/model``, by what it printed.
    """
    return dict(_changes(messages, meta))


def with_changes(messages: Iterable[Message], changes: Changes) -> tuple[Message, ...]:
    """Return the messages with those changes."""
    return tuple(
        replace(message, **changes[message.id]) if message.id in changes else message
        for message in messages
    )


def _changes(
    messages: Sequence[Message], meta: Collection[MessageId]
) -> Iterator[tuple[MessageId, Mapping[str, Any]]]:
    for message, following in pairwise(messages):
        line = _command(message)
        if not line:
            continue
        if following.role == "user" and is_clients(following.parts):
            yield message.id, _typed(message, "")
        elif following.id in meta and not following.synthetic:
            yield message.id, _typed(message, line)
            yield following.id, {"instructs": True}


def _command(message: Message) -> str:
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    return command_in(texts[0]) if message.role == "user" and len(texts) == 1 else ""


def _typed(message: Message, line: str) -> Mapping[str, Any]:
    """Return the fields of a person's command, ``line``, or of one for the client, ""."""
    parts = tuple(
        replace(part, typed=line) if isinstance(part, TextPart) else part for part in message.parts
    )
    return {"parts": parts, "injected": not line}
