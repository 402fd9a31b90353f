"""Remove whole records from a transcript, and link their successors to their predecessors."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from compactctl.model.message import JsonPath, RecordLocation
from compactctl.model.transcript import Transcript
from compactctl.pipeline.layout import NewLine
from compactctl.pipeline.record_splice import value_replacements
from compactctl.pipeline.relink import relink
from compactctl.pipeline.spans import find_array, replace_in_step, splice
from compactctl.pipeline.writer import RecordWriter


def without_records(
    lines: Sequence[bytes],
    transcript: Transcript,
    writer: RecordWriter,
    dropped: Collection[RecordLocation],
    replacements: Mapping[int, Mapping[JsonPath, Any]],
) -> Iterator[NewLine]:
    """Yield the lines without the records at ``dropped``; other lines change only where needed.

    A damaged line is dropped as a whole, or stays as it is. A record whose parent is dropped gets a
    new parent, see ``relink``. ``replacements`` are further values to set in lines that stay, by
    line and path.
    """
    dropped_lines = {line for line, element in dropped if not element}
    chain, damaged = transcript.chain, transcript.damaged_lines
    new_parents = relink(chain.links, dropped_lines, (), damaged, chain.pointers)
    pointer_paths = {pointer.line: pointer.path for pointer in chain.pointers}
    dropped_elements = _dropped_elements(dropped)
    for index, data in enumerate(lines):
        if index in dropped_lines:
            continue
        new_values = {
            **replacements.get(index, {}),
            **new_parents.values_on(index, writer.parent_path, pointer_paths),
        }
        if index not in damaged and (new_values or index in dropped_elements):
            text = data.decode()
            text = splice(text, value_replacements(text, new_values.items()))
            elements = dropped_elements.get(index, {})
            yield NewLine(_without_elements(text, elements, transcript.notes).encode(), index)
        else:
            yield NewLine(data, index, is_unchanged=True)


def _dropped_elements(dropped: Collection[RecordLocation]) -> dict[int, dict[JsonPath, set[int]]]:
    """Return the indices of dropped array elements, by line and by the path of the array."""
    elements: dict[int, dict[JsonPath, set[int]]] = defaultdict(lambda: defaultdict(set))
    for line, element in dropped:
        if element:
            elements[line][element[:-1]].add(int(element[-1]))
    return elements


def _without_elements(
    text: str, arrays: Mapping[JsonPath, Collection[int]], notes: Mapping[str, str]
) -> str:
    for path, dropped in sorted(arrays.items(), reverse=True):
        spans, _ = find_array(text, path)
        items = [(n, text[slice(*span)]) for n, span in enumerate(spans) if n not in dropped]
        text = replace_in_step(text, path, spans, items, notes)
    return text
