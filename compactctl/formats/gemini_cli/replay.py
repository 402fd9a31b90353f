"""What a session of Gemini CLI comes to: its file is a log in which later lines take back earlier.

As the client loads it (0.61, ``loadConversationRecord``): a record with an id takes the place of an
earlier one with that id, ``$rewindTo`` takes back a message and all after it, and ``$set`` with
``messages`` takes back everything before it. A resumed session writes all that it has in that way.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from compactctl.formats.records.builder import own_id
from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.json_values import list_or_empty, object_or_empty, text_or_none
from compactctl.model.message import JsonPath
from compactctl.model.tags import tags_of

SET, REWIND = "$set", "$rewindTo"


@dataclass(frozen=True, slots=True)
class GeminiRecord:
    """A record of a message, and where it stands; ``name`` is what later ones replace it by."""

    record: Mapping[str, Any]
    element: JsonPath
    decoded: Decoded
    name: str


@dataclass(slots=True)
class Replay:
    """Takes in records in file order.

    Attributes:
        entries: all records of messages.
        shown: places among ``entries`` of those that are in effect, by name, in their order.
        copies: places of older versions that the newer one hides, by name; without it they would
            be in effect again.
        lists: the lines that put all messages anew.
    """

    entries: list[GeminiRecord] = field(default_factory=list)
    shown: dict[str, int] = field(default_factory=dict)
    copies: dict[str, list[int]] = field(default_factory=dict)
    lists: set[int] = field(default_factory=set)

    def take(self, value: Mapping[str, Any], decoded: Decoded) -> str | None:
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
        yield from ({**found, **self.shown}).values()

    def _set(self, updates: Mapping[str, Any], decoded: Decoded) -> None:
        messages = updates.get("messages")
        if isinstance(messages, list):
            self.lists.add(decoded.index)
            self.shown.clear()
            self.copies.clear()
            self._put_all(messages, (SET, "messages"), decoded)

    def _put_all(self, values: object, path: JsonPath, decoded: Decoded) -> None:
        for index, value in enumerate(list_or_empty(values)):
            record = object_or_empty(value)
            if isinstance(record.get("id"), str):
                self._put(record, (*path, index), decoded)

    def _put(self, record: Mapping[str, Any], element: JsonPath, decoded: Decoded) -> None:
        name = own_id(record["id"], tags_of(record))
        if name in self.shown:
            self.copies.setdefault(name, []).append(self.shown[name])
        # As in the client's map, a newer version stays at the place of the first one.
        self.shown[name] = len(self.entries)
        self.entries.append(GeminiRecord(record, element, decoded, name))

    def _rewind(self, name: str) -> None:
        """Take back a message and all after it; all there are when it is not among them."""
        names = list(self.shown)
        gone = names[names.index(name) :] if name in self.shown else names
        for each in gone:
            del self.shown[each]
            self.copies.pop(each, None)


def is_session(record: Mapping[str, Any]) -> bool:
    """Tell whether a record names a session of this client."""
    return all(text_or_none(record.get(name)) for name in ("sessionId", "projectHash"))
