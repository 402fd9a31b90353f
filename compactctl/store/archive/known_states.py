"""Which known states some bytes begin with."""

import hashlib
from collections.abc import Collection, Iterable, Iterator
from itertools import chain

from compactctl.model.operation import Digest


def beginnings(blocks: Iterable[bytes], states: Collection[Digest]) -> frozenset[Digest]:
    """Return those of ``states`` that the blocks, joined, begin with; all blocks are read once."""
    found = dict(_digests(blocks, {state.n_bytes for state in states}))
    return frozenset(state for state in states if found.get(state.n_bytes) == state.sha256)


def _digests(blocks: Iterable[bytes], sizes: Collection[int]) -> Iterator[tuple[int, str]]:
    """Yield the SHA-256 of the beginning of each size that the blocks reach."""
    digest, at = hashlib.sha256(), 0
    waiting = sorted(sizes, reverse=True)
    for block in chain((b"",), blocks):
        rest = memoryview(block)
        while waiting and waiting[-1] <= at + len(rest):
            cut = waiting.pop() - at
            digest.update(rest[:cut])
            rest, at = rest[cut:], at + cut
            yield at, digest.hexdigest()
        digest.update(rest)
        at += len(rest)
