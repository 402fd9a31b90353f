"""Several records on one line, whole and torn: each whole one is read, the rest is measured."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from examples import tries
from hypothesis import given
from hypothesis import strategies as st
from talks import TALKS, Talk

from compactctl.clients.records.decode import decode, decode_lines
from compactctl.clients.records.unread import text_in
from compactctl.commands.reading.transcript import parse, split
from compactctl.model.transcript import RawLine
from compactctl.store.files.source import split_lines

TEXTS = st.text(max_size=20) | st.sampled_from(['{"', '}{"', "[{", "\\", '"', "é", "\ud800", "\0"])
VALUES = st.recursive(
    TEXTS | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, min_size=1, max_size=3)
ONE_A_LINE = frozenset({"claude-code", "copilot-cli", "gemini-cli"})
"""The clients that load no line which holds several records."""
RECORDS = OBJECTS | st.lists(OBJECTS, min_size=1, max_size=3)


def lost(data: bytes) -> int:
    (line,) = decode_lines([RawLine(0, data)])
    return sum(map(len, line.lost))


@tries(300)
@given(
    records=st.lists(RECORDS, min_size=2, max_size=6),
    gap=st.sampled_from(["", " ", "\t ", "\0\0"]),
    is_ascii=st.booleans(),
)
def test_all_records_on_a_line_are_read(records: list[Any], gap: str, *, is_ascii: bool) -> None:
    texts = (json.dumps(record, ensure_ascii=is_ascii) for record in records)
    data = gap.join(texts).encode("utf-8", "surrogatepass")
    if not is_ascii and "\ud800" in data.decode("utf-8", "surrogatepass"):
        return
    assert decode(data) == (tuple(records), f"{len(records)} records on one line")
    assert lost(data) == 0


@tries(300)
@given(
    before=st.lists(OBJECTS, max_size=2),
    torn=OBJECTS,
    share=st.floats(0, 1, exclude_max=True),
    behind=st.lists(OBJECTS, max_size=2),
)
def test_what_is_in_a_torn_record_is_no_record(
    before: list[Any], torn: Any, share: float, behind: list[Any]
) -> None:
    text = json.dumps(torn)
    piece = text[: max(1, int(len(text) * share))]
    data = "".join((*map(json.dumps, before), piece, *map(json.dumps, behind))).encode()
    values, damage = decode(data)
    assert damage is not None
    assert list(values[: len(before)]) == before
    # Behind a colon, a bracket or a comma, the next record reads on as a part of the torn one.
    assert list(values[len(before) :]) in [behind[n:] for n in range(len(behind) + 1)]
    read = sum(len(json.dumps(value)) for value in values)
    assert read + lost(data) == len(data.rstrip())


@pytest.mark.parametrize(
    ("data", "values", "n_lost"),
    [
        (b'{"a": "x{"b": 1}{"c": 2}', ({"b": 1}, {"c": 2}), 8),
        (b'{"a": 1}{"b": "x{"c": 2}', ({"a": 1}, {"c": 2}), 8),
        (b'{"a": 1}{"b": 2}{"c": "x', ({"a": 1}, {"b": 2}), 8),
        (b'{"a": 1}{"b": 2}{"c": "\xc3', ({"a": 1}, {"b": 2}), 8),
        (b'{"a": "\xc3{"b": 2}{"c": 3}', ({"b": 2}, {"c": 3}), 8),
        (b'{"a": 1} words', ({"a": 1},), 5),
        (b'{"a": [{"b": 2}, {"c": 3}', (), 25),
        (b'b": 1}, {"c": 2}], "d": {"e": 3}}{"f": 4}', ({"f": 4},), 33),
        (b'words {"a": 1}{"b": 2}', (), 22),
        (b'words "{"a": 1} and words', (), 25),
        (b'[{"a": 1}][{"b": "x[{"c": 3}]', ([{"a": 1}], [{"c": 3}]), 9),
        (b"[1][2]", (), 6),
        (b'2026-01-01T00:00:00 INFO {"a": 1}{"b": 2}', ({"a": 1}, {"b": 2}), 0),
        (
            b'{"log":"{\\"a\\":1}{\\"b\\":2}\\n","stream":"stdout","time":"x"}',
            ({"a": 1}, {"b": 2}),
            0,
        ),
        (b'{"a": 1}{"b": ' + b"[" * 100_000, ({"a": 1},), 100_006),
        (b'{"a": 1e400}{"b": 123456789012345678901234567890}{"c": 3}', None, 0),
        (b"\0\0\0", (), 0),
    ],
)
def test_what_is_lost_is_measured(data: bytes, values: tuple[Any, ...] | None, n_lost: int) -> None:
    assert lost(data) == n_lost
    if values is not None:
        assert decode(data)[0] == values


@pytest.mark.parametrize("n_records", [2, 3, 7, 1_000])
@pytest.mark.parametrize(
    "talk",
    [t for t in TALKS if not (t.is_document or t.name.removeprefix("stored ") in ONE_A_LINE)],
    ids=lambda t: t.name,
)
def test_every_message_of_glued_lines_counts(talk: Talk, n_records: int) -> None:
    lines = split_lines(talk.begin(4, 1))
    glued = [
        b"".join(line.rstrip(b"\n") for line in group) + b"\n"
        for group in batched(lines, n_records)
    ]
    assert messages(glued) == messages(lines)


def batched(lines: Sequence[bytes], size: int) -> Iterator[Sequence[bytes]]:
    return (lines[start : start + size] for start in range(0, len(lines), size))


def messages(lines: Sequence[bytes]) -> list[Any]:
    effective = parse(*split(lines, "test", None)).effective
    return [[(type(part), text_in(part)) for part in message.parts] for message in effective]
