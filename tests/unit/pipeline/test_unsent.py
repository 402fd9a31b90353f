"""Where in lines the values stand that are never sent, and lines without them."""

import pytest

from compactctl.model.transcript import Link, RecordLinks, Transcript
from compactctl.model.unsent import ANY_INDEX, UnsentRule, UnsentValue
from compactctl.pipeline.unsent import find_unsent, unsent_stats, without_unsent
from compactctl.records import replace

COPY = UnsentRule(kind="copies", match={("type",): frozenset({"user"})}, path=("copy",))
PROGRESS = UnsentRule(kind="progress", match={("type",): frozenset({"progress"})})
EMPTIED = UnsentRule(
    kind="copies", match={}, path=("all", ANY_INDEX, "state", "data"), replacement="{}"
)


def read(*lines: bytes, damaged: int | None = None) -> Transcript:
    return Transcript(
        format="any", n_lines=len(lines), n_bytes=0, messages=(), effective=(),
        damaged_lines=frozenset() if damaged is None else frozenset({damaged}),
    )  # fmt: skip


def places(*lines: bytes, damaged: int | None = None) -> list[UnsentValue]:
    rules = (COPY, PROGRESS, EMPTIED)
    found = find_unsent(lines, read(*lines, damaged=damaged), rules, {"copies", "progress"})
    return list(found)


def left(line: bytes) -> bytes:
    return without_unsent(line, places(line))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"type":"user","copy":{"a":[1]},"b":2}\n', b'{"type":"user","b":2}\n'),
        (b'{"copy":"x", "type":"user"}\r\n', b'{"type":"user"}\r\n'),
        (b'{"type": "user", "copy": 1e400}', b'{"type": "user"}'),
        (b'{"type":"user","copy":1,"b":0.10,"copy":2}\n', b'{"type":"user","b":0.10}\n'),
        (b'{"all":[{"state":{"data":{"x":1}}},{},{"state":{"data":{"y":2}}}]}\n',
         b'{"all":[{"state":{"data":{}}},{},{"state":{"data":{}}}]}\n'),
    ],
)  # fmt: skip
def test_a_value_goes_and_every_other_byte_stays(line: bytes, expected: bytes) -> None:
    assert left(line) == expected
    assert places(expected) == []


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"assistant","copy":1}\n',
        b'{"type":"user","message":{"copy":1}}\n',
        b'{"type":"user","text":"\\"copy\\": progress"}\n',
        b'{"all":{"state":{"data":1}}}\n',
        b'{"all":[[],"state",{"state":["data"]}],"data":1}\n',
        b'["copy"]\n',
        b'{"type":["progress"],"x":"progress"}\n',
    ],
)
def test_what_only_looks_like_it_stays(line: bytes) -> None:
    assert places(line) == []


def test_what_goes_is_counted_by_kind_with_its_bytes() -> None:
    lines = (b'{"type":"progress"}\n', b'{"type":"user","copy":"\xc3\xa4"}\n')
    found = unsent_stats(iter(places(*lines)))
    assert {kind: (each.count, each.n_bytes) for kind, each in found.items()} == {
        "progress": (1, len(lines[0])),
        "copies": (1, 4),
    }


def test_a_record_that_one_on_a_damaged_line_follows_stays_but_for_its_values() -> None:
    lines = (b'{"type":"progress","uuid":"a"}\n', b'{"type":"user","copy":1,"uuid":"b"}\n', b"\0\n")
    for name, expected in (("a", [(1, ("copy",))]), ("b", [(0, ()), (1, ("copy",))])):
        links = (Link(0, "a", None), Link(1, "b", "a"), Link(2, "c", name))
        transcript = replace(read(*lines, damaged=2), chain=RecordLinks(links=links))
        found = find_unsent(lines, transcript, (COPY, PROGRESS), {"copies", "progress"})
        assert [(value.line, value.path) for value in found] == expected


def test_a_damaged_line_stays_as_it_is() -> None:
    line = b'{"type":"user","copy":1}\n'
    assert places(line, damaged=0) == []
    assert len(places(line)) == 1
