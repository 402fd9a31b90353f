"""Edits a record's JSON text in place: values, tags, and nothing else."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compactctl.model.edit import Replace
from compactctl.model.json_paths import value_at
from compactctl.model.message import JsonPath, Message
from compactctl.model.tags import METADATA_KEY
from compactctl.model.usage_fields import REPORTED_KEY, UsageFields, own_metadata
from compactctl.pipeline.quoted_json import Quoted, Span, plain, spelled
from compactctl.pipeline.spans import find_places, find_spans, splice
from compactctl.pipeline.writer import RecordWriter


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
    """Return the span changes that put the edits' texts in place in a message's own record.

    The work grows with the record, not with the document that it may stand in. ``depth`` is how
    many texts the record stands in, which is then given as it is spelled there.
    """
    holders = len(message.record_path)
    paths = {index: message.parts[index].path[holders:] for index in edits}
    places = find_places(record, paths.values(), depth)
    changes: dict[Span, str] = {}
    # A value inside another one that is replaced as well is replaced first.
    for index in sorted(edits, key=lambda index: -len(paths[index])):
        place = places[paths[index]]
        taken = plain(_apply_inner(record, place.span, changes), place.depth)
        value = writer.new_value(message, index, json.loads(taken, strict=False), edits[index].text)
        changes[place.span] = spelled(dump(value), place.depth)
    return changes


def _apply_inner(record: str, span: Span, changes: dict[Span, str]) -> str:
    """Return the text of a span, with the changes inside it carried out and taken away.

    One of the span itself is of another part that stands in the same text.
    """
    start, end = span
    inside = [each for each in changes if start <= each[0] and each[1] <= end]
    inner = {(at - start, to - start): changes.pop((at, to)) for at, to in inside}
    return splice(record[start:end], inner)


def with_fields(record: str, fields: Mapping[str, Any], depth: int = 0) -> str:
    """Return an object's text with top-level fields set; new ones go before the closing brace.

    ``depth`` as in ``part_replacements``.
    """
    # Most records have none of them; a key that is spelled with escapes is overruled all the same.
    present = [(name,) for name in fields if name in record]
    places = find_places(record, present, depth) if present else {}
    changes = {
        place.span: spelled(dump(fields[str(name)]), depth) for (name,), place in places.items()
    }
    missing = {name: fields[name] for name in fields if (name,) not in places}
    return with_added_fields(splice(record, changes), missing, depth)


def with_added_fields(record: str, fields: Mapping[str, Any], depth: int = 0) -> str:
    """Return an object's text with fields added before the closing brace, whatever it holds."""
    if not fields:
        return record
    end = _last(record, depth)
    return f"{record[:end]},{spelled(dump(fields)[1:-1], depth)}{record[end:]}"


def _last(record: str, depth: int) -> int:
    """Return where the last brace of an object is spelled."""
    if not depth:
        return record.rindex("}")
    quoted = Quoted(record, 0, len(record))
    return quoted.outer(_last(quoted.text, depth - 1))


def without_fields(record: str, names: Iterable[str]) -> str:
    """Return an object's text without top-level fields, each with the comma that belonged to it."""
    for name in names:
        span = find_spans(record, [(name,)]).get((name,))
        if span is not None:
            record = _without_field(record, name, span)
    return record


def without_values(text: str, paths: Sequence[JsonPath]) -> str:
    """Return a line's text without the members at ``paths``; of a name given twice, both go."""
    while present := find_spans(text, paths):
        new = text
        for path, span in sorted(present.items(), key=lambda each: each[1], reverse=True):
            new = _without_field(new, str(path[-1]), span)
        if new == text:
            # Only names that are spelled with escapes are left, with nothing as their value.
            break
        text = new
    return text


def _without_field(record: str, name: str, value: Span) -> str:
    head = record[: value[0]].rstrip().removesuffix(":").rstrip()
    key = dump(name)
    if not head.endswith(key):
        # A key that is spelled with escapes: the tag stays, and is empty.
        return splice(record, {value: "null"})
    before, rest = head.removesuffix(key).rstrip(), record[value[1] :]
    if before.endswith(","):
        return before.removesuffix(",") + rest
    return head.removesuffix(key) + rest.lstrip().removeprefix(",").lstrip()


def value_replacements(
    text: str, values: Iterable[tuple[JsonPath, Any]], depth: int = 0
) -> dict[Span, str]:
    """Return the span changes that set values at paths, where they exist; ``depth`` as above."""
    wanted = dict(values)
    return {
        place.span: spelled(dump(wanted[path]), place.depth)
        for path, place in find_places(text, wanted, depth).items()
    }


def restate_usage(record: str, fields: UsageFields, tokens: int, depth: int = 0) -> str:
    """Return a record's text with counts that come to ``tokens``, and what was reported beside.

    A record without counts, or with these, stays as it is. ``depth`` as in ``part_replacements``.
    """
    value = json.loads(plain(record, depth), strict=False)
    counts = value_at(value, fields.path)
    if not isinstance(counts, dict):
        return record
    told = {(*fields.path, *path): n for path, n in fields.values_for(counts, tokens).items()}
    new = splice(record, value_replacements(record, told.items(), depth))
    if new == record:
        return record
    own = own_metadata(value)
    return with_fields(
        new, {METADATA_KEY: {**own, REPORTED_KEY: own.get(REPORTED_KEY, counts)}}, depth
    )


def reported_usage(record: str) -> dict[str, Any]:
    """Return what a record's text keeps of what was reported, as fields; none where it does not."""
    if f'"{REPORTED_KEY}"' not in record:
        return {}
    own = own_metadata(json.loads(record, strict=False))
    return {REPORTED_KEY: own[REPORTED_KEY]} if REPORTED_KEY in own else {}
