"""Archives changed at random, their checksums right again: an exit code, no bug, nothing half done.

A sample by default; COMPACTCTL_LONG_TESTS=1 takes a hundred times as many.
"""

import hashlib
import io
import json
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from cli.asking import SAMPLES, Ask, archives
from examples import LONG
from store.archive.forging import Record, Rows, forge, record_of, rows_of

from compactctl.__main__ import run

CASES = 100 if LONG else 1
SECONDS = 100
"""A command that takes as long on a few kilobytes does not end at all."""
DOCUMENTED = {0, 1, 2, 3, 4, 5, 6, 7, 8}
COMMANDS = (
    ("log", "FILE"),
    ("log", "FILE", "--json"),
    ("rewind", "FILE", "--check"),
    ("rewind", "FILE", "--check", "--all"),
    ("rewind", "FILE", "--check", "--to", "ID"),
    ("rewind", "FILE", "--check", "--group", "GROUP"),
    ("view", "FILE", "--all"),
    ("verify", "FILE"),
    ("view", "FILE", "--archived", "--json"),
    ("compact", "FILE", "-n", "--stages", "summarize,truncate", "--keep-turns", "0"),
    ("compact", "FILE", "--stages", "summarize,truncate", "--keep-turns", "0"),
    ("rewind", "FILE", "-o", "OUT"),
    ("rewind", "FILE"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, 0, 1, -1, 2, 3, 1.5, 2**31, 2**62, 10**40, [], {}, [[]], {"a": 1}, ["x"]),
    *("", "x", "../x", "\ud800", "a\nb", "0" * 64, "hide", "insert", "replace", "kept", "rewind"),
)
COLUMNS: dict[str, tuple[Any, ...]] = {
    "int": (None, 0, 1, -1, 7, 2**31, 2**63 - 1, -(2**63)),
    "bytes": (None, b"", b"\n", b"{}\n", b"\0", b'{"role":"user"}\n', b"[" * 300, b"no line end"),
    "str": (None, "", "x", "kept", "hidden", "replaced", "[]", "{}", "[" * 5_000, "[{}]", "\n"),
}


@pytest.fixture(
    scope="module",
    params=["openai-chat", pytest.param("claude-code-session", marks=pytest.mark.long)],
)
def compacted_twice(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return a transcript that was compacted twice; tests work on copies of its folder."""
    folder = tmp_path_factory.mktemp(request.param)
    shutil.copy(SAMPLES / f"{request.param}.jsonl", folder)
    path = folder / f"{request.param}.compacted.jsonl"
    first = ("compact", str(folder / f"{request.param}.jsonl"))
    assert run([*first, "--stages", "prune,summarize", "--prune-min-savings", "0"]) == 0
    more = ("--stages", "truncate", "--keep-turns", "0")
    assert run(["compact", str(path), "--in-place", *more]) == 0
    assert len(archives(path)) == 2
    return path


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(n, marks=pytest.mark.long) for n in range(2, 8))]
)
def test_a_changed_archive_is_read_or_refused(
    ask: Ask, compacted_twice: Path, tmp_path: Path, seed: int
) -> None:
    for number in range(CASES):
        random = Random(f"{seed} {number}")
        path = Path(
            shutil.copytree(compacted_twice.parent, tmp_path / "desk"), compacted_twice.name
        )
        for _ in range(random.randint(1, 2)):
            random.choice(MUTATIONS)(random, archives(path))
        for command in COMMANDS:
            answers(ask, [_filled(each, path, random) for each in command], f"{seed} {number}")
        shutil.rmtree(path.parent)


def _filled(argument: str, path: Path, random: Random) -> str:
    found = [each.stem.split("-")[2] for each in archives(path)]
    values = {"FILE": str(path), "OUT": str(path.with_name("out.jsonl"))}
    values |= {"ID": random.choice(found), "GROUP": random.choice(groups_in(path))}
    return values.get(argument, argument)


def groups_in(path: Path) -> list[str]:
    """Return names of groups as tags in the transcript give them."""
    names = [
        str(value)
        for line in path.read_bytes().splitlines()
        for key, value in json.loads(line).items()
        if key in ("condenseId", "truncationId", "editId")
    ]
    return names or ["none"]


def answers(ask: Ask, arguments: list[str], case: str) -> None:
    """Run a command; it must end with a code of its own and leave everything as it was if not 0."""
    folder = Path(arguments[1]).parent
    before = content(folder)
    with deadline(), text_of_any_kind():
        outcome = ask(*arguments)
    assert outcome.code in DOCUMENTED, (case, arguments, outcome.err)
    if outcome.code or "--check" in arguments or "-n" in arguments:
        assert content(folder) == before, (case, arguments, outcome.err)


def content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@contextmanager
def text_of_any_kind() -> Iterator[None]:
    """Let standard output take lone surrogates, as it does in a process of our own."""
    assert isinstance(sys.stdout, io.TextIOWrapper)
    before = sys.stdout.errors
    sys.stdout.reconfigure(errors="backslashreplace")
    yield
    sys.stdout.reconfigure(errors=before)


@contextmanager
def deadline() -> Iterator[None]:
    """Raise what nobody catches when the block takes too long."""

    def ended(*_: object) -> None:
        pytest.exit("a command does not end")

    before = signal.signal(signal.SIGALRM, ended)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def change_record(random: Random, files: list[Path]) -> None:
    """Put another value somewhere into an operation."""
    file = random.choice(files)
    record = record_of(file)
    _change_json(random, record)
    forge(file, record, rows_of(file))


def change_chain(random: Random, files: list[Path]) -> None:
    """Let operations name one another as parents and heads."""
    names = [*(record_of(file)["id"] for file in files), None, "abcdef012345"]
    file = random.choice(files)
    record = record_of(file) | {random.choice(["parent", "head"]): random.choice(names)}
    forge(file, record, rows_of(file))


def change_states(random: Random, files: list[Path]) -> None:
    """Give an operation a state of another one."""
    file, other = random.choice(files), random.choice(files)
    mine, others = random.choice(["before", "after"]), random.choice(["before", "after"])
    forge(file, record_of(file) | {mine: record_of(other)[others]}, rows_of(file))


def change_cell(random: Random, files: list[Path]) -> None:
    """Put another value into a row."""
    file = random.choice(files)
    rows = rows_of(file)
    row = random.choice(rows)
    name = random.choice([each for each in row if each != "sha256"])
    kind = "bytes" if name == "raw" else "int" if name in ("seq", "after_line", "tokens") else "str"
    row[name] = random.choice(COLUMNS[kind])
    _forge_either(random, file, rows)


def change_rows(random: Random, files: list[Path]) -> None:
    """Leave rows out, repeat them, or change their order."""
    file = random.choice(files)
    rows = rows_of(file)
    at, other = random.randrange(len(rows)), random.randrange(len(rows))
    match random.randrange(3):
        case 0:
            del rows[at]
        case 1:
            rows.insert(at, dict(rows[other]))
        case _:
            rows[at], rows[other] = rows[other], rows[at]
    if random.random() < 0.7:
        rows = [row | {"seq": number} for number, row in enumerate(rows)]
    _forge_either(random, file, rows)


def change_edits(random: Random, files: list[Path]) -> None:
    """Change the edits of a row, which are JSON, or give it those of another one."""
    file = random.choice(files)
    rows = rows_of(file)
    texts = [row["edits"] for each in files for row in rows_of(each) if row["edits"]]
    with_edits = [row for row in rows if row["edits"]]
    if not with_edits:
        return
    row, edits = random.choice(with_edits), json.loads(random.choice(texts))
    for _ in range(random.randint(0, 2)):
        _change_json(random, edits)
    row["edits"] = json.dumps(edits)
    forge(file, record_of(file), rows)


def swap_files(random: Random, files: list[Path]) -> None:
    """Exchange the contents of two archives, or keep one twice."""
    file, other = random.choice(files), random.choice(files)
    if random.random() < 0.5:
        mine, others = file.read_bytes(), other.read_bytes()
        file.write_bytes(others)
        other.write_bytes(mine)
    else:
        shutil.copy(file, file.with_name(f"0009-{file.name.partition('-')[2]}"))


MUTATIONS: tuple[Callable[[Random, list[Path]], None], ...] = (
    change_record,
    change_record,
    change_chain,
    change_states,
    change_cell,
    change_cell,
    change_rows,
    change_edits,
    change_edits,
    swap_files,
)


def _change_json(random: Random, value: Any) -> None:
    """Put another value at a random place of a JSON value, take one out or add one."""
    at = value
    while True:
        keys: list[Any] = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            return
        key = random.choice(keys)
        if not isinstance(at[key], dict | list) or not at[key] or random.random() < 0.1:
            break
        at = at[key]
    match random.randrange(5):
        case 0:
            del at[key]
        case 1 if isinstance(at, dict):
            at[random.choice(["x", "id", "n_bytes"])] = at[key]
        case _:
            at[key] = random.choice(VALUES)


def _forge_either(random: Random, file: Path, rows: Rows) -> None:
    """Write rows with the operation as it is, or with one that promises just these rows."""
    record: Record = record_of(file)
    if random.random() < 0.5:
        data = b"".join(row["raw"] or b"" for row in rows)
        n_lines = data.count(b"\n") + (not data.endswith(b"\n"))
        digest = hashlib.sha256(data).hexdigest()
        record["before"] = {"sha256": digest, "n_bytes": len(data), "n_lines": n_lines}
    forge(file, record, rows)
