"""Measure the text of a file that was not read: what a model may be sent, but nobody counted.

Everything in a record that is not at or below the path of a part is unread, whatever it is called.
Only the fields that clients and APIs never send are listed, in ``UnsentFields``.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from compactctl.formats.records.decode import complete_value
from compactctl.model.json_paths import json_in
from compactctl.model.message import JsonPath, MediaPart, Part, ToolCallPart, media_of
from compactctl.model.tags import TAG_NAMES
from compactctl.model.transcript import Unread
from compactctl.records import dataclass
from compactctl.tokens.media import is_unsized

# Beside text that was read, shorter texts are names, titles or dates.
_MIN_TEXT = 32
# Longer words are not ids, paths or URLs. A list of many short strings is one text.
_MAX_WORD, _MIN_LIST = 512, 512
# Limit on the characters searched for copies in one value; beyond it only whole texts are compared.
_MAX_COMPARED = 2_000_000_000
# A single word of these characters may be an id, a URL, a path or a hash. Prose has spaces or other
# letters; JSON and code have brackets or quotes.
_ONE_WORD = re.compile(r"[\w+/=.:,;@~%?&#$*!|-]*", re.ASCII)
# Lists of alternative answers; the conversation continues with the first.
_ALTERNATIVES = (("choices",), ("candidates",))
# A record with one of these keys, or an object in it, may be a message.
_MESSAGE_KEYS = frozenset(
    {"content", "parts", "blocks", "text", "message", "messages"}
    | {"arguments", "input", "output", "result", "instructions", "base_instructions"}
)
# The field name of text outside of any field, and of a line that is not JSON.
_NO_FIELD, _DAMAGED = "values", "damaged lines"


def _is_sent(_: Mapping[str, Any]) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsentFields:
    """The fields of a format's records that hold no text for a model beside that of the parts.

    Attributes:
        keys: keys of what is never sent, or is counted with a part.
        labels: keys of facts about a message: never sent beside a text. A message that has nothing
            else may have its text there.
        is_unsent: whether a block of a message is never sent.
    """

    keys: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()
    is_unsent: Callable[[Mapping[str, Any]], bool] = _is_sent

    def __or__(self, other: "UnsentFields") -> "UnsentFields":
        """Return the fields of either."""
        tests = {self.is_unsent, other.is_unsent} - {_is_sent}
        return UnsentFields(
            keys=self.keys | other.keys,
            labels=self.labels | other.labels,
            is_unsent=(lambda block: any(test(block) for test in tests)) if tests else _is_sent,
        )


# Of all formats: tags, ids and names, and what only its provider can read.
COMMON_UNSENT = UnsentFields(
    keys=frozenset(
        {
            *TAG_NAMES,
            "id",
            "type",
            "role",
            "timestamp",
            "model",
            "name",
            "cwd",
            "signature",
            "thoughtSignature",
            "thought_signature",
            "encrypted_content",
            "redactedData",
            "reasoningEncryptedContent",
        }
    ),
    labels=frozenset(
        {
            # Labels that a user attaches to a request; no API sends them to a model.
            "metadata",
            # Facts about an answer: cost, probabilities, citations of the request.
            "usage",
            "logprobs",
            "annotations",
            "citations",
            "citationMetadata",
            "groundingMetadata",
        }
    ),
)


# Around messages also: HTTP headers, and the error of a request that got no answer.
_ROW_LABELS = frozenset({"headers", "error"})


class UnreadText:
    """Add up read and unread text of a file, record by record, in bytes of UTF-8."""

    def __init__(self, fields: UnsentFields = COMMON_UNSENT) -> None:
        labels = fields.keys | fields.labels
        row_labels = labels | _ROW_LABELS
        self._beside_text = _Search(labels, fields.is_unsent, _MIN_TEXT)
        self._without_text = _Search(fields.keys, fields.is_unsent, 1)
        self._unknown = _Search(fields.keys, fields.is_unsent, _MIN_TEXT)
        self._around = _Search(row_labels, fields.is_unsent, _MIN_TEXT)
        self._pieces = _Search(row_labels, fields.is_unsent, 1)
        self._read = 0
        self._n_unsized = 0
        self._lost: Counter[str] = Counter()
        self._beside: Counter[str] = Counter()
        self._lines: set[int] = set()

    def add_message(
        self, record: object, path: JsonPath, parts: Sequence[Part], line: int, name: str = ""
    ) -> None:
        """Add a message at ``path`` of which ``parts`` were read; () if it is not understood.

        ``name`` is the field of its unread text, "" for the names of its fields.
        """
        self._read += sum(_utf8_size(text_in(part)) for part in parts)
        # What only its provider can read is part of an answer, and not a file.
        media = [media for part in parts for media in media_of(part) if not media.embedded]
        self._n_unsized += sum(map(is_unsized, media))
        self.add_rest(record, path, parts, line, name)

    def add_rest(
        self, record: object, path: JsonPath, parts: Sequence[Part], line: int, name: str = ""
    ) -> None:
        """Add what is beside the ``parts`` of a message that were added already."""
        texts = [text for text in map(text_in, parts) if text]
        # A part without a text may have another value at its path.
        read = [part for part in parts if text_in(part) or isinstance(part, MediaPart)]
        paths = {part.path for part in read} | {m.path for part in parts for m in media_of(part)}
        if path in paths or () in paths:
            return
        search = self._beside_text if texts else self._without_text
        self._note(self._lost, search.find(record, path, paths), texts, line, name)

    def add_row(
        self, row: object, path: JsonPath, paths: set[JsonPath], texts: Sequence[str], line: int
    ) -> None:
        """Add what is around the messages of a row.

        ``paths`` lead to whatever was read or added in it, and ``texts`` were read.
        """
        if path not in paths:
            self._note(self._beside, self._around.find(row, path, paths), texts, line)

    def add_answer(self, answer: object, path: JsonPath, line: int) -> None:
        """Add the logged answer to a request if nothing of it was read.

        Its pieces may be short; what is shorter than a text may also be a status.
        """
        texts = [*self._around.find(answer, path, set())]
        pieces = [] if texts else self._pieces.find(answer, path, set())
        self._note(self._lost, texts, (), line, _last_key(path))
        self._note(self._beside, pieces, (), line, _last_key(path))

    def add_unknown(self, value: object, line: int, name: str = "") -> None:
        """Add a record of unknown type, which may be a message or hold one."""
        self._note(self._lost, self._unknown.find(value, (), set()), (), line, name)

    def add_others(
        self, value: object, path: JsonPath, paths: set[JsonPath], texts: Sequence[str], line: int
    ) -> None:
        """Add what may be messages in the value at ``path``, beside those at ``paths``.

        What repeats one of the ``texts``, which were read, is none.
        """
        self._note(self._lost, self._unknown.find(value, path, paths), texts, line)

    def add_message_like(self, record: Mapping[str, Any], line: int) -> None:
        """Add a record of unknown type, if it looks like a message and not like a state."""
        inner = (value for value in record.values() if isinstance(value, Mapping))
        if any(not _MESSAGE_KEYS.isdisjoint(fields) for fields in (record, *inner)):
            self.add_message(record, (), (), line)

    def add_damaged(self, data: bytes, line: int) -> None:
        """Add what is not JSON: a record that was cut, or a text of any kind."""
        value = complete_value(data)
        if isinstance(value, Mapping | list):
            self.add_message(value, (), (), line, _DAMAGED)
            return
        text = data.decode(errors="replace").strip("\0 \t\r\n")
        if _is_text(text, _MIN_TEXT):
            # What a program printed between the records is of none of them.
            sums = self._lost if text.startswith(("{", "[")) else self._beside
            self._note(sums, [("", text)], (), line, _DAMAGED)

    def total(self) -> Unread:
        """Return the sums, fields with the most text first."""
        return Unread(
            read=self._read,
            lost=self._lost.total(),
            fields=dict((self._lost + self._beside).most_common()),
            first_line=min(self._lines, default=0),
            unsized=self._n_unsized,
        )

    def _note(
        self,
        sums: Counter[str],
        fields: Iterable[tuple[str, str]],
        texts: Sequence[str],
        line: int,
        name: str = "",
    ) -> None:
        unread = [*fields]
        if not unread:
            return
        is_repeated = _repeat_checker(texts, len(unread))
        for field, text in unread:
            # Exporters repeat in one field what stands in another.
            if not is_repeated(text):
                sums[name or field] += _utf8_size(text)
                self._lines.add(line)


def text_in(part: Part) -> str:
    """Return the text of a part; "" for media."""
    match part:
        case ToolCallPart():
            return part.arguments
        case MediaPart():
            return ""
        case _:
            return part.text


@dataclass(frozen=True, slots=True)
class _Search:
    """A search for strings of at least ``min_text`` characters that are text for a model.

    What stands under the keys ``unsent``, and in blocks that are not sent, is none.
    """

    unsent: frozenset[str]
    is_unsent: Callable[[Mapping[str, Any]], bool]
    min_text: int

    def find(
        self, value: object, path: JsonPath, paths: set[JsonPath]
    ) -> Iterator[tuple[str, str]]:
        """Yield the texts in the value at ``path`` that are not at or below ``paths``.

        Each has the name of its field, the outermost key below which nothing was read::

            {"messages": [{"content": TEXT}], "extra": {"note": NOTE}}    ("extra", NOTE)
        """
        start = len(path)
        ancestors = {leaf[:end] for leaf in paths for end in range(start, len(leaf))}
        pending: list[tuple[Any, JsonPath, str]] = [(value, path, "")]
        while pending:
            item, path, field = pending.pop()
            is_read = path in ancestors
            if is_read and isinstance(item, str):
                # A text above a part contains it as JSON.
                item = json_in(item)
            elif not is_read and len(path) > start:
                field = field or _last_key(path)
            if isinstance(item, Mapping):
                if not self.is_unsent(item):
                    pending += self._members(item, path, field, ancestors, paths)
            elif isinstance(item, list):
                elements = item[:1] if path[-1:] in _ALTERNATIVES and not is_read else item
                if not is_read and all(isinstance(element, str) for element in elements):
                    yield from self._list_texts(elements, field or _last_key(path))
                else:
                    pending += [
                        (element, (*path, index), field)
                        for index, element in enumerate(elements)
                        if (*path, index) not in paths
                    ]
            elif isinstance(item, str) and _is_text(item, self.min_text):
                yield field or _last_key(path), item

    def _members(
        self,
        item: Mapping[str, Any],
        path: JsonPath,
        field: str,
        ancestors: set[JsonPath],
        paths: set[JsonPath],
    ) -> Iterator[tuple[Any, JsonPath, str]]:
        """Yield the values of an object that may hold text, with their paths and fields."""
        for key, inner in item.items():
            if isinstance(inner, str):
                if len(inner) < self.min_text:
                    continue
            elif not inner or not isinstance(inner, dict | list):
                continue
            inner_path = (*path, key)
            if inner_path in ancestors or (inner_path not in paths and key not in self.unsent):
                yield inner, inner_path, field

    def _list_texts(self, texts: Sequence[str], field: str) -> Iterator[tuple[str, str]]:
        """Yield the texts of a list of strings: all of them if they are many."""
        if sum(map(len, texts)) >= _MIN_LIST:
            yield from ((field, text) for text in texts)
        else:
            yield from ((field, text) for text in texts if _is_text(text, self.min_text))


def _is_text(value: str, min_text: int) -> bool:
    """Whether a string may be text for a model, and is not an id, a name or a date."""
    if len(value) < min_text or value.isspace():
        return False
    return len(value) >= _MAX_WORD or not _ONE_WORD.fullmatch(value)


def _repeat_checker(texts: Sequence[str], n_unread: int) -> Callable[[str], bool]:
    """Return a predicate: is a text contained in the read ``texts``, or every text of its JSON?"""
    embedded = (inner for text in texts for inner in _texts_in_json(text))
    read_text = "\n".join([*texts, *embedded])
    if n_unread * len(read_text) > _MAX_COMPARED:
        return {text.strip() for text in texts}.__contains__

    def is_repeated(text: str) -> bool:
        if text.strip() in read_text:
            return True
        inner_texts = _texts_in_json(text)
        return bool(inner_texts) and all(inner.strip() in read_text for inner in inner_texts)

    return is_repeated


_ALL_TEXTS = _Search(frozenset(), _is_sent, _MIN_TEXT)


def _texts_in_json(text: str) -> list[str]:
    """Return the texts of a JSON text; [] for any other text."""
    if not text.lstrip().startswith(("{", "[")):
        return []
    value = json_in(text)
    if isinstance(value, str):
        return []
    return [inner for _, inner in _ALL_TEXTS.find(value, (), set())]


def _last_key(path: JsonPath) -> str:
    return next((key for key in reversed(path) if isinstance(key, str)), _NO_FIELD)


def _utf8_size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
