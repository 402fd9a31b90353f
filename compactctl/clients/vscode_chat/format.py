"""The format of VS Code's Copilot Chat: read in all its forms, written as an export."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compactctl.clients.format import Format
from compactctl.clients.records.builder import LineReader
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.json_values import (
    list_or_empty,
    object_or_empty,
    text_or_none,
)
from compactctl.clients.records.unread import COMMON_UNSENT, UnsentFields
from compactctl.clients.vscode_chat.changes import is_change, is_state, replay
from compactctl.clients.vscode_chat.chat import (
    ChatMessage,
    RequestRest,
    as_immutable,
    chat_messages,
    model_of,
    new_item_value,
    request_rests,
)
from compactctl.clients.vscode_chat.request_log import logged_messages, logged_model, logged_rest
from compactctl.clients.vscode_chat.wrapping import VSCODE_CHAT
from compactctl.model.message import Message, Part, Synthetic, ToolResultPart
from compactctl.model.transcript import PastCompactions, SessionInfo, Transcript
from compactctl.pipeline.writer import InsertionContext

# Reasoning that only its provider can read, and the provider's own markers.
_UNSENT_FIELDS = COMMON_UNSENT | UnsentFields(keys=frozenset({"encrypted", "statefulMarker"}))


class VsCodeChat(Format):
    """Reads chats of VS Code's Copilot Chat; of exported ones it rewrites contents."""

    name = "vscode-copilot-chat"
    title = "VS Code Copilot Chat"

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize a chat, the state of one, or a log of requests."""
        return any(_is_chat(record) or is_state(record) or _is_log(record) for record in records)

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        return _Reader(self.name).read(lines)

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Raise ValueError: requests and rounds are unmovable, so nothing is inserted here."""
        raise ValueError("a chat of VS Code takes no message that its editor did not write")

    def new_content(self, part: Part, current: object, text: str) -> object:
        """Return an item of a prompt for a result; see ``Format.new_content``."""
        return new_item_value(current, text) if isinstance(part, ToolResultPart) else text


class _Reader(LineReader):
    """Reads the documents of a file one by one, or replays its changes at the end."""

    def __init__(self, name: str) -> None:
        super().__init__(name, VSCODE_CHAT, _UNSENT_FIELDS)
        self.effective: list[Message] = []
        self.model: str | None = None
        self._n_conversations = 0
        self._changes: list[Mapping[str, Any]] = []
        self._state: Decoded | None = None

    def add_line(self, decoded: Decoded) -> None:
        for value in decoded.values:
            self._add_value(object_or_empty(value), decoded)

    def _add_value(self, record: Mapping[str, Any], decoded: Decoded) -> None:
        state = object_or_empty(record.get("v")) if is_state(record) else record
        self.builder.add_session(text_or_none(state.get("sessionId")), decoded.index)
        if _is_chat(record):
            messages = chat_messages(record)
            # Exported chats have no session id; the editor's own files have one.
            is_editors = "sessionId" in record
            messages = map(as_immutable, messages) if is_editors else messages
            self._add_chat(record, decoded, [*messages])
        elif _is_log(record):
            logged = [*logged_messages(record)]
            self._add_messages(logged, decoded)
            self._measure(logged_rest(record, logged), decoded)
            self.model = logged_model(record) or self.model
        elif is_change(record):
            self._changes.append(record)
            self._note_change(record, decoded)
        else:
            self.builder.add_opaque(decoded, "a record that is not a chat", value=record)

    def _note_change(self, record: Mapping[str, Any], decoded: Decoded) -> None:
        """Count a change. The messages will have the line of the state that they belong to."""
        if not is_state(record):
            self.builder.add_metadata("change", decoded.n_bytes)
            return
        if self._state is not None:
            self.builder.add_metadata("older state", self._state.n_bytes)
        self._state = decoded

    def _add_chat(
        self, chat: Mapping[str, Any], decoded: Decoded, messages: Sequence[ChatMessage]
    ) -> None:
        self._add_messages(messages, decoded)
        for rest in request_rests(chat, messages):
            self._measure(rest, decoded)
        self.model = model_of(chat) or self.model

    def _measure(self, rest: RequestRest, decoded: Decoded) -> None:
        self.builder.unread.add_others(rest.value, rest.path, rest.paths, rest.texts, decoded.index)

    def _add_messages(self, messages: Iterable[ChatMessage], decoded: Decoded) -> None:
        """Add a chat; each is a conversation, since their requests hold nothing of one another."""
        number, before = self._n_conversations, len(self.builder.messages)
        self._n_conversations += 1
        for chat_message in messages:
            message = self.builder.add_message(
                chat_message.draft,
                chat_message.record,
                decoded,
                record_path=chat_message.record_path,
                conversation=number,
            )
            if message.origin.is_summary and not message.origin.is_synthetic:
                self.effective = [m for m in self.effective if m.conversation != number]
                self.builder.compactions.append(decoded.index)
            self.effective.append(message)
        if len(self.builder.messages) == before:
            self.builder.add_metadata("empty conversation", decoded.n_bytes)

    def finish(self) -> Transcript:
        if self._state is not None:
            state = replay(self._changes)
            self._add_chat(state, self._state, [*map(as_immutable, chat_messages(state))])
        return self.builder.build(
            self.name,
            tuple(self.effective),
            session=SessionInfo(model=self.model),
            compactions=PastCompactions(by_client=bool(self.builder.compactions)),
        )


def _is_chat(record: Mapping[str, Any]) -> bool:
    if not isinstance(record.get("requests"), list):
        return False
    first = object_or_empty(next(iter(list_or_empty(record["requests"])), None))
    return "responderUsername" in record or "requestId" in first


def _is_log(record: Mapping[str, Any]) -> bool:
    prompts = record.get("prompts")
    first = object_or_empty(next(iter(list_or_empty(prompts)), None))
    return isinstance(prompts, list) and isinstance(first.get("logs"), list)
