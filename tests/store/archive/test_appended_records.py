"""Records that an operation appended, and what other programs wrote before and behind them."""

import json
import tracemalloc

import pytest
from store.states import appended, operation

from compactctl.records import replace
from compactctl.store.archive.growth import KnownState, find_growth
from compactctl.store.files.source import split_lines

OWN = operation(b"", b"").id
BLOCK = b"".join(
    json.dumps({"text": f"part {n}", "compactctl": {"appended": OWN}}).encode() + b"\n"
    for n in range(3)
)
OTHER = b'{"text":"other"}\n'


def outcome(before: bytes) -> KnownState:
    end = b"\n" if before and not before.endswith(b"\n") else b""
    each = replace(operation(before, before + end + BLOCK), id=OWN, appended=True)
    return KnownState.after(each)


@pytest.mark.parametrize("before", [b"", OTHER, OTHER[:-1]])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_an_edit_of_them_is_noticed_in_any_chunks(before: bytes, size: int) -> None:
    end = b"\n" if before and not before.endswith(b"\n") else b""
    whole = before + end + b"\n" + BLOCK + OTHER
    edited = whole.replace(b"part 2", b"part X")

    def growth_of(state: bytes) -> object:
        chunks = [state[start : start + size] for start in range(0, len(state), size)]
        return find_growth(chunks, (outcome(before),))

    assert growth_of(whole) is not None
    assert growth_of(edited) is None


def test_a_large_state_before_them_is_not_read_into_memory() -> None:
    lines = [b"x" * 99_999 + b"\n"] * 300
    known = outcome(b"".join(lines))
    chunks = [*lines, OTHER, *split_lines(BLOCK)]
    tracemalloc.start()
    match = find_growth(chunks, (known,))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert match == (0, appended(OTHER))
    assert peak < 1 << 20
