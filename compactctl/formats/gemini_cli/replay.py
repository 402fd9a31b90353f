"""What a session of Gemini CLI comes to: its file is a log in which later lines take back earlier.

As the client loads it (0.61, ``loadConversationRecord``): a record with an id takes the place of an
earlier one with that id, ``$rewindTo`` takes back a message and all after it, and ``$set`` with
``messages`` takes back everything before it. A resumed session writes all that it has in that way.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from compactctl.formats.records.builder import message_id_for
from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.json_values import list_or_empty, object_or_empty, text_or_none
from compactctl.model.message import JsonPath
from compactctl.model.tags import read_tags

SET, REWIND = "$set", "$rewindTo"


@dataclass(frozen=True, slots=True)
class GeminiRecord:
    """A record of a message, and where it stands; ``name`` is what later ones replace it by."""

    record: Mapping[str, Any]
    element: JsonPath
    decoded: Decoded
    name: str


@dataclass(slots=True)
class SessionReplay:
    """Takes in records in file order.

    Attributes:
        entries: all records of messages.
        active: places among ``entries`` of those that are in effect, by name, in their order.
        superseded: places of older versions that the newer one hides, by name; without it they
            would be in effect again.
        full_list_lines: the lines that put all messages anew.
    """

    entries: list[GeminiRecord] = field(default_factory=list)
    active: dict[str, int] = field(default_factory=dict)
    superseded: dict[str, list[int]] = field(default_factory=dict)
    full_list_lines: set[int] = field(default_factory=set)

    def apply(self, value: Mapping[str, Any], decoded: Decoded) -> str | None:
        """Take in a record; return what kind of one it is when it is not a message, else None."""
        if isinstance(value.get(REWIND), str):
            self._rewind(value[REWIND])
            return REWIND
        if isinstance(value.get("id"), str):
            self._put(value, (), decoded)
            return None
        if isinstance(value.get(SET), Mapping):
            self._set(value[SET], decoded)
            return SET
        if not is_session(value):
            return ""
        self._put_all(value.get("messages"), ("messages",), decoded)
        return "session"

    def newest(self) -> Iterator[int]:
        """Yield the places of the newest version of every message there ever was."""
        found = {entry.name: place for place, entry in enumerate(self.entries)}
        yield from ({**found, **self.active}).values()

    def _set(self, updates: Mapping[str, Any], decoded: Decoded) -> None:
        messages = updates.get("messages")
        if isinstance(messages, list):
            self.full_list_lines.add(decoded.index)
            self.active.clear()
            self.superseded.clear()
            self._put_all(messages, (SET, "messages"), decoded)

    def _put_all(self, values: object, path: JsonPath, decoded: Decoded) -> None:
        for index, value in enumerate(list_or_empty(values)):
            record = object_or_empty(value)
            if isinstance(record.get("id"), str):
                self._put(record, (*path, index), decoded)

    def _put(self, record: Mapping[str, Any], element: JsonPath, decoded: Decoded) -> None:
        name = message_id_for(record["id"], read_tags(record))
        if name in self.active:
            self.superseded.setdefault(name, []).append(self.active[name])
        # As in the client's map, a newer version stays at the place of the first one.
        self.active[name] = len(self.entries)
        self.entries.append(GeminiRecord(record, element, decoded, name))

    def _rewind(self, name: str) -> None:
        """Take back a message and all after it; all there are when it is not among them."""
        names = list(self.active)
        removed_ids = names[names.index(name) :] if name in self.active else names
        for each in removed_ids:
            del self.active[each]
            self.superseded.pop(each, None)


def is_session(record: Mapping[str, Any]) -> bool:
    """Tell whether a record names a session of this client."""
    return all(text_or_none(record.get(name)) for name in ("sessionId", "projectHash"))
