"""Remove whole records from a transcript, and link their successors to their predecessors."""

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
    replacements: Mapping[int, Mapping[JsonPath, Any]],
) -> Iterator[NewLine]:
    """Yield the lines without the records at ``dropped``; other lines change only where needed.

    A record whose parent is dropped gets a new parent, see ``relink``. ``replacements`` are
    further values to set in lines that stay, by line and path.
    """
    dropped_lines = {line for line, element in dropped if not element}
    damaged = {opaque.line for opaque in transcript.opaque}
    new_parents = relink(
        transcript.chain.links, dropped_lines, (), damaged, transcript.chain.pointers
    )
    pointer_paths = {pointer.line: pointer.path for pointer in transcript.chain.pointers}
    dropped_elements = _dropped_elements(dropped)
    for index, data in enumerate(lines):
        new_values = dict(replacements.get(index, {}))
        if index in new_parents.by_line and writer.parent_path is not None:
            new_values[writer.parent_path] = new_parents.by_line[index]
        if index in new_parents.pointers:
            new_values[pointer_paths[index]] = new_parents.pointers[index]
        if index in dropped_lines:
            continue
        if new_values or index in dropped_elements:
            text = data.decode()
            text = splice(text, value_replacements(text, new_values.items()))
            yield NewLine(_without_elements(text, dropped_elements.get(index, {})).encode(), index)
        else:
            yield NewLine(data, index, is_unchanged=True)


def _dropped_elements(dropped: Collection[RecordLocation]) -> dict[int, dict[JsonPath, set[int]]]:
    """Return the indices of dropped array elements, by line and by the path of the array."""
    elements: dict[int, dict[JsonPath, set[int]]] = defaultdict(lambda: defaultdict(set))
    for line, element in dropped:
        if element:
            elements[line][element[:-1]].add(int(element[-1]))
    return elements


def _without_elements(text: str, arrays: Mapping[JsonPath, Collection[int]]) -> str:
    for path, dropped in sorted(arrays.items(), reverse=True):
        spans, _ = find_array(text, path)
        items = [
            (index, text[slice(*span)]) for index, span in enumerate(spans) if index not in dropped
        ]
        text = splice(text, {(spans[0][0], spans[-1][1]): rebuild(text, spans, items)})
    return text
