"""Measures the text that a format of plain messages leaves aside, by the field it stands in.

The paths of the parts tell what was read; everything else is unread. So there is no list of the
fields that a log may hold, only a short one of fields that hold prose and are sent to no model.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from compactctl.model.json_paths import json_in
from compactctl.model.message import JsonPath, MediaPart, Part, ToolCallPart
from compactctl.model.tags import TAG_NAMES
from compactctl.model.transcript import Unread

# A shorter text is a name, a title or a date.
_MIN_TEXT = 32
# Characters that are searched at most for copies in one value; beyond that, copies are whole texts.
_MAX_COMPARED = 2_000_000_000
# One word of such characters is an id, a URL, a path or base64. Prose has spaces or other letters,
# JSON and code have brackets or quotes.
_ONE_WORD = re.compile(r"[\w+/=.:,;@~%?&#$*!|-]*", re.ASCII)
_NOT_FOR_A_MODEL = frozenset(
    {
        *TAG_NAMES,
        # What its user files a request under: every API has it and sends it to no model.
        "metadata",
        # What is told of an answer: its cost, how likely its words were, what it cites of the
        # request, and why there is none.
        "usage",
        "logprobs",
        "annotations",
        "citations",
        "citationMetadata",
        "groundingMetadata",
        "error",
        # How a request travelled.
        "headers",
    }
)
# Of several answers to one request, the first goes on.
_ALTERNATIVES = (("choices",), ("candidates",))


# What text is called that stands in no field.
_NAMELESS = "values"


class UnreadText:
    """Adds up the text of a file, one JSON value after the other, in bytes of UTF-8."""

    def __init__(self) -> None:
        self._read = 0
        self._fields: Counter[str] = Counter()

    def value(self, value: object, parts: Iterable[Part], records: Mapping[JsonPath, str]) -> None:
        """Take in a value of which ``parts`` were read.

        ``records`` has the paths of the records in it, with a name for what is unread in each; ""
        leaves it to the fields.
        """
        read, unread = _texts(value, {part.path for part in parts if text_in(part)}, records)
        self._read += sum(map(_n_bytes, read))
        repeats = _repeats(read, len(unread)) if unread else None
        for field, text in unread:
            # Exporters repeat in one field what stands in another.
            if repeats is None or not repeats(text):
                self._fields[field] += _n_bytes(text)

    def total(self) -> Unread:
        """Return what was added up, the field with the most text first."""
        return Unread(read=self._read, fields=dict(self._fields.most_common()))


def _texts(
    value: object, paths: set[JsonPath], records: Mapping[JsonPath, str]
) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the texts in a value that stand at or below ``paths``, and all others by field.

    A field is named by the outermost key below which nothing was read.
    """
    above = {path[:end] for path in (*paths, *records) for end in range(len(path))} | {*records}
    read: list[str] = []
    unread: list[tuple[str, str]] = []
    # A value, its path, and the field that it is in: None for a part, "" above what was read.
    left: list[tuple[Any, JsonPath, str | None]] = [(value, (), "")]
    while left:
        item, path, field = left.pop()
        if path in paths:
            field = None
        elif field == "":
            field = records.get(path) or ("" if path in above else _last_key(path))
            if not field:
                # A text above what was read holds it as JSON.
                item = json_in(item)
        if isinstance(item, Mapping):
            left += [
                (inner, (*path, key), field)
                for key, inner in item.items()
                if field is None or key not in _NOT_FOR_A_MODEL or (*path, key) in above
            ]
        elif isinstance(item, list):
            is_first_alone = field is not None and path[-1:] in _ALTERNATIVES
            answers = item[:1] if is_first_alone else item
            left += [(inner, (*path, index), field) for index, inner in enumerate(answers)]
        elif isinstance(item, str) and _is_text(item):
            if field is None:
                read.append(item)
            else:
                unread.append((field or _last_key(path), item))
    return read, unread


def _repeats(read: list[str], n_unread: int) -> Callable[[str], bool]:
    """Return what tells whether a text repeats one that was read, or JSON all of its texts."""
    known = "\n".join([*read, *(text for each in read for text in _texts_in_json(each))])
    if n_unread * len(known) > _MAX_COMPARED:
        return {text.strip() for text in read}.__contains__
    return lambda text: (
        text.strip() in known
        or (bool(inner := _texts_in_json(text)) and all(each.strip() in known for each in inner))
    )


def _texts_in_json(text: str) -> list[str]:
    """Return the texts in a text that holds JSON, none of any other."""
    if not text.lstrip().startswith(("{", "[")):
        return []
    value = json_in(text)
    return [] if isinstance(value, str) else _texts(value, {()}, {})[0]


def text_in(part: Part) -> str:
    """Return the text of a part; a medium has none, whatever stands beside its data."""
    match part:
        case ToolCallPart():
            return part.arguments
        case MediaPart():
            return ""
        case _:
            return part.text


def _last_key(path: JsonPath) -> str:
    return next((key for key in reversed(path) if isinstance(key, str)), _NAMELESS)


def _is_text(value: str) -> bool:
    return len(value) >= _MIN_TEXT and not _ONE_WORD.fullmatch(value)


def _n_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
