"""What compactctl wrote into a compacted Codex session, without the client's compaction.

Histories that were appended repeat all that is sent, so removing an earlier record changes nothing
by itself. Summaries may be inside the client's record, and would go with it.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from compactctl.clients.codex.native import CodexSession
from compactctl.clients.records.decode import decode
from compactctl.model.json_paths import value_at
from compactctl.model.message import JsonPath
from compactctl.model.tags import METADATA_KEY, TAG_NAMES
from compactctl.pipeline.record_splice import dump
from compactctl.pipeline.spans import find_sole_record, find_spans, splice

_HISTORY: JsonPath = ("payload", "replacement_history")
_Items = Sequence[tuple[str, str]]
"""Items that are sent, in order, each after its name; several may have the same name."""


def without_compactions(
    lines: Sequence[bytes], dropped: Collection[int], repeated: Collection[int]
) -> Mapping[int, bytes]:
    """Return, by index, the line of the newest of our histories once some lines are dropped.

    ``dropped`` are the lines of compactions by the client, ``repeated`` those of our histories. The
    new history also holds what these compactions hid, and keeps what compactctl edited and hid
    since. Nothing is returned if no history of ours follows a dropped line.
    """
    newest = max(repeated, default=-1)
    before = [index for index in dropped if index < newest]
    if not before:
        return {}
    skipped = {*dropped, *(index for index in repeated if index > min(before))}
    whole = _items(line for index, line in enumerate(islice(lines, newest)) if index not in skipped)
    hidden: Counter[str] = Counter()
    new_names: Counter[str] = Counter()
    for index in before:
        items_after = _items(lines[: index + 1])
        old = Counter(name for name, _ in _items(lines[:index]))
        hidden += old - Counter(name for name, _ in items_after)
        new_names += Counter(name for name, item in items_after if not _is_tagged(item)) - old
    items = _merged(whole, _items(lines[: newest + 1]), hidden - new_names, new_names)
    text = lines[newest].decode()
    start, end, _ = find_sole_record(text)
    span = find_spans(text[start:end], [_HISTORY])[_HISTORY]
    record = splice(text[start:end], {span: f"[{','.join(items)}]"})
    return {newest: f"{text[:start]}{record}{text[end:]}".encode()}


def moved_out(line: bytes, place: JsonPath) -> bytes:
    """Return an item of the history on a line as a record of its own."""
    items = ((record, value_at(record, place)) for record in decode(line)[0])
    record, item = next((record, item) for record, item in items if item)
    tags = {name: value for name, value in item.items() if name in TAG_NAMES}
    payload = {name: value for name, value in item.items() if name not in TAG_NAMES}
    moved = {**record, "type": "response_item", "payload": payload, **tags}
    return dump(moved).encode() + b"\n"


def _is_tagged(item: str) -> bool:
    return METADATA_KEY in decode(item.encode())[0][0]


def _items(lines: Iterable[bytes]) -> _Items:
    session = CodexSession(tuple(lines))
    return tuple(zip(session.names, session.items, strict=True))


def _merged(
    whole: _Items, ours: _Items, hidden: Counter[str], new_names: Collection[str]
) -> Iterator[str]:
    """Yield the items of ``ours`` without ``new_names``, and the ``hidden`` ones of ``whole``.

    Items that are in ``ours`` only stay before the item that they precede there. If a summary of
    ours is ``hidden``, all of ``whole`` is sent again.
    """
    is_lost = bool(hidden - Counter(name for name, _ in whole))
    restored: set[int] = set()
    for index, (name, _) in enumerate(whole):
        if hidden[name] > 0:
            hidden[name] -= 1
            restored.add(index)
    # Of several items with one name, compactions leave the newest.
    indices: dict[str, list[int]] = defaultdict(list)
    for index, (name, _) in enumerate(whole):
        if index not in restored:
            indices[name].append(index)
    edited: dict[int, str] = {}
    inserted: dict[int, list[str]] = defaultdict(list)
    following = len(whole)
    for name, item in reversed(ours):
        if indices[name]:
            following = indices[name].pop()
            edited[following] = item
        elif name not in new_names:
            inserted[following].insert(0, item)
    for index, (_, item) in enumerate(whole):
        yield from inserted[index]
        if index in edited or index in restored or is_lost:
            yield edited.get(index, item)
    yield from inserted[len(whole)]
