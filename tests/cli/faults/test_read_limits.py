"""Inputs that would take all memory: a sentence says which limit it was and how to raise it."""

import gzip
import io
from pathlib import Path

import pytest
from cli.asking import Ask

from compactctl.cli.group import Commands
from compactctl.cli.opt import Opt
from compactctl.cli.options.reading import LIMITS
from compactctl.store.files.limits import READ_LIMITS, ReadLimits, parse_byte_size

# Commands about one transcript; batch and verify take many and go on after one that is too large.
READING = [
    name
    for name, command in Commands().items()
    if {"input_path", "--max-line"} <= {name for each in command.params for name in each.opts}
]
FIRST = b'{"role":"user","content":"hi"}\n'
LONG = FIRST + b'{"role":"assistant","content":"%s"}\n' % (b"a" * 5_000)
MANY = FIRST * 300


# What a command is to do, where it has to be told.
NEEDED = {
    "compact": ("--layout", "inline"),
    "rescue": ("-n",),
}


def put(path: Path, data: bytes) -> Path:
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.each_choice
@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz", "-"])
@pytest.mark.parametrize("command", READING)
@pytest.mark.parametrize("limit", ["line", "unpacked"])
def test_every_command_stops_at_its_limits(
    ask: Ask, tmp_path: Path, command: str, name: str, limit: str
) -> None:
    data, option = (LONG if limit == "line" else MANY), f"--max-{limit}"
    what = f"has more than 1,024 bytes{' on line 2' if limit == 'line' else ''}"
    path = name if name == "-" else put(tmp_path / name, data)
    more = NEEDED.get(command, ())
    outcome = ask(command, path, option, "1K", *more, stdin=data)
    assert outcome.code == 3
    assert outcome.out == ""
    where = "standard input (-)" if name == "-" else path
    assert outcome.err == f"compactctl: {where}: {what}; allow more with {option}\n"
    if name == "run.jsonl":
        assert option not in ask(command, path, option, "1M", *more).err


@pytest.mark.parametrize("compacts", [(), ("--stages", "truncate")])
def test_batch_stops_at_its_limits(ask: Ask, tmp_path: Path, compacts: tuple[str, ...]) -> None:
    put(tmp_path / "a.jsonl", FIRST * 2)
    put(tmp_path / "b.jsonl.gz", LONG)
    outcome = ask("batch", tmp_path, "--max-line", "1K", "--json", *compacts)
    assert outcome.code == 3
    assert outcome.out.count("on line 2; allow more with --max-line") == 1


def test_the_environment_may_set_a_limit(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPACTCTL_MAX_LINE", "1k")
    assert ask("stats", put(tmp_path / "run.jsonl", LONG)).code == 3


def test_a_project_may_not_set_a_limit(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "compactctl.toml", b'max-unpacked = "1T"\n')
    outcome = ask("stats", put(tmp_path / "run.jsonl", LONG))
    assert outcome.code == 2
    assert "max-unpacked says how much of this machine may be used" in outcome.err


@pytest.mark.parametrize("size", ["0", "-1", "1.5M", "many", "1X", "0G", "9" * 20])
def test_what_is_no_size_is_refused(ask: Ask, tmp_path: Path, size: str) -> None:
    outcome = ask("stats", put(tmp_path / "run.jsonl", FIRST), "--max-line", size)
    assert outcome.code == 2
    assert "is not a size; write bytes, or a size like 64M or 1G" in outcome.err


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1", 1),
        ("1000", 1000),
        ("64M", 64 << 20),
        ("1g", 1 << 30),
        ("2 GiB", 2 << 30),
        ("3kB", 3072),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_byte_size(text) == size


def test_the_options_limit_what_is_limited_without_them() -> None:
    options = (option for option in LIMITS.parts if isinstance(option, Opt))
    defaults = {option.place: parse_byte_size(str(option.default)) for option in options}
    assert defaults == {
        "max_line_bytes": READ_LIMITS.max_line_bytes,
        "max_bytes": READ_LIMITS.max_bytes,
    }


def test_a_document_over_many_lines_is_one_line(ask: Ask, tmp_path: Path) -> None:
    document = b'{\n"messages": [\n%s]\n}\n' % b",\n".join([FIRST.strip()] * 60)
    path = put(tmp_path / "run.json", document)
    assert ask("stats", path).code == 0
    outcome = ask("stats", path, "--max-line", "1K")
    assert outcome.code == 3
    assert "--max-line" in outcome.err


def test_lines_are_limited_too() -> None:
    limits = ReadLimits(max_lines=3)
    lines = limits.limited_lines(io.BytesIO(b"\n" * 4), "run.jsonl")
    assert [next(lines) for _ in range(3)] == [b"\n"] * 3
    with pytest.raises(Exception, match="has more than 3 lines; split it"):
        next(lines)


class Endless(io.RawIOBase):
    """Zeros without an end, or so many lines; counts what was taken."""

    def __init__(self, unit: bytes) -> None:
        self.unit, self.taken = unit, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        size = len(buffer) // len(self.unit) * len(self.unit)
        buffer[:size] = self.unit * (size // len(self.unit))
        self.taken += size
        return size


@pytest.mark.parametrize("unit", [b"a", b"ab\n"])
def test_no_more_is_read_than_the_limits_allow(unit: bytes) -> None:
    limits = ReadLimits(max_line_bytes=100_000, max_bytes=300_000)
    endless = Endless(unit)
    with pytest.raises(Exception, match="allow more with"):
        list(limits.limited_lines(io.BufferedReader(endless, 6_000), "-"))
    assert endless.taken <= limits.max_bytes + 6_000
    if unit == b"a":
        assert endless.taken <= limits.max_line_bytes + 6_000


@pytest.mark.parametrize(
    "arguments",
    [
        ("stats", "RUN", "--system", "BIG"),
        ("stats", "RUN", "--tools", "BIG"),
        ("stats", "RUN", "--attach", "BIG"),
        ("stats", "RUN", "--windows", "BIG"),
        ("stats", "RUN", "--counter", "file:BIG"),
        ("compact", "RUN", "--profile", "BIG"),
        ("compact", "RUN", "--summary-file", "BIG"),
        ("compact", "RUN", "--template", "BIG"),
        ("compact", "RUN", "--from-error", "BIG"),
        ("harness", "overflow", "BIG"),
        ("harness", "limit-output", "BIG"),
        ("--config", "BIG", "stats", "RUN"),
    ],
    ids=lambda arguments: " ".join(arguments[:3]),
)
def test_what_is_read_beside_a_transcript_is_limited(
    ask: Ask, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    big = tmp_path / "big.toml"
    with big.open("wb") as stream:
        stream.truncate(1 << 30)
    run = put(tmp_path / "run.jsonl", FIRST)
    given = [each.replace("BIG", str(big)).replace("RUN", str(run)) for each in arguments]
    outcome = ask(*given)
    assert outcome.code in (2, 3)
    assert "has more than" in outcome.err
    assert outcome.err.count("\n") == 1


NO_TRANSCRIPT = {
    *("stages", "profiles", "models", "settings", "cache"),
    # An error, the output of a tool, files of any kind.
    *("overflow", "limit-output", "file-budget"),
    # The ends of sessions, never a whole one.
    "sessions",
    # What clients tell beside a session.
    *("integrate", "hook", "statusline"),
    # An agent that asks cannot be asked to raise a limit.
    "mcp",
    # What batches found out.
    *("report", "archive"),
}


def test_every_command_that_reads_a_transcript_has_the_options() -> None:
    commands = Commands()
    without = {
        name
        for name in commands
        if not {"--max-line", "--max-unpacked"}
        <= {f for p in commands[name].params for f in p.opts}
    }
    assert without == NO_TRANSCRIPT, (
        "compactctl/cli: add LIMITS of options/reading.py to a command that reads transcripts, or "
        f"the command to NO_TRANSCRIPT in {Path(__file__).name}"
    )
