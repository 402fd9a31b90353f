"""The records of a view, each on a line of its own, as the transcript has them."""

import re
from collections.abc import Iterable, Iterator

from compactctl.commands.inspect.view import ViewedMessage, ViewResult, sent
from compactctl.commands.loading.load import loaded_from
from compactctl.model.message import JsonPath, Message
from compactctl.model.tags import tag_fields
from compactctl.pipeline.merge_for_view import Shown
from compactctl.pipeline.quoted import ValuePlace, plain
from compactctl.pipeline.record_splice import with_appended
from compactctl.pipeline.spans import Array, find_array, find_places
from compactctl.store.files.lines import Source, digest_of

# Within a record of a document these are between values: in a text they are written as escapes.
_BREAK = re.compile(r"[ \t\r]*\n[ \t\r]*")


def records_of(result: ViewResult) -> Iterator[bytes]:
    """Yield the raw lines of a view; of a document, the record of each message instead.

    A record is the same text as in the document, but for line breaks between its values, and for
    the tag of what hides it.
    """
    if not any(_is_inside(viewed) for viewed in result.messages):
        yield from (line.data for line in result.lines)
        return
    found: dict[tuple[int, JsonPath], tuple[str, Array]] = {}
    for viewed in result.messages:
        if not _is_inside(viewed):
            yield viewed.line.data
            continue
        place = (viewed.line.state, viewed.message.element[:-1])
        if place not in found:
            text = viewed.line.lines[viewed.line.row].decode("utf-8", "surrogateescape")
            found[place] = text, find_array(text, place[1])
        yield _record(viewed.message, *found[place])


def sent_records(pieces: Iterable[bytes], path: str, format_name: str) -> Iterator[bytes]:
    """Yield the records of the messages that a transcript sends, each on a line of its own.

    ``pieces`` are its lines, and ``path`` is what errors call it. NotUnderstoodError as ``load``.
    """
    lines = tuple(pieces)
    source = Source(path=None, lines=lines, digest=digest_of(lines))
    for record in records_of(sent(loaded_from(source, path, format_name), path)):
        yield record if record.endswith(b"\n") else record + b"\n"


def _is_inside(viewed: ViewedMessage) -> bool:
    return bool(viewed.message.element) and _is_document(viewed.line)


def _is_document(line: Shown) -> bool:
    return len(line.lines) == 1


def _record(message: Message, text: str, array: Array) -> bytes:
    at = message.element[-1]
    if isinstance(at, int) and at < len(array.elements):
        place = ValuePlace(*array.elements[at], array.depth)
    else:
        place = find_places(text, [message.element])[message.element]
    record = _BREAK.sub(" ", plain(place.cut(text), place.depth))
    if record.endswith("}"):
        tags = tag_fields(message.tags).items()
        record = with_appended(record, {n: v for n, v in tags if f'"{n}"' not in record})
    return f"{record}\n".encode("utf-8", "surrogateescape")
