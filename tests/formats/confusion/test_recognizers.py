"""Each file is taken by one format, in whatever order they are asked: no recognizer is too wide."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from file_commands import load_file
from formats.confusion.dialects import each_row
from formats.confusion.shapes import READ

from compactctl.clients.apis.api_format import ApiLog
from compactctl.clients.detection import MAX_SNIFFED
from compactctl.clients.records.decode import decode_lines
from compactctl.clients.registry import ALL_FORMATS, DIALECTS
from compactctl.clients.unsupported import describe_records
from compactctl.commands.reading.transcript import split
from compactctl.errors import CompactctlError
from compactctl.model.transcript import RawLine
from compactctl.store.files.source import split_lines

SAMPLES = Path(__file__).parents[3] / "sample_transcripts"
_APIS = {*(dialect.name for dialect in DIALECTS), "api-log"}
# What these write are the messages that they send to an API.
_OF_AN_API = {
    "cline": {"openai-chat", "anthropic-messages"},
    "roo": {"openai-chat"},
    "mini-swe-agent": {"openai-chat"},
}


def sayers(data: bytes) -> set[str]:
    """Return the names of all that take a file for theirs, in whatever order they are tried.

    The dialects are asked together; what is known by sight says what it looks like.
    """
    try:
        lines, _ = split(split_lines(data), "", ALL_FORMATS[0].name)
    except CompactctlError:
        return set()
    raw = (RawLine(index, line) for index, line in enumerate(lines))
    values = (value for line in decode_lines(raw) for value in line.values)
    first = list(islice(values, MAX_SNIFFED))
    records = _objects(first, depth=1)
    are_arrays = bool(first) and not any(isinstance(value, Mapping) for value in first)
    found = {
        each.name
        for each in ALL_FORMATS
        if each.name not in _APIS and (each.reads_arrays or not are_arrays) and each.sniff(records)
    }
    of_apis = ApiLog(DIALECTS).classify(_objects(first, depth=2))
    found |= {of_apis.name} if isinstance(of_apis, ApiLog) else set()
    foreign = describe_records(records)
    return found | ({foreign.description} if foreign else set())


def _objects(values: Iterable[Any], depth: int) -> Sequence[Mapping[str, Any]]:
    for _ in range(depth):
        values = [i for value in values for i in (value if isinstance(value, list) else [value])]
    return [value for value in values if isinstance(value, Mapping)][:MAX_SNIFFED]


ROWS = each_row()


@pytest.mark.parametrize("name", ROWS)
def test_any_dialect_in_any_row_and_layer_is_one_format_s(name: str, tmp_path: Path) -> None:
    wanted, data = ROWS[name]
    assert sayers(data) == {wanted}
    path = tmp_path / "log"
    path.write_bytes(data)
    loaded = load_file(path)
    assert loaded.format.name == wanted
    assert loaded.transcript.effective
    assert not loaded.transcript.opaque


@pytest.mark.parametrize("name", READ)
def test_a_shape_is_one_format_s_and_no_other_s(name: str) -> None:
    wanted, data = READ[name]
    assert sayers(data) == {wanted}, "more than one format takes it: narrow sniff of the others"


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.jsonl")), ids=lambda path: path.name)
def test_a_sample_is_one_format_s_and_no_other_s(path: Path) -> None:
    (found,) = sayers(path.read_bytes())
    assert path.name.startswith((found, "damaged"))


def test_a_real_file_is_one_format_s_and_no_other_s(real_transcripts: Path) -> None:
    names = {each.name for each in ALL_FORMATS}
    wrong = {}
    for path in sorted(each for each in real_transcripts.rglob("*") if each.is_file()):
        folder = path.relative_to(real_transcripts).parts[0]
        found = sayers(path.read_bytes())
        allowed = {folder, *_OF_AN_API.get(folder, ())} if folder in found else set()
        if not (found & names) <= allowed:
            wrong[path.name] = found
    assert wrong == {}
