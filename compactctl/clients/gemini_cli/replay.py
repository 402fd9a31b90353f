"""Replay the log of a Gemini CLI session, in which later lines undo or replace earlier ones.

As the client does (0.61, ``loadConversationRecord``): a record replaces an earlier one with its id,
``$rewindTo`` removes a message and all after it, and ``$set`` with ``messages`` replaces all
messages. A resumed session writes its whole history that way. Lines that are not one JSON value
each are skipped.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from compactctl.clients.gemini_cli.record_kinds import REWIND, SESSION, SESSION_FIELDS, SET
from compactctl.clients.records.builder import message_id_for
from compactctl.clients.records.decode import NOT_UTF8, Decoded
from compactctl.clients.records.json_values import list_or_empty, object_or_empty, text_or_none
from compactctl.model.message import JsonPath
from compactctl.model.tags import read_tags
from compactctl.records import Record, field


class GeminiRecord(Record, kw_only=False):
    """A message's record and its position; a later record with the same ``name`` replaces it."""

    record: Mapping[str, Any]
    record_path: JsonPath
    decoded: Decoded
    name: str


class SessionReplay(Struct):
    """The messages of a session; apply its records in file order.

    Attributes:
        entries: all records of messages.
        active: the indices in ``entries`` of the messages in effect, by name, in order.
        superseded: the indices of older versions by name; without the newest one, they would be in
            effect again.
        full_list_lines: the lines that replace all messages.
        strays: what stands among messages and has no id, or beside them, with the indices of its
            lines.
    """

    entries: list[GeminiRecord] = field(default_factory=list)
    active: dict[str, int] = field(default_factory=dict)
    superseded: dict[str, list[int]] = field(default_factory=dict)
    full_list_lines: set[int] = field(default_factory=set)
    strays: list[tuple[Any, int]] = field(default_factory=list)

    def apply(self, value: Mapping[str, Any], decoded: Decoded) -> str | None:
        """Apply a record; return None for a message, else its kind, "" for an unknown one."""
        if isinstance(value.get(REWIND), str):
            if _is_loaded(decoded):
                self._rewind(value[REWIND])
            return REWIND
        if isinstance(value.get("id"), str):
            self._add(value, (), decoded)
            return None
        if isinstance(value.get(SET), Mapping):
            self._set(value[SET], decoded)
            return SET
        if not is_session(value):
            return ""
        self._add_all(value.get("messages"), ("messages",), decoded)
        self._add_others(value, decoded)
        return SESSION

    def newest(self) -> Iterator[int]:
        """Yield the indices of the newest version of every message, even a removed one."""
        last = {entry.name: index for index, entry in enumerate(self.entries)}
        yield from ({**last, **self.active}).values()

    def _set(self, updates: Mapping[str, Any], decoded: Decoded) -> None:
        messages = updates.get("messages")
        if isinstance(messages, list):
            if _is_loaded(decoded):
                self.full_list_lines.add(decoded.index)
                self.active.clear()
                self.superseded.clear()
            self._add_all(messages, (SET, "messages"), decoded)
        self._add_others(updates, decoded)

    def _add_others(self, fields: Mapping[str, Any], decoded: Decoded) -> None:
        """Add what stands beside the messages of a session, and in the place of their list."""
        messages = fields.get("messages")
        names = SESSION_FIELDS | ({"messages"} if isinstance(messages, list) else set())
        others = {name: value for name, value in fields.items() if name not in names}
        if others:
            self.strays.append((others, decoded.index))

    def _add_all(self, values: object, path: JsonPath, decoded: Decoded) -> None:
        for index, value in enumerate(list_or_empty(values)):
            record = object_or_empty(value)
            if isinstance(record.get("id"), str):
                self._add(record, (*path, index), decoded)
            else:
                self.strays.append((value, decoded.index))

    def _add(self, record: Mapping[str, Any], record_path: JsonPath, decoded: Decoded) -> None:
        name = message_id_for(record["id"], read_tags(record))
        if _is_loaded(decoded):
            if name in self.active:
                self.superseded.setdefault(name, []).append(self.active[name])
            # As in the client's map, a newer version keeps the position of the first one.
            self.active[name] = len(self.entries)
        self.entries.append(GeminiRecord(record, record_path, decoded, name))

    def _rewind(self, name: str) -> None:
        """Remove a message and all after it; remove all if it is not in effect."""
        names = list(self.active)
        for removed in names[names.index(name) :] if name in self.active else names:
            del self.active[removed]
            self.superseded.pop(removed, None)


def _is_loaded(decoded: Decoded) -> bool:
    return decoded.damage in (None, NOT_UTF8)


def is_session(record: Mapping[str, Any]) -> bool:
    """Return whether a record has the ids of a session of this client."""
    return all(text_or_none(record.get(name)) for name in ("sessionId", "projectHash"))
