"""What was added to an outcome of an operation since, by a client or by hand.

A state of lines has grown if it begins with the bytes of the outcome. A document has grown if its
records begin with those of the outcome: its client writes all of it anew for each turn.
"""

import hashlib
import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import reduce
from itertools import chain, takewhile
from typing import Self

from compactctl.model.json_parser import parse_json
from compactctl.model.operation import Digest, DocumentRecords, Operation, OperationId
from compactctl.model.tags import APPENDED_BYTES, appended_by
from compactctl.pipeline.document_records import (
    first_records,
    record_digest,
    record_texts,
    with_records,
)
from compactctl.records import Record
from compactctl.store.files.content import (
    can_follow,
    canonical_suffix,
    ends_mid_line,
    join_suffixes,
    last_byte_and_rest,
    suffix_after,
)


class KnownState(Record):
    """A state that others may have continued: its bytes, and its records if it is a document.

    ``appended`` is the operation that led to it by appending, among what others appended.
    """

    digest: Digest
    records: DocumentRecords | None = None
    appended: Operation | None = None

    @classmethod
    def after(cls, operation: Operation) -> Self:
        """Return the outcome of an operation."""
        return cls(
            digest=operation.after,
            records=operation.records,
            appended=operation if operation.appended else None,
        )


class Growth(Record):
    """Lines in canonical form (see ``store.files.content``), or records of a document at ``path``.

    Records are kept as they are written.
    """

    suffix: bytes = b""
    path: tuple[str, ...] = ()
    records: tuple[str, ...] = ()

    @property
    def n_bytes(self) -> int:
        """The bytes added."""
        lines = suffix_after(self.suffix, is_mid_line=False)
        return len(lines) + sum(len(record.encode()) for record in self.records)


def find_growth(
    state: Iterable[bytes], outcomes: Sequence[KnownState]
) -> tuple[int, Growth] | None:
    """Return the index of the outcome that a state grew from, and what was added to it.

    The largest outcome counts, and the last one of equal ones. None if the state grew from none, or
    if what an operation appended was edited. ``state`` are chunks that can be iterated more than
    once.
    """
    matching = matching_states(state, {outcome.digest for outcome in outcomes})
    indices = [index for index, outcome in enumerate(outcomes) if outcome.digest in matching]
    indices.sort(key=lambda index: (outcomes[index].digest.n_bytes, index), reverse=True)
    size = outcomes[indices[0]].digest.n_bytes if indices else 0
    appended = _find_appended(state, outcomes, size)
    if appended is not None:
        index, operation = appended
        lines, others = _parted(state, operation)
        suffix = canonical_suffix(b"".join(others), is_mid_line=False)
        return (index, Growth(suffix=suffix)) if _are_whole(state, operation, lines) else None
    for index in indices:
        end, rest = last_byte_and_rest(state, outcomes[index].digest.n_bytes)
        is_mid_line = ends_mid_line(end)
        if can_follow(rest, is_mid_line=is_mid_line):
            return index, Growth(suffix=canonical_suffix(rest, is_mid_line=is_mid_line))
    return None if indices else _find_added_records(state, outcomes)


def _find_appended(
    state: Iterable[bytes], outcomes: Sequence[KnownState], size: int
) -> tuple[int, Operation] | None:
    """Find the newest operation that appended its records after those of another program.

    The state before it has at least ``size`` bytes, those of the largest outcome there is:

        state before, A, records of the operation, B      ->  what was added are A and B
    """
    befores = {outcome.appended.before for outcome in outcomes if outcome.appended}
    befores = {before for before in befores if before.n_bytes >= size}
    matching = matching_states(state, befores) if befores else ()
    for index, outcome in reversed(tuple(enumerate(outcomes))):
        if outcome.appended and outcome.appended.before in matching:
            lines, _ = _parted(state, outcome.appended)
            if len(lines) >= _n_appended(outcome.appended) > 0:
                return index, outcome.appended
    return None


def _n_appended(operation: Operation) -> int:
    return operation.after.n_lines - operation.before.n_lines


def _are_whole(state: Iterable[bytes], operation: Operation, lines: Sequence[bytes]) -> bool:
    """Return whether the lines of an operation are those that it appended to the state before.

    Unknown, and taken for true, if lines of another program come first: they were made to follow
    these, and not archived.
    """
    size = operation.before.n_bytes
    end, rest = last_byte_and_rest(state, size)
    if operation_of_line(rest.lstrip(b"\n").partition(b"\n")[0]) != operation.id:
        return True
    block = (b"\n" * ends_mid_line(end), *lines[: _n_appended(operation)])
    return bool(matching_states(chain(_first(state, size), block), (operation.after,)))


def _first(chunks: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Yield the first ``size`` bytes."""
    for chunk in chunks:
        if not size:
            break
        yield chunk[:size]
        size -= min(size, len(chunk))


def _parted(state: Iterable[bytes], operation: Operation) -> tuple[list[bytes], list[bytes]]:
    """Return the complete lines that an operation appended, and all others behind its state."""
    end, rest = last_byte_and_rest(state, operation.before.n_bytes)
    suffix = canonical_suffix(rest, is_mid_line=ends_mid_line(end))
    ours: list[bytes] = []
    others: list[bytes] = []
    for line in io.BytesIO(suffix_after(suffix, is_mid_line=False)):
        is_ours = line.endswith(b"\n") and operation_of_line(line) == operation.id
        (ours if is_ours else others).append(line)
    return ours, others


def operation_of_line(line: bytes) -> OperationId | None:
    """Return the operation that appended a line, None for any other line."""
    if APPENDED_BYTES not in line:
        return None
    try:
        record = parse_json(line.decode())
    except ValueError:
        return None
    name = appended_by(record) if isinstance(record, dict) else None
    return None if name is None else OperationId(name)


def _find_added_records(
    state: Iterable[bytes], outcomes: Sequence[KnownState]
) -> tuple[int, Growth] | None:
    """Find the outcome with the most records that a document begins with."""
    longest: tuple[int, Growth] | None = None
    n_known = 0
    for path, texts, digests in _documents(state, outcomes):
        for index, outcome in enumerate(outcomes):
            records = outcome.records
            if records is None or records.path != path or len(records.digests) < n_known:
                continue
            if digests[: len(records.digests)] == records.digests:
                n_known = len(records.digests)
                longest = index, Growth(path=path, records=texts[n_known:])
    return longest


def changed_record(state: Iterable[bytes], outcome: KnownState) -> int | None:
    """Return the number, from 1, of the first record that differs from those of an outcome.

    None unless both the outcome and the state are documents.
    """
    for _, _, digests in _documents(state, (outcome,)):
        earlier = outcome.records.digests if outcome.records else ()
        pairs = zip(earlier, digests, strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)) + 1
    return None


def _documents(
    state: Iterable[bytes], outcomes: Iterable[KnownState]
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]]:
    """Yield the paths of the records of outcomes, with the texts and digests of a state's."""
    paths = dict.fromkeys(outcome.records.path for outcome in outcomes if outcome.records)
    document = b"".join(state) if paths else b""
    for path in paths:
        texts = record_texts(document, path)
        if texts is not None:
            yield path, texts, tuple(map(record_digest, texts))


def known_state_in(state: Iterable[bytes], outcome: KnownState) -> bytes | None:
    """Return the outcome that a state grew from; of a rewritten document, only its records.

    None if the state did not grow from it.
    """
    match = find_growth(state, (outcome,))
    if match is None:
        return None
    growth, data = match[1], b"".join(state)
    if outcome.digest in matching_states((data,), (outcome.digest,)):
        return data[: outcome.digest.n_bytes]
    if outcome.records is not None:
        return first_records(data, growth.path, len(outcome.records.digests))
    if outcome.appended is None:
        return None
    ours, _ = _parted((data,), outcome.appended)
    return data[: outcome.appended.before.n_bytes] + b"".join(ours)


def grown(base: bytes, growths: Iterable[Growth]) -> bytes:
    """Add growths to a state, one after another."""
    growths = tuple(growths)
    for growth in growths:
        if growth.records:
            base = with_records(base, growth.path, growth.records)
    return base + suffix_after(joined(growths), is_mid_line=ends_mid_line(base))


def joined(growths: Iterable[Growth]) -> bytes:
    """Return the canonical form of the lines in growths, one after another."""
    return reduce(join_suffixes, (growth.suffix for growth in growths), b"")


def matching_states(chunks: Iterable[bytes], states: Collection[Digest]) -> frozenset[Digest]:
    """Return those of ``states`` that the joined chunks begin with; iterates the chunks once."""
    digests = dict(_prefix_digests(chunks, {state.n_bytes for state in states}))
    return frozenset(state for state in states if digests.get(state.n_bytes) == state.sha256)


def _prefix_digests(chunks: Iterable[bytes], sizes: Collection[int]) -> Iterator[tuple[int, str]]:
    """Yield size and SHA-256 of each prefix, the shortest first, as far as the chunks reach.

    Chunks b"abc", b"de" and sizes {2, 4, 9}: those of b"ab" and b"abcd".
    """
    digest, pos = hashlib.sha256(), 0
    pending = sorted(sizes, reverse=True)
    for chunk in chain((b"",), chunks):
        rest = memoryview(chunk)
        while pending and pending[-1] <= pos + len(rest):
            cut = pending.pop() - pos
            digest.update(rest[:cut])
            rest, pos = rest[cut:], pos + cut
            yield pos, digest.hexdigest()
        # Read on without pending sizes: some callers collect from their chunks what passes.
        if pending:
            digest.update(rest)
            pos += len(rest)
