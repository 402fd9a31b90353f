"""Finds what is never sent in a file's lines, and takes it out of them."""

import json
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from compactctl.model.message import JsonPath
from compactctl.model.transcript import RecordStats, Transcript
from compactctl.model.unsent import ANY_INDEX, UnsentKind, UnsentRule, UnsentValue
from compactctl.pipeline.record_splice import without_values
from compactctl.pipeline.spans import find_spans, splice


def find_unsent(
    lines: Sequence[bytes],
    transcript: Transcript,
    rules: Sequence[UnsentRule],
    kinds: Container[str],
) -> Iterator[UnsentValue]:
    """Yield what the rules name in the lines, in file order; damaged lines stay as they are."""
    active_rules = [(rule, _search_bytes(rule)) for rule in rules if rule.kind in kinds]
    damaged = {opaque.line for opaque in transcript.opaque}
    for index, data in enumerate(lines):
        likely = [rule for rule, marks in active_rules if any(mark in data for mark in marks)]
        if not likely or index in damaged:
            continue
        text = data.decode()
        record = _record(text)
        for rule in likely:
            if all(_string_at(record, path) in names for path, names in rule.match.items()):
                yield from _places(rule, index, record, text)


def unsent_stats(places: Iterator[UnsentValue]) -> Mapping[UnsentKind, RecordStats]:
    """Return how many there are of each kind, and how many bytes go with them."""
    count: Counter[UnsentKind] = Counter()
    n_bytes: Counter[UnsentKind] = Counter()
    for place in places:
        count[place.kind] += 1
        n_bytes[place.kind] += place.n_bytes
    return {kind: RecordStats(count=count[kind], n_bytes=n_bytes[kind]) for kind in count}


def without_unsent(data: bytes, places: Sequence[UnsentValue]) -> bytes:
    """Return a line with what stands at the places replaced or, where it need not be, gone."""
    text = data.decode()
    stand_ins = {place.path: place.stand_in for place in places if place.stand_in}
    spans = find_spans(text, stand_ins)
    text = splice(text, {spans[path]: stand_ins[path] for path in spans})
    return without_values(text, [each.path for each in places if not each.stand_in]).encode()


def _search_bytes(rule: UnsentRule) -> list[bytes]:
    """Return bytes of which a line has one at least that the rule is about."""
    if rule.path:
        return [f'"{rule.path[-1]}"'.encode()]
    return [f'"{name}"'.encode() for name in list(rule.match.values())[-1]]


def _record(text: str) -> object:
    try:
        return json.loads(text.lstrip("\ufeff"), strict=False)
    except (ValueError, RecursionError):
        return None


def _places(
    rule: UnsentRule,
    index: int,
    record: object,
    text: str,
) -> Iterator[UnsentValue]:
    if not rule.path:
        if isinstance(record, dict):
            yield _place(rule, index, (), len(text.encode()))
        return
    paths = list(_paths(record, rule.path))
    for path, (start, end) in find_spans(text, paths).items():
        there = text[start:end]
        if there not in (rule.replacement, "null"):
            yield _place(rule, index, path, len(there.encode()) - len(rule.replacement))


def _place(rule: UnsentRule, index: int, path: JsonPath, n_bytes: int) -> UnsentValue:
    return UnsentValue(
        kind=rule.kind, line=index, path=path, stand_in=rule.replacement, n_bytes=n_bytes
    )


def _paths(value: object, path: JsonPath) -> Iterator[JsonPath]:
    """Yield the paths that one with ``ANY_INDEX`` stands for, as far as they lead anywhere."""
    if not path:
        yield ()
        return
    first, rest = path[0], path[1:]
    for name in range(len(value)) if first == ANY_INDEX and isinstance(value, list) else (first,):
        inner = _member(value, name)
        if inner is not None:
            yield from ((name, *found) for found in _paths(inner, rest))


def _string_at(value: object, path: JsonPath) -> str:
    for name in path:
        value = _member(value, name)
    return value if isinstance(value, str) else ""


def _member(value: Any, name: str | int) -> Any:  # noqa: ANN401 - JSON is any value
    if isinstance(name, int):
        return value[name]
    return value.get(name) if isinstance(value, dict) else None
