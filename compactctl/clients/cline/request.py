"""What Cline does with the messages of a session of its SDK when it makes a request.

Each step is a function of messages, after the client's ``MessageBuilder.buildForApi`` (3.0.65).
How long a text may be is a fact about its record; ``mark_omitted`` depends on other messages, and
so on what a compaction hides. Of requests above six megabytes of text the client cuts more, and of
a picture that was read again it sends the newest alone; neither is followed here.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeGuard

from compactctl.clients.records.json_values import (
    integer_or_none,
    json_text,
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
    utf16_units,
)
from compactctl.history.omissions import omitted, with_each
from compactctl.model.json_parser import parse_json
from compactctl.model.message import (
    CallId,
    FilePart,
    MediaPart,
    Message,
    Part,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.records import replace

# At most so many UTF-16 units are sent of a text in a result, of a file, and of an answer; and of
# an answer that repeats the markup of calls.
_MAX_RESULT, _MAX_FILE, _MAX_ANSWER, _MAX_MARKUP = 8_000, 50_000, 200_000, 12_000
_CUT = "\n\n...[truncated {} chars]...\n\n"
_CUT_ANSWER = "\n\n...[assistant text truncated: omitted {} chars]...\n\n"
_CUT_MARKUP = (
    "\n\n...[assistant text truncated: omitted {} chars due to repeated tool-call markup]...\n\n"
)
_MARKUP = re.compile(
    r"<\s*(?:[|\uff5c]\s*)?DSML\s*(?:[|\uff5c]\s*)?(?:tool_calls|invoke)\b[^>]*>"
    r"|<\s*/?\s*(?:tool_calls?|function_calls?|invoke)\b[^>]*>",
    re.IGNORECASE,
)
_MIN_MARKUP = 8
# What is sent of the result of a call that has none.
_MISSING = "Tool execution was interrupted before a result was produced."
# Reads of a file that was read again are replaced as soon as that saves so many bytes.
_READ_TOOLS = frozenset({"read", "read_files"})
_OUTDATED, _MIN_OUTDATED = "[outdated - see the latest file content]", 65_536
_NO_CALL = CallId("")
_RANGE = re.compile(r"(.*):([0-9]{1,9})-(EOF|[0-9]{1,9})")
_IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
# Characters of base64 of one picture, and of all of a request; the oldest come first.
_MAX_IMAGE, _MAX_IMAGES = 5 * 2**20, 8 * 2**20


def cut_texts(record: Mapping[str, Any]) -> tuple[Mapping[str, Any], int]:
    """Cut the long texts of a message in the middle (``transformBlock``); return how many, too."""
    content, role = record.get("content"), record.get("role")
    if isinstance(content, str):
        text, count = _cut_answer(content) if role == "assistant" else (content, 0)
        return {**record, "content": text}, count
    pairs = [_cut_block(block, role) for block in list_or_empty(content)]
    if all(old is new for old, (new, _) in zip(list_or_empty(content), pairs, strict=True)):
        return record, 0
    return {**record, "content": [block for block, _ in pairs]}, sum(count for _, count in pairs)


def blocks_of_result(text: str) -> list[Mapping[str, str]]:
    """Return a new text of a result in blocks that the client does not cut."""
    blocks: list[Mapping[str, str]] = []
    start = 0
    while start < len(text):
        end = start + _MAX_RESULT
        while utf16_units(text[start:end]) > _MAX_RESULT:
            end -= max(1, (utf16_units(text[start:end]) - _MAX_RESULT) // 2)
        blocks.append({"type": "text", "text": text[start:end]})
        start = end
    return blocks


def _whole_text(content: object) -> str | None:
    """Return the text that was divided by ``blocks_of_result``; None if that was not."""
    texts = [
        text_or_empty(block.get("text"))
        for block in map(object_or_empty, list_or_empty(content))
        if block.get("type") == "text"
    ]
    if not texts[1:] or len(texts) < len(list_or_empty(content)):
        return None
    is_full = all(utf16_units(text) in (_MAX_RESULT - 1, _MAX_RESULT) for text in texts[:-1])
    return "".join(texts) if is_full and utf16_units(texts[-1]) <= _MAX_RESULT else None


def _cut_block(block: Any, role: object) -> tuple[Any, int]:  # noqa: ANN401 - JSON is any value
    fields = object_or_empty(block)
    match fields.get("type"):
        case "tool_result":
            whole = _whole_text(fields.get("content"))
            if whole is not None:
                return {**fields, "content": whole}, 0
            content, count = _cut_value(fields.get("content"))
            return ({**fields, "content": content}, count) if count else (block, 0)
        case "file" if isinstance(fields.get("content"), str):
            content, count = _cut(fields["content"], _MAX_FILE, _CUT)
            return ({**fields, "content": content}, count) if count else (block, 0)
        case "text" if role == "assistant" and isinstance(fields.get("text"), str):
            text, count = _cut_answer(fields["text"])
            return ({**fields, "text": text}, count) if count else (block, 0)
        case _:
            return block, 0


def _cut_value(value: Any) -> tuple[Any, int]:  # noqa: ANN401 - JSON is any value
    """Cut all texts in a value, except pictures (``truncateNestedStrings``)."""
    if isinstance(value, str):
        return _cut(value, _MAX_RESULT, _CUT)
    if isinstance(value, list):
        pairs = [_cut_value(item) for item in value]
        return [item for item, _ in pairs], sum(count for _, count in pairs)
    if not isinstance(value, Mapping) or value.get("type") == "image":
        return value, 0
    members = {name: _cut_value(member) for name, member in value.items()}
    cut = {name: member for name, (member, _) in members.items()}
    return cut, sum(count for _, count in members.values())


def _cut_answer(text: str) -> tuple[str, int]:
    is_long = len(text) * 2 > _MAX_MARKUP
    if is_long and sum(1 for _ in _MARKUP.finditer(text)) >= _MIN_MARKUP:
        return _cut(text, _MAX_MARKUP, _CUT_MARKUP)
    return _cut(text, _MAX_ANSWER, _CUT_ANSWER)


def _cut(text: str, limit: int, mark: str) -> tuple[str, int]:
    """Return both ends of a text with a mark between, and 1, if it is longer than ``limit``."""
    if len(text) * 2 <= limit:
        return text, 0
    units = text.encode("utf-16-le", "surrogatepass")
    size = len(units) // 2
    if size <= limit:
        return text, 0
    end = max(0, limit - len(mark.format(size - limit))) // 2
    mark = mark.format(size - 2 * end)
    end = max(0, limit - len(mark)) // 2
    head, tail = units[: 2 * end], units[len(units) - 2 * end :]
    decode = partial(bytes.decode, encoding="utf-16-le", errors="replace")
    return f"{decode(head)}{mark}{decode(tail)}", 1


def drop_shown(message: Message) -> Message:
    """Return a message that is only shown (``displayOnly``) as one of which nothing is sent."""
    return with_each(message, lambda part: omitted(part, "message", "that is only shown"))


class _Read(NamedTuple):
    """A file, or the lines of it from ``first`` to ``last``, that a result holds."""

    path: str
    first: int | None = None
    last: int | None = None

    @property
    def key(self) -> tuple[str, int | None, int | None]:
        """The same for two reads of the same lines."""
        return (self.path, None, None) if self.is_whole else (self.path, self.first or 1, self.last)

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole file."""
        return self.first is None and self.last is None


def drop_outdated(messages: Sequence[Message]) -> Sequence[Message]:
    """Replace what was read of files that were read again since (``commitOutdatedRewrites``).

    A part of a file is outdated too if the whole of it was read, be it earlier.
    """
    asked = {
        call.call_id: _reads_asked_for(call)
        for message in messages
        for call in message.calls
        if call.tool.lower() in _READ_TOOLS
    }
    newest: dict[object, CallId] = {}
    for part in (part for message in messages for part in message.parts):
        # A file that the user attached is newer than what was read of it before.
        if isinstance(part, FilePart):
            newest[_Read(part.file_path).key] = _NO_CALL
        elif _is_read(part):
            newest |= {read.key: part.call_id for read in _reads_in(part, asked)}
    outdated = [
        {read.key for read in _reads_in(result, asked) if _is_outdated(read, result, newest)}
        for result in _results(messages)
    ]
    rewritten = {
        id(result): _without(result, keys)
        for result, keys in zip(_results(messages), outdated, strict=True)
        if keys
    }
    if sum(n_bytes for _, n_bytes in rewritten.values()) < _MIN_OUTDATED:
        return messages
    return [
        with_each(message, lambda part: rewritten.get(id(part), (part, 0))[0])
        for message in messages
    ]


def _results(messages: Iterable[Message]) -> Iterator[ToolResultPart]:
    """Yield the results of reading tools that did not fail."""
    for message in messages:
        yield from filter(_is_read, message.results)


def _is_read(part: Part) -> TypeGuard[ToolResultPart]:
    """Whether a part is the result of a reading tool that did not fail."""
    if not isinstance(part, ToolResultPart) or part.tool.lower() not in _READ_TOOLS:
        return False
    return part.outcome != "failed" or part.is_inferred


def _is_outdated(read: _Read, result: ToolResultPart, newest: Mapping[object, CallId]) -> bool:
    whole = newest.get(_Read(read.path).key, result.call_id)
    return result.call_id != whole or newest[read.key] != result.call_id


def _reads_in(result: ToolResultPart, asked: Mapping[CallId, Sequence[_Read]]) -> Sequence[_Read]:
    """Return the reads that a result names, or else those that were asked for."""
    named = [read for entry in _entries_of(result.text) if (read := _read_of(entry))]
    return named or asked.get(result.call_id, ())


def _entries_of(text: str) -> list[Any]:
    """Return the JSON values of a result, one on a line; [] if it has another text."""
    try:
        values = [parse_json(line) for line in text.split("\n")]
    except ValueError:
        return []
    return [entry for value in values for entry in (value if isinstance(value, list) else [value])]


def _read_of(entry: object) -> _Read | None:
    fields = object_or_empty(entry)
    path = next((text_or_none(fields.get(n)) for n in _PATHS if text_or_none(fields.get(n))), None)
    if path:
        return _Read(path, *(integer_or_none(fields.get(n)) for n in ("start_line", "end_line")))
    query = text_or_empty(fields.get("query"))
    lines = _RANGE.fullmatch(query)
    if lines:
        return _Read(lines[1], int(lines[2]), None if lines[3] == "EOF" else int(lines[3]))
    return _Read(query) if query else None


_PATHS = ("path", "file_path", "filePath")


def _reads_asked_for(call: ToolCallPart) -> tuple[_Read, ...]:
    try:
        fields = object_or_empty(parse_json(call.arguments))
    except ValueError:
        return ()
    files = [fields, *list_or_empty(fields.get("files"))]
    paths = filter(None, map(text_or_none, list_or_empty(fields.get("file_paths"))))
    files = [entry for entry in files if "query" not in object_or_empty(entry)]
    return (*filter(None, map(_read_of, files)), *map(_Read, paths))


def _without(result: ToolResultPart, keys: Collection[object]) -> tuple[ToolResultPart, int]:
    """Return a result without what ``keys`` name, and the bytes of that."""
    entries = _entries_of(result.text)
    if not any(map(_read_of, entries)):
        text, n_bytes = _OUTDATED, len(result.text.encode("utf-8", "surrogatepass"))
    else:
        is_old = [(read := _read_of(entry)) is not None and read.key in keys for entry in entries]
        lines = [json_text(entry) for entry in entries]
        n_bytes = sum(
            len(line.encode("utf-8", "surrogatepass"))
            for line, old in zip(lines, is_old, strict=True)
            if old
        )
        new = [_note(entry) if old else entry for entry, old in zip(entries, is_old, strict=True)]
        text = "\n".join(map(json_text, new))
    return replace(result, text=text, cleared=True), n_bytes


def _note(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    name = "content" if isinstance(entry.get("content"), str) else "result"
    return {**entry, "result" if isinstance(entry.get("result"), str) else name: _OUTDATED}


def answer_calls(messages: Sequence[Message]) -> Sequence[Message]:
    """Answer each call that has no result anywhere (``addMissingToolResults``)."""
    results = {result.call_id for message in messages for result in message.results}
    return [with_each(message, partial(_answered, results=results)) for message in messages]


def _answered(part: Part, results: Collection[CallId]) -> Part:
    if not isinstance(part, ToolCallPart) or part.call_id in results:
        return part
    return replace(part, added=f"{_MISSING} Tool: {part.tool}." if part.tool else _MISSING)


def cap_media(messages: Sequence[Message]) -> Sequence[Message]:
    """Leave out pictures over what one, and all of a request, may have (``applyMediaBudget``).

    Those of other types than the providers' are left out too.
    """
    total = 0

    def fits(media: MediaPart) -> bool:
        nonlocal total
        kind, size = media.media_type.lower(), -(-media.n_bytes // 3) * 4
        if not kind.startswith("image/"):
            return True
        if kind not in _IMAGE_TYPES or size > _MAX_IMAGE or total + size > _MAX_IMAGES:
            return False
        total += size
        return True

    def sent(part: Part) -> Part:
        match part:
            case MediaPart() if not fits(part):
                return omitted(part, "image", "over the limit of a request")
            case ToolResultPart() if part.media:
                media = tuple(filter(fits, part.media))
                count = part.omitted_media + len(part.media) - len(media)
                return replace(part, media=media, omitted_media=count)
            case _:
                return part

    return [with_each(message, sent) for message in messages]


def is_of_sdk(messages: Iterable[Message]) -> bool:
    """Whether messages are of a session of the SDK, and not of a task of the older extension."""
    return any(message.record_path[:1] == ("messages",) for message in messages)


def mark_omitted(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the history with what the client leaves out of the next request marked as such."""
    if not is_of_sdk(messages):
        return tuple(messages)
    return tuple(cap_media(answer_calls(drop_outdated(messages))))
