"""The messages of a Copilot CLI session that the next request would send.

Some events of the log change what is sent of earlier messages. A rewind undoes such events too, so
they are applied only at the end.
"""

from collections.abc import Sequence
from typing import Literal

from compactctl.model.message import Message, TextPart
from compactctl.records import Record, replace


class _HistoryEvent(Record):
    line: int
    kind: Literal["add", "condense", "clear", "truncate"]
    message: Message | None = None
    removed: int = 0


class CopilotHistory:
    """Records messages and changes in file order; ``effective`` applies them."""

    def __init__(self) -> None:
        self._events: list[_HistoryEvent] = []
        self._typed: dict[str, TextPart] = {}

    def add(self, message: Message, user_text: TextPart | None = None) -> None:
        """Add a message; ``user_text`` is the part of it that the user typed."""
        self._events.append(_HistoryEvent(line=message.line, kind="add", message=message))
        if user_text is not None:
            self._typed[message.id] = user_text

    def condense(self, line: int, summary: Message | None) -> None:
        """Add a compaction, after which the client sends all prompts so far and the summary."""
        self._events.append(_HistoryEvent(line=line, kind="condense", message=summary))

    def clear(self, line: int, first: Message | None) -> None:
        """Add a reset of the context, which starts with the message ``first`` if there is one."""
        self._events.append(_HistoryEvent(line=line, kind="clear", message=first))

    def truncate(self, line: int, removed: int) -> None:
        """Add a truncation of ``removed`` messages, which are assumed to be the oldest.

        Counted from the start, they stay the same when newer messages are hidden.
        """
        self._events.append(_HistoryEvent(line=line, kind="truncate", removed=removed))

    def rewind(self, line: int) -> None:
        """Drop all messages and changes from ``line`` on."""
        self._events = [event for event in self._events if event.line < line]

    def effective(self) -> tuple[Message, ...]:
        """Return the messages that are sent: the newest system prompt, then the conversation."""
        system_prompts: list[Message] = []
        sent: list[Message] = []
        for event in self._events:
            if event.message is not None and event.message.role == "system":
                system_prompts.append(event.message)
            else:
                self._apply(event, sent)
        return (*system_prompts[-1:], *_without_orphaned_results(sent, self._call_ids()))

    def _apply(self, event: _HistoryEvent, sent: list[Message]) -> None:
        if event.kind == "condense":
            sent[:] = [self._typed_prompt(message) for message in sent if _is_prompt(message)]
        elif event.kind == "clear":
            sent.clear()
        elif event.kind == "truncate":
            del sent[: event.removed]
        if event.message is not None:
            sent.append(event.message)

    def _typed_prompt(self, message: Message) -> Message:
        """Return a prompt as the client repeats it before a summary: only what the user typed."""
        user_text = self._typed.get(message.id)
        return replace(message, parts=(user_text,)) if user_text else message

    def _call_ids(self) -> set[str]:
        messages = [event.message for event in self._events if event.message]
        return {call.call_id for message in messages for call in message.calls}


def _is_prompt(message: Message) -> bool:
    # To the client, a synthetic record is a user message too.
    return message.starts_turn or message.origin.is_synthetic


def _without_orphaned_results(
    messages: Sequence[Message], call_ids: set[str]
) -> tuple[Message, ...]:
    """Leave out messages all of whose results belong to calls that are no longer sent."""
    removed_ids = call_ids - {call.call_id for message in messages for call in message.calls}
    return tuple(
        message
        for message in messages
        if not message.results or any(part.call_id not in removed_ids for part in message.results)
    )
