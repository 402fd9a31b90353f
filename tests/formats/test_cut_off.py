"""What is left of a transcript is told from other data, wherever it was cut off."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from conftest import ROOT
from formats.confusion.shapes import READ
from formats.vscode_chat.chats import TALK, export
from talks import TALKS, document

from compactctl.clients.records.decode import complete_value, is_cut_off
from compactctl.commands.reading.transcript import InputOptions, scan, split
from compactctl.errors import NotATranscriptError, NotUnderstoodError
from compactctl.store.files.source import split_lines

SAMPLES = sorted(
    (*ROOT.glob("sample_transcripts/*.jsonl"), *ROOT.glob("tests/archives/0.1.0/*/session.json*"))
)
SHARES = (0.1, 0.5, 0.9, 0.999)


def is_damaged_or_read(data: bytes) -> bool:
    try:
        split(split_lines(data), "test", None)
    except NotUnderstoodError as error:
        return not isinstance(error, NotATranscriptError)
    return True


@pytest.mark.parametrize("path", [each for each in SAMPLES if each.is_file()], ids=str)
def test_a_cut_off_transcript_is_no_other_data(path: Path) -> None:
    data = path.read_bytes()
    for share in SHARES:
        whole = data[: int(len(data) * share)]
        assert is_damaged_or_read(whole), share
        assert is_damaged_or_read(whole.ljust(len(data), b"\0")), share


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'[{"role": "user", "content": "mend', [{"role": "user", "content": "mend"}]),
        (b'{"a": "caf\\u00', {"a": "caf"}),
        (b'{"a": "caf\xc3', {"a": "caf"}),
        (b'{"a": "\\', {"a": ""}),
        (b'{"a": [1, 2', {"a": [1]}),
        (b'{"a": [1, {"b": tr', {"a": [1, {}]}),
        (b'{"a": 1, "b', {"a": 1}),
        (b'{"a": 1}]rest', {"a": 1}),
        (b'{"a": 1, // why\n "b": 2}', None),
        (b'{"a": 1,}', None),
        (b"words, and [more] of them", None),
        (b"", None),
    ],
)
def test_a_value_is_completed(text: bytes, value: object) -> None:
    assert complete_value(text) == value


def documents() -> dict[str, Any]:
    """Return a document of every format that has one, and of every shape that logs have."""
    shapes = {name: data for name, (_, data) in READ.items() if data.count(b"\n") <= 1}
    sessions = {talk.name: talk.begin(3, 4) for talk in TALKS if talk.is_document}
    chat = {"VS Code": json.dumps(export(*TALK)).encode()}
    return {n: json.loads(data) for n, data in {**shapes, **sessions, **chat}.items()}


DOCUMENTS = documents()


def written(value: Any) -> Iterator[bytes]:
    """Yield a document as its writers lay it out: on a line, on many, or with a line a record."""
    yield from (document(value, style) for style in range(5))
    name = (
        next((name for name, inner in value.items() if isinstance(inner, list)), "")
        if isinstance(value, dict)
        else ""
    )
    records = value[name] if name else value
    if isinstance(records, list):
        text = ",\n".join(map(json.dumps, records))
        yield (f'{{"{name}": [\n{text}\n]}}' if name else f"[\n{text}\n]").encode()
        yield (f'\n{{"{name}": [{text}]}}' if name else f"\n[{text}]").encode()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_that_ends_early_is_never_its_last_record(name: str) -> None:
    random = Random(name)
    for whole in written(DOCUMENTS[name]):
        ends = [match.end() for match in re.finditer(rb"\},?\s*", whole)]
        places = [*ends, *(match.start() + 1 for match in re.finditer(rb"[}\]\"]", whole))]
        places += random.sample(range(2, len(whole)), 20)
        last = len(whole.rstrip())
        for place in sorted({place for place in places if place < last})[-40:]:
            assert is_damaged(whole[:place]), whole[:place][-60:]


def is_damaged(data: bytes) -> bool:
    try:
        split(split_lines(data), "test", None)
    except NotUnderstoodError as error:
        return "incomplete JSON" in str(error)
    return False


@pytest.mark.parametrize("name", ["chat array", "roo", "opencode", "VS Code"])
def test_a_named_format_reads_no_part_of_a_document(name: str, tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    for whole in written(DOCUMENTS[name]):
        path.write_bytes(whole[: whole.rindex(b"}", 0, -3) + 1])
        for format_name in (None, "openai-chat", "roo"):
            with pytest.raises(NotUnderstoodError):
                scan(InputOptions(path=str(path), format=format_name))


@pytest.mark.parametrize(
    "text",
    [
        b'[\n{"role": "user", "content": "a"},\n{"role": "us\n{"role": "user"}\n]\n',
        b'{"role": "user", "content": "a"},\n{"role": "user", "content": "b"}\n]\n',
        b'{"role": "user", "content": "a"},\n{"role": "user", "content": "b"}\n',
    ],
)
def test_a_damaged_document_is_never_its_last_record(text: bytes) -> None:
    assert is_damaged(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b'[{"a": 1}', True),
        (b'{"a": "caf\xc3', True),
        (b'{"a": "\\u00', True),
        (b'{"a": [1, -', True),
        (b'{"a": tr\n', True),
        (b'\xef\xbb\xbf{"a": 1,\0\0', True),
        (b'{"a": 1}', False),
        (b'{"a": 1}{"b', False),
        (b'{"a": "x\n{"b": 1}\n', False),
        (b'[{"a": 1}\n{"b": 1}\n', False),
        (b'{"a" 1}', False),
        (b'"words', False),
        (b"[" * 100_000, False),
    ],
)
def test_the_start_of_a_value_is_told_from_other_text(text: bytes, *, expected: bool) -> None:
    assert is_cut_off(text) is expected
