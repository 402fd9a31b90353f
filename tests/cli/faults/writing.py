"""Every command line that writes, as data, and what a folder looks like to its user."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask
from store.faults import CALLS

from compactctl.store.files.filesystem import FileSystem
from compactctl.store.files.stale_drafts import DRAFT

NEVER_COMPACTED = 6


@dataclass(frozen=True, slots=True)
class Writing:
    """A command line, and those that were run before it in the same folder.

    GROUP and FIRST stand for the newest group and the first operation of run.compacted.jsonl.
    """

    command: str
    before: tuple[str, ...] = ()


SMALLER = "--stages truncate --target 600"
SMALLEST = "--stages truncate --target 300"
COMPACT = f"compact run.jsonl {SMALLER}"
AGAIN = f"compact run.compacted.jsonl {SMALLEST}"
INLINE = f"{COMPACT} --layout inline"
REWIND = "rewind run.compacted.jsonl"
# A command that writes something new belongs here: all faults are then tried on it.
WRITING = {
    "compact": Writing(COMPACT),
    "compact over an earlier output": Writing(COMPACT, (f"compact run.jsonl {SMALLEST}",)),
    "compact in place": Writing(f"{COMPACT} --in-place"),
    "compact inline": Writing(INLINE),
    "compact inline in place": Writing(f"{INLINE} --in-place"),
    "compact what was compacted": Writing(AGAIN, (COMPACT,)),
    "rewind": Writing(REWIND, (COMPACT,)),
    "rewind to a file": Writing(f"{REWIND} -o restored.jsonl", (COMPACT,)),
    "rewind over a file": Writing(
        f"{REWIND} -o restored.jsonl", (COMPACT, f"{REWIND} --to FIRST -o restored.jsonl")
    ),
    "rewind a group": Writing(f"{REWIND} --group GROUP", (COMPACT,)),
    "rewind to an operation": Writing(f"{REWIND} --to FIRST", (COMPACT, REWIND)),
    "rewind all": Writing(f"{REWIND} --all", (COMPACT, f"{AGAIN} --in-place")),
    "rewind inline": Writing(REWIND, (INLINE,)),
    "rewind inline to a file": Writing(f"{REWIND} -o restored.jsonl", (INLINE,)),
    "batch": Writing(f"batch run.jsonl other.jsonl --out out -j 1 {SMALLER}"),
    "batch report": Writing(
        "batch run.jsonl --report report.parquet", ("batch other.jsonl --report report.parquet",)
    ),
    "compact with its hidden lines": Writing(f"{COMPACT} --archived-out hidden.txt"),
    "hide": Writing("compact run.jsonl --hide 3..8"),
    "curve": Writing(
        "lab eval run.jsonl --stages truncate --keep 0.5 --plot curve.svg",
    ),
    "spill": Writing("harness limit-output run.jsonl --max-bytes 500 --spill-dir saved/today"),
}


def lay_out(folder: Path, writing: Writing, ask: Ask) -> list[str]:
    """Make a folder with two transcripts, run what comes before; return the command's arguments."""
    folder.mkdir()
    os.chdir(folder)
    for name, size in (("run", 8), ("other", 6)):
        Path(f"{name}.jsonl").write_bytes(transcript(size))
    for command in writing.before:
        outcome = ask(*_arguments(command, ask))
        assert outcome.code == 0, outcome.err
    return _arguments(writing.command, ask)


def transcript(exchanges: int) -> bytes:
    """Return a chat of long questions and answers."""
    turns = (
        (role, f"{role} {n}: " + f"part {n} and what is beside it. " * 8)
        for n in range(exchanges)
        for role in ("user", "assistant")
    )
    lines = (json.dumps({"role": role, "content": content}) for role, content in turns)
    return "".join(f"{line}\n" for line in lines).encode()


def _arguments(command: str, ask: Ask) -> list[str]:
    words = command.split()
    if {"GROUP", "FIRST"} & set(words):
        found = ask("log", "run.compacted.jsonl", "--json").json["operations"]
        names = {"GROUP": found[-1]["groups"][-1:], "FIRST": [found[0]]}
        known = {word: each[0]["id"] for word, each in names.items() if each}
        words = [known.get(word, word) for word in words]
    return words


@contextmanager
def disk(fs: FileSystem) -> Iterator[None]:
    """Let every command work on this file system, wherever it takes its own from."""
    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            patch.setattr(FileSystem, name, _led_to(fs, name))
        yield


def _led_to(fs: FileSystem, name: str) -> Callable[..., Any]:
    real = getattr(FileSystem, name)

    def call(own: FileSystem, *arguments: Any) -> Any:
        is_plain = type(own) is FileSystem
        return getattr(fs, name)(*arguments) if is_plain else real(own, *arguments)

    return call


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files that a user sees: not those in archive folders, and no drafts."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".archive" not in str(path) and not DRAFT.fullmatch(path.name)
    }


def drafts(folder: Path) -> list[str]:
    """Return the temporary files that are left."""
    return [path.name for path in folder.rglob("*") if DRAFT.fullmatch(path.name)]


def ways_back(folder: Path, ask: Ask) -> dict[str, str]:
    """Return, for each transcript, the digest of its first state, to which it can be rewound."""
    return {
        str(path.relative_to(folder)): _way_back(path, ask)
        for path in sorted(folder.rglob("*.jsonl"))
        if not DRAFT.fullmatch(path.name)
    }


def _way_back(path: Path, ask: Ask) -> str:
    outcome = ask("rewind", path, "--all", "--check", "--json")
    if outcome.code == NEVER_COMPACTED:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    assert outcome.code == 0, outcome.err
    return str(outcome.json["after"]["sha256"])
