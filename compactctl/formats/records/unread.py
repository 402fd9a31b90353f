"""Measure the text that a format of plain messages does not read, by field.

Everything that is not at or below the path of a part is unread. So the fields of a log need not be
listed, except the few that contain prose and are never sent to a model.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from compactctl.model.json_paths import json_in
from compactctl.model.message import JsonPath, MediaPart, Part, ToolCallPart
from compactctl.model.tags import TAG_NAMES
from compactctl.model.transcript import Unread

# Shorter texts are names, titles or dates.
_MIN_TEXT = 32
# Limit on the characters searched for copies in one value; beyond it only whole texts are compared.
_MAX_COMPARED = 2_000_000_000
# A single word of these characters is an id, a URL, a path or base64. Prose has spaces or other
# letters; JSON and code have brackets or quotes.
_ONE_WORD = re.compile(r"[\w+/=.:,;@~%?&#$*!|-]*", re.ASCII)
_UNSENT_KEYS = frozenset(
    {
        *TAG_NAMES,
        # Labels that a user attaches to a request; no API sends them to a model.
        "metadata",
        # Facts about an answer: cost, probabilities, citations of the request, or an error.
        "usage",
        "logprobs",
        "annotations",
        "citations",
        "citationMetadata",
        "groundingMetadata",
        "error",
        # HTTP headers.
        "headers",
    }
)
# Lists of alternative answers; the conversation continues with the first.
_ALTERNATIVES = (("choices",), ("candidates",))

# The field name of text outside of any field.
_NO_FIELD = "values"


class UnreadText:
    """Add up read and unread text of a file, value by value, in bytes of UTF-8."""

    def __init__(self) -> None:
        self._read = 0
        self._fields: Counter[str] = Counter()

    def add_value(
        self, value: object, parts: Iterable[Part], records: Mapping[JsonPath, str]
    ) -> None:
        """Add a value of which ``parts`` were read.

        ``records`` maps the paths of its records to the field name of their unread text, or to ""
        for the names of their fields.
        """
        read_texts, unread = _texts(value, {part.path for part in parts if text_in(part)}, records)
        self._read += sum(map(_utf8_size, read_texts))
        is_repeated = _repeat_checker(read_texts, len(unread)) if unread else None
        for field, text in unread:
            # Exporters repeat in one field what stands in another.
            if is_repeated is None or not is_repeated(text):
                self._fields[field] += _utf8_size(text)

    def total(self) -> Unread:
        """Return the sums, fields with the most text first."""
        return Unread(read=self._read, fields=dict(self._fields.most_common()))


def text_in(part: Part) -> str:
    """Return the text of a part; "" for media."""
    match part:
        case ToolCallPart():
            return part.arguments
        case MediaPart():
            return ""
        case _:
            return part.text


def _texts(
    value: object, paths: set[JsonPath], records: Mapping[JsonPath, str]
) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the texts of a value at or below ``paths``, and all other texts with their fields.

    The field of a text is the outermost key below which nothing was read::

        {"messages": [{"content": TEXT}], "extra": {"note": NOTE}}

    gives ``[TEXT]`` and ``[("extra", NOTE)]`` for the path of the content. Short texts are skipped.
    """
    ancestors = {path[:end] for path in (*paths, *records) for end in range(len(path))} | {*records}
    read_texts: list[str] = []
    unread: list[tuple[str, str]] = []
    # A value, its path and its field: None inside of a part, "" above a part or record.
    pending: list[tuple[Any, JsonPath, str | None]] = [(value, (), "")]
    while pending:
        item, path, field = pending.pop()
        if path in paths:
            field = None
        elif field == "":
            field = records.get(path) or ("" if path in ancestors else _last_key(path))
            if not field:
                # A text above a part contains it as JSON.
                item = json_in(item)
        if isinstance(item, Mapping):
            pending += [
                (inner, (*path, key), field)
                for key, inner in item.items()
                if field is None or key not in _UNSENT_KEYS or (*path, key) in ancestors
            ]
        elif isinstance(item, list):
            is_alternatives = field is not None and path[-1:] in _ALTERNATIVES
            answers = item[:1] if is_alternatives else item
            pending += [(inner, (*path, index), field) for index, inner in enumerate(answers)]
        elif isinstance(item, str) and _is_text(item):
            if field is None:
                read_texts.append(item)
            else:
                unread.append((field or _last_key(path), item))
    return read_texts, unread


def _repeat_checker(read_texts: list[str], n_unread: int) -> Callable[[str], bool]:
    """Return a predicate: is a text contained in the read texts, or every text of its JSON?"""
    embedded = (inner for text in read_texts for inner in _texts_in_json(text))
    read_text = "\n".join([*read_texts, *embedded])
    if n_unread * len(read_text) > _MAX_COMPARED:
        return {text.strip() for text in read_texts}.__contains__

    def is_repeated(text: str) -> bool:
        if text.strip() in read_text:
            return True
        inner_texts = _texts_in_json(text)
        return bool(inner_texts) and all(inner.strip() in read_text for inner in inner_texts)

    return is_repeated


def _texts_in_json(text: str) -> list[str]:
    """Return the texts of a JSON text; [] for any other text."""
    if not text.lstrip().startswith(("{", "[")):
        return []
    value = json_in(text)
    return [] if isinstance(value, str) else _texts(value, {()}, {})[0]


def _last_key(path: JsonPath) -> str:
    return next((key for key in reversed(path) if isinstance(key, str)), _NO_FIELD)


def _is_text(value: str) -> bool:
    return len(value) >= _MIN_TEXT and not _ONE_WORD.fullmatch(value)


def _utf8_size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
