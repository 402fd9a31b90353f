"""Find the parts of a file that the client never sends, and remove them."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from compactctl.model.json_parser import parse_json
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
    """Yield what the rules of these kinds match, in file order.

    Damaged lines are skipped, and whole records that a record on such a line follows.
    """
    active_rules = [(rule, _search_bytes(rule)) for rule in rules if rule.kind in kinds]
    damaged, lines_to_keep = transcript.damaged_lines, transcript.lines_to_keep
    for index, data in enumerate(lines):
        likely_rules = [
            rule
            for rule, patterns in active_rules
            if any(pattern in data for pattern in patterns)
            and (rule.path or index not in lines_to_keep)
        ]
        if not likely_rules or index in damaged:
            continue
        text = data.decode()
        record = _record(text)
        for rule in likely_rules:
            if all(_string_at(record, path) in names for path, names in rule.match.items()):
                yield from _find_values(rule, index, record, text)


def unsent_stats(values: Iterator[UnsentValue]) -> Mapping[UnsentKind, RecordStats]:
    """Return for each kind how many values there are, and how many bytes removing them saves."""
    count: Counter[UnsentKind] = Counter()
    n_bytes: Counter[UnsentKind] = Counter()
    for value in values:
        count[value.kind] += 1
        n_bytes[value.kind] += value.n_bytes
    return {kind: RecordStats(count=count[kind], n_bytes=n_bytes[kind]) for kind in count}


def without_unsent(data: bytes, values: Sequence[UnsentValue]) -> bytes:
    """Return a line with each value replaced by its stand-in, or removed where it has none."""
    text = data.decode()
    replacements = {value.path: value.replacement for value in values if value.replacement}
    spans = find_spans(text, replacements)
    text = splice(text, {spans[path]: replacements[path] for path in spans})
    return without_values(text, [value.path for value in values if not value.replacement]).encode()


def _search_bytes(rule: UnsentRule) -> list[bytes]:
    """Return byte strings of which every line that the rule matches contains at least one."""
    if rule.path:
        return [f'"{rule.path[-1]}"'.encode()]
    return [f'"{name}"'.encode() for name in list(rule.match.values())[-1]]


def _record(text: str) -> object:
    try:
        return parse_json(text.lstrip("\ufeff"), strict=False)
    except ValueError:
        return None


def _find_values(
    rule: UnsentRule,
    index: int,
    record: object,
    text: str,
) -> Iterator[UnsentValue]:
    if not rule.path:
        if isinstance(record, dict):
            yield _unsent_value(rule, index, (), len(text.encode()))
        return
    paths = [
        path
        for path in _expand_path(record, rule.path)
        if all(
            _string_at(record, (*path[:-1], name)) in texts for name, texts in rule.beside.items()
        )
    ]
    for path, (start, end) in find_spans(text, paths).items():
        value = text[start:end]
        if value not in (rule.replacement, "null"):
            yield _unsent_value(
                rule,
                index,
                path,
                len(value.encode("utf-8", "surrogatepass")) - len(rule.replacement),
            )


def _unsent_value(rule: UnsentRule, index: int, path: JsonPath, n_bytes: int) -> UnsentValue:
    return UnsentValue(
        kind=rule.kind, line=index, path=path, replacement=rule.replacement, n_bytes=n_bytes
    )


def _expand_path(value: object, path: JsonPath) -> Iterator[JsonPath]:
    """Replace ``ANY_INDEX`` in a path by each index; yield the paths that lead to a value."""
    if not path:
        yield ()
        return
    first, rest = path[0], path[1:]
    for step in range(len(value)) if first == ANY_INDEX and isinstance(value, list) else (first,):
        member = _member(value, step)
        if member is not None:
            yield from ((step, *subpath) for subpath in _expand_path(member, rest))


def _string_at(value: object, path: JsonPath) -> str:
    for step in path:
        value = _member(value, step)
    return value if isinstance(value, str) else ""


def _member(value: Any, name: str | int) -> Any:  # noqa: ANN401 - JSON is any value
    if isinstance(name, int):
        return value[name]
    return value.get(name) if isinstance(value, dict) else None
