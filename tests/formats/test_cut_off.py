"""What is left of a transcript is told from other data, wherever it was cut off."""

from pathlib import Path

import pytest
from conftest import ROOT

from compactctl.commands.reading.transcript import split
from compactctl.errors import NotATranscriptError, NotUnderstoodError
from compactctl.formats.records.decode import complete_value
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
