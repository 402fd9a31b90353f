"""Takes whole records out of a transcript, and links what followed them to what came before."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from compactctl.model.message import JsonPath, RecordLocation
from compactctl.model.transcript import Transcript
from compactctl.pipeline.layout import NewLine
from compactctl.pipeline.record_splice import value_replacements
from compactctl.pipeline.relink import relink
from compactctl.pipeline.spans import find_array, rebuild, splice
from compactctl.pipeline.writer import RecordWriter


def without_records(
    lines: Sequence[bytes],
    transcript: Transcript,
    writer: RecordWriter,
    dropped: Collection[RecordLocation],
    values: Mapping[int, Mapping[JsonPath, Any]],
) -> Iterator[NewLine]:
    """Yield the lines without the records at ``dropped``; all others are the same bytes.

    But for links: what followed a record follows what that one followed, as ``transcript.links``
    has it. ``values`` are put in place of others, by line and path, in lines that stay.
    """
    dropped_lines = {line for line, element in dropped if not element}
    damaged = {opaque.line for opaque in transcript.opaque}
    new = relink(transcript.chain.links, dropped_lines, (), damaged, transcript.chain.pointers)
    paths = {pointer.line: pointer.path for pointer in transcript.chain.pointers}
    inside = _dropped_elements(dropped)
    for index, data in enumerate(lines):
        new_values = dict(values.get(index, {}))
        if index in new.by_line and writer.parent_path is not None:
            new_values[writer.parent_path] = new.by_line[index]
        if index in new.pointers:
            new_values[paths[index]] = new.pointers[index]
        if index in dropped_lines:
            continue
        if new_values or index in inside:
            text = data.decode()
            text = splice(text, value_replacements(text, new_values.items()))
            yield NewLine(_without_elements(text, inside.get(index, {})).encode(), index)
        else:
            yield NewLine(data, index, is_unchanged=True)


def _dropped_elements(dropped: Collection[RecordLocation]) -> dict[int, dict[JsonPath, set[int]]]:
    """Return the elements to be taken out by line and by the path of their array."""
    found: dict[int, dict[JsonPath, set[int]]] = defaultdict(lambda: defaultdict(set))
    for line, element in dropped:
        if element:
            found[line][element[:-1]].add(int(element[-1]))
    return found


def _without_elements(text: str, arrays: Mapping[JsonPath, Collection[int]]) -> str:
    for path, gone in sorted(arrays.items(), reverse=True):
        spans, _ = find_array(text, path)
        items = [(at, text[slice(*span)]) for at, span in enumerate(spans) if at not in gone]
        text = splice(text, {(spans[0][0], spans[-1][1]): rebuild(text, spans, items)})
    return text
