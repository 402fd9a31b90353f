"""Edit values and tags in a record's JSON text without touching any other byte."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import UNSET

from compactctl.model.edit import Replace
from compactctl.model.json_parser import parse_json
from compactctl.model.json_paths import value_at
from compactctl.model.message import JsonPath, Message
from compactctl.model.tags import METADATA_KEY, read_metadata
from compactctl.model.transcript import FieldValue
from compactctl.model.usage_fields import REPORTED_KEY, UsageFields
from compactctl.pipeline.quoted_json import QuotedJson, Span, escape, unescape
from compactctl.pipeline.spans import (
    find_array,
    find_in_json,
    find_locations,
    find_spans,
    replace_elements,
    splice,
)
from compactctl.pipeline.writer import RecordWriter

# The field of a chat message that must not be an empty list.
_CALLS = "tool_calls"


def dump(value: object) -> str:
    """Return compact JSON text that can be encoded as UTF-8."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        # A lone surrogate can only be written as an escape.
        return json.dumps(value, separators=(",", ":"))
    return text


def part_replacements(
    record: str,
    message: Message,
    edits: Mapping[int, Replace],
    writer: RecordWriter,
    depth: int = 0,
) -> dict[Span, str]:
    """Return the span changes that put the texts of ``edits`` into a message's record.

    ``record`` is the record alone, so the cost does not depend on the document around it. It is
    escaped ``depth`` times: the number of JSON strings that it is nested in.
    """
    path_length = len(message.record_path)
    paths = {index: message.parts[index].path[path_length:] for index in edits}
    locations = find_locations(record, paths.values(), depth)
    changes: dict[Span, str] = {}
    # Innermost values first: the change of an outer value includes the changes inside it.
    for index in sorted(edits, key=lambda index: -len(paths[index])):
        location = locations[paths[index]]
        current = unescape(_apply_inner(record, location.span, changes), location.depth)
        value = parse_json(current, strict=False)
        new_value = writer.new_value(message, index, value, edits[index].text)
        changes[location.span] = escape(_respell(current, value, new_value), location.depth)
    return changes


def _respell(text: str, value: object, new_value: object) -> str:
    """Return the JSON text of a value with only the spelling of what differs in the new one.

    _respell('{"n": 1e400, "s": "x"}', …, {"n": "1e400", "s": "y"})  ->  '{"n": 1e400, "s": "y"}'
    """
    new_values = dict(_find_differences(value, new_value, ()))
    if () in new_values:
        return dump(new_value)
    locations = find_in_json(text, new_values)
    return splice(text, {locations[path].span: dump(new_values[path]) for path in new_values})


def _find_differences(
    old: object, new: object, path: JsonPath
) -> Iterator[tuple[JsonPath, object]]:
    """Yield the paths at which two values differ, and what is there in the new one."""
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        for name in old:
            yield from _find_differences(old[name], new[name], (*path, name))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, pair in enumerate(zip(old, new, strict=True)):
            yield from _find_differences(*pair, (*path, index))
    elif old != new and not (isinstance(old, int) and float(old) == new):
        # Formats read an integer beyond 64 bits as a float.
        yield path, new


def _apply_inner(record: str, span: Span, changes: dict[Span, str]) -> str:
    """Apply the changes inside a span to its text, and remove them from ``changes``.

    A change of the span itself counts: another part may be stored in the same value.
    """
    start, end = span
    inside = [
        inner_span for inner_span in changes if start <= inner_span[0] and inner_span[1] <= end
    ]
    inner_changes = {
        (inner_start - start, inner_end - start): changes.pop((inner_start, inner_end))
        for inner_start, inner_end in inside
    }
    return splice(record[start:end], inner_changes)


def with_fields(record: str, fields: Mapping[str, Any], depth: int = 0) -> str:
    """Return an object's text with top-level fields set; new ones are added at the end.

    ``depth`` as in ``part_replacements``.
    """
    # Most records have none of the fields, so search the text before parsing it. This misses a key
    # spelled with escapes, but of two equal keys parsers use the last, which is the added one.
    present = [(name,) for name in fields if name in record]
    locations = find_locations(record, present, depth) if present else {}
    changes = {
        location.span: escape(dump(fields[str(name)]), depth)
        for (name,), location in locations.items()
    }
    missing = {name: fields[name] for name in fields if (name,) not in locations}
    return with_added_fields(splice(record, changes), missing, depth)


def with_added_fields(record: str, fields: Mapping[str, Any], depth: int = 0) -> str:
    """Return an object's text with fields added at its end, without looking for equal keys."""
    if not fields:
        return record
    end = _last_brace(record, depth)
    comma = "" if record[:end].rstrip().endswith("{") else ","
    return f"{record[:end]}{comma}{escape(dump(fields)[1:-1], depth)}{record[end:]}"


def _last_brace(record: str, depth: int) -> int:
    """Return the position of the closing brace of an object that is escaped ``depth`` times."""
    if not depth:
        return record.rindex("}")
    quoted = QuotedJson(record, 0, len(record))
    return quoted.outer_pos(_last_brace(quoted.text, depth - 1))


def without_fields(record: str, names: Iterable[str]) -> str:
    """Return an object's text without the top-level fields ``names`` and their commas."""
    for name in names:
        span = find_spans(record, [(name,)]).get((name,))
        if span is not None:
            record = _without_field(record, name, span)
    return record


def without_values(text: str, paths: Sequence[JsonPath]) -> str:
    """Return a line's text without the members at ``paths``, duplicate keys included."""
    while present := find_spans(text, paths):
        trimmed = text
        for path, span in sorted(present.items(), key=lambda item: item[1], reverse=True):
            trimmed = _without_field(trimmed, str(path[-1]), span)
        if trimmed == text:
            # Only keys spelled with escapes remain, and their values are null by now.
            break
        text = trimmed
    return text


def _without_field(record: str, name: str, value: Span) -> str:
    head = record[: value[0]].rstrip().removesuffix(":").rstrip()
    key = dump(name)
    if not head.endswith(key):
        # The key is spelled with escapes, so its start is unknown: keep it, with null as its value.
        return splice(record, {value: "null"})
    before, after = head.removesuffix(key).rstrip(), record[value[1] :]
    if before.endswith(","):
        return before.removesuffix(",") + after
    return head.removesuffix(key) + after.lstrip().removeprefix(",").lstrip()


def value_replacements(
    text: str, values: Iterable[tuple[JsonPath, Any]], depth: int = 0
) -> dict[Span, str]:
    """Return the span changes that set the values of existing paths; other paths are ignored."""
    new_values = dict(values)
    return {
        location.span: escape(dump(new_values[path]), location.depth)
        for path, location in find_locations(text, new_values, depth).items()
    }


def with_values(text: str, values: Iterable[FieldValue], depth: int = 0) -> str:
    """Return a text with values set, added to their objects, or removed; see ``FieldValue``.

    ``depth`` as in ``part_replacements``. A value whose object is missing is not set.
    """
    values = tuple(values)
    text = without_values(text, [value.path for value in values if value.value is UNSET])
    new_values = {value.path: value.value for value in values if value.value is not UNSET}
    present = find_locations(text, new_values, depth)
    added: dict[JsonPath, dict[str, object]] = defaultdict(dict)
    for path in new_values.keys() - present.keys():
        added[path[:-1]][str(path[-1])] = new_values[path]
    text = splice(text, value_replacements(text, new_values.items(), depth))
    for path in sorted(added):
        location = find_locations(text, [path], depth).get(path)
        if location is not None and location.cut(text).startswith("{"):
            new = with_added_fields(location.cut(text), added[path], location.depth)
            text = splice(text, {location.span: new})
    return text


def without_elements(record: str, paths: Iterable[JsonPath]) -> str:
    """Return a record's text without the elements of arrays at ``paths``.

    A list of calls that has none left is removed: APIs refuse an empty one.
    """
    dropped: dict[JsonPath, set[str | int]] = defaultdict(set)
    for path in paths:
        dropped[path[:-1]].add(path[-1])
    # Arrays inside of elements first, since the index of an element is part of their paths.
    for array in sorted(dropped, key=len, reverse=True):
        indices = dropped[array]
        elements = find_array(record, array).elements
        items = [
            (index, record[start:end])
            for index, (start, end) in enumerate(elements)
            if index not in indices
        ]
        if not items and array[-1] == _CALLS:
            record = without_values(record, [array])
        elif elements:
            record = replace_elements(record, elements, items)
    return record


def restate_usage(record: str, fields: UsageFields, tokens: int, depth: int = 0) -> str:
    """Return a record's text with usage counts that add up to ``tokens``.

    The provider's counts are kept in the record's metadata. A record without counts, or whose
    counts already add up, is returned unchanged.
    """
    value = parse_json(unescape(record, depth), strict=False)
    counts = value_at(value, fields.path)
    if not isinstance(counts, dict):
        return record
    new_counts = {(*fields.path, *path): n for path, n in fields.values_for(counts, tokens).items()}
    new = splice(record, value_replacements(record, new_counts.items(), depth))
    if new == record:
        return record
    metadata = read_metadata(value)
    return with_fields(
        new, {METADATA_KEY: {**metadata, REPORTED_KEY: metadata.get(REPORTED_KEY, counts)}}, depth
    )


def reported_usage(record: str) -> dict[str, Any]:
    """Return the metadata with the provider's usage counts; empty if they were never restated."""
    if f'"{REPORTED_KEY}"' not in record:
        return {}
    metadata = read_metadata(parse_json(record, strict=False))
    return {REPORTED_KEY: metadata[REPORTED_KEY]} if REPORTED_KEY in metadata else {}
