"""Which messages of a Copilot CLI session the next request would send.

Events form a list. Marks in it say what became of the messages before them; a rewind undoes marks
too, so that all are carried out only at the end.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from compactctl.model.message import Message, TextPart


@dataclass(frozen=True, slots=True, kw_only=True)
class _HistoryEvent:
    line: int
    kind: Literal["add", "condense", "clear", "truncate"]
    message: Message | None = None
    removed: int = 0


class CopilotHistory:
    """Takes in messages and marks in file order, then tells which messages are still sent."""

    def __init__(self) -> None:
        self._steps: list[_HistoryEvent] = []
        self._typed: dict[str, TextPart] = {}

    def add(self, message: Message, user_text: TextPart | None = None) -> None:
        """Take in the next message; ``user_text`` is what a person wrote of it."""
        self._steps.append(_HistoryEvent(line=message.line, kind="add", message=message))
        if user_text is not None:
            self._typed[message.id] = user_text

    def condense(self, line: int, summary: Message | None) -> None:
        """Take in a compaction: the client goes on with all prompts so far and the summary."""
        self._steps.append(_HistoryEvent(line=line, kind="condense", message=summary))

    def clear(self, line: int, first: Message | None) -> None:
        """Take in that the client started anew, with ``first`` if there is such a message."""
        self._steps.append(_HistoryEvent(line=line, kind="clear", message=first))

    def truncate(self, line: int, removed: int) -> None:
        """Take in that the client left out ``removed`` messages; they are taken to be the oldest.

        Counted from the start they stay the same ones when newer messages are hidden.
        """
        self._steps.append(_HistoryEvent(line=line, kind="truncate", removed=removed))

    def rewind(self, line: int) -> None:
        """Drop everything from ``line`` on."""
        self._steps = [step for step in self._steps if step.line < line]

    def effective(self) -> tuple[Message, ...]:
        """Return the messages that are sent: the newest system prompt, then the conversation."""
        prompts: list[Message] = []
        sent: list[Message] = []
        for step in self._steps:
            if step.message is not None and step.message.role == "system":
                prompts.append(step.message)
            else:
                self._apply(step, sent)
        return (*prompts[-1:], *_without_orphaned_results(sent, self._called()))

    def _apply(self, step: _HistoryEvent, sent: list[Message]) -> None:
        if step.kind == "condense":
            sent[:] = [self._prompt(message) for message in sent if _is_prompt(message)]
        elif step.kind == "clear":
            sent.clear()
        elif step.kind == "truncate":
            del sent[: step.removed]
        if step.message is not None:
            sent.append(step.message)

    def _prompt(self, message: Message) -> Message:
        """Return a prompt as the client repeats it beside a summary: only what was typed."""
        user_text = self._typed.get(message.id)
        return replace(message, parts=(user_text,)) if user_text else message

    def _called(self) -> set[str]:
        messages = [step.message for step in self._steps if step.message]
        return {call.call_id for message in messages for call in message.calls}


def _is_prompt(message: Message) -> bool:
    # A record compactctl wrote is a user message to the client.
    return message.starts_turn or message.origin.is_synthetic


def _without_orphaned_results(sent: Iterable[Message], called: set[str]) -> tuple[Message, ...]:
    """Return the messages without results whose call was made, but is no longer sent."""
    sent = tuple(sent)
    gone = called - {call.call_id for message in sent for call in message.calls}
    return tuple(
        message
        for message in sent
        if not message.results or any(part.call_id not in gone for part in message.results)
    )
