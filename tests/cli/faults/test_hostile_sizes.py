"""Inputs made to take all memory and time, in a process that may have so much memory and no more.

Most of them only with COMPACTCTL_LONG_TESTS=1.
"""

import gzip
import sys
from pathlib import Path

import pytest
from cli.faults.limited import compactctl
from examples import LONG
from formats.jsonl import write_lines

COMMANDS = ("stats", "check", "compact", "view", "log", "rewind", "batch") if LONG else ("stats",)
MEGABYTE = 1 << 20
FIRST = b'{"role":"user","content":"hi"}\n'
START, END = b'{"role":"assistant","content":"', b'"}\n'

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="other systems do not limit address space"
)


def packed(path: Path, start: bytes, unit: bytes, times: int, end: bytes = b"") -> Path:
    """Write a gzip file of a beginning, something repeated, and an end."""
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(start)
        for _ in range(times):
            stream.write(unit)
        stream.write(end)
    return path


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
def test_little_that_unpacks_to_one_endless_line(tmp_path: Path, command: str) -> None:
    size = 1_600 if LONG else 300
    path = packed(tmp_path / "run.jsonl.gz", FIRST + START, b"a" * MEGABYTE, size, END)
    found = compactctl(tmp_path, command, str(path), megabytes=1_000)
    assert found.returncode == 3
    assert "more than 268,435,456 bytes on line 2; allow more with --max-line" in (
        found.stderr + found.stdout
    )


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("unit", "times", "code"),
    [(b"\n" * MEGABYTE, 3_000, 3), (FIRST * 1_000, 30_000, 3), (b"\0" * MEGABYTE, 3_000, 3)],
    ids=["empty lines", "short messages", "zeros"],
)
def test_little_that_unpacks_to_gigabytes(
    tmp_path: Path, command: str, unit: bytes, times: int, code: int
) -> None:
    path = packed(tmp_path / "run.jsonl.gz", FIRST, unit, times)
    found = compactctl(tmp_path, command, str(path), megabytes=8_000)
    assert found.returncode == code
    assert "has more than" in found.stderr + found.stdout


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
def test_a_line_of_a_gigabyte(tmp_path: Path, command: str) -> None:
    path = tmp_path / "run.jsonl"
    with path.open("wb") as stream:
        stream.write(FIRST + START)
        for _ in range(1_024):
            stream.write(b"a" * MEGABYTE)
        stream.write(END)
    found = compactctl(tmp_path, command, str(path), megabytes=1_000)
    assert found.returncode == 3
    assert "on line 2; allow more with --max-line" in found.stderr + found.stdout


@pytest.mark.long
@pytest.mark.parametrize("depth", [200, 900, 1_100, 100_000, 40_000_000])
@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
@pytest.mark.parametrize("command", COMMANDS[:4])
def test_nesting_of_any_depth(tmp_path: Path, command: str, opening: bytes, depth: int) -> None:
    path = tmp_path / "run.jsonl"
    closing = b"]" if opening == b"[" else b"}"
    content = opening * depth + b"0" + closing * depth
    path.write_bytes(FIRST + b'{"role":"assistant","content":' + content + b"}\n" + FIRST)
    assert compactctl(tmp_path, command, str(path), megabytes=4_000).returncode in (0, 4)


@pytest.mark.long
def test_a_tool_result_of_100_megabytes_works(tmp_path: Path) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    output = "".join(f"line {n} of what a tool printed\n" for n in range(3_000_000))
    records = (
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": output[: 100 * MEGABYTE]},
        *({"role": role, "content": "go on"} for role in ("assistant", "user") * 12),
    )
    path = write_lines(tmp_path / "run.jsonl", *records)
    before = path.read_bytes()
    for arguments in (
        ("stats", "run.jsonl"),
        ("compact", "run.jsonl", "--stages", "truncate"),
        ("view", "run.compacted.jsonl", "--all"),
        ("log", "run.compacted.jsonl"),
        ("rewind", "run.compacted.jsonl"),
    ):
        found = compactctl(tmp_path, *arguments, megabytes=4_000)
        assert (arguments, found.returncode) == (arguments, 0)
    assert (tmp_path / "run.compacted.jsonl").read_bytes() == before
