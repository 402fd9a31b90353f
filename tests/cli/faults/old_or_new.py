"""What a folder is before and after a command that writes, and whether it is one of the two."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli.asking import Ask
from cli.faults.writing import Writing, contents, disk, lay_out, ways_back
from examples import LONG
from store.faults import RENAMES, Watched

from compactctl.__main__ import run


@dataclass(frozen=True, slots=True)
class Reference:
    """What a folder holds before and after a command, and the calls that it makes."""

    old: dict[str, bytes]
    new: dict[str, bytes]
    old_ways: dict[str, str]
    new_ways: dict[str, str]
    log: list[tuple[str, tuple[Any, ...]]]

    def is_either(self, folder: Path) -> bool:
        """Tell whether every file is as it was, or as it is to be."""
        found = contents(folder)
        names = found.keys() | self.old.keys() | self.new.keys()
        return all(found.get(name) in (self.old.get(name), self.new.get(name)) for name in names)

    def ways(self, folder: Path) -> dict[str, str]:
        """Return the ways back that the transcripts have to have, as they are now."""
        found = contents(folder)
        is_new = {name: found[name] == self.new.get(name) for name in found}
        ways = {True: self.new_ways, False: self.old_ways}
        return {name: ways[is_new[name]][name] for name in found if name.endswith(".jsonl")}


_KNOWN: dict[Writing, Reference] = {}


def reference(folder: Path, writing: Writing, ask: Ask) -> Reference:
    """Return what the command does in ``folder``, which is made unless that is known already."""
    if writing not in _KNOWN:
        _KNOWN[writing] = _tried(folder, writing, ask)
    return _KNOWN[writing]


def _tried(folder: Path, writing: Writing, ask: Ask) -> Reference:
    arguments = lay_out(folder, writing, ask)
    old, old_ways = contents(folder), ways_back(folder, ask)
    watched = Watched()
    with disk(watched):
        outcome = ask(*arguments)
    assert outcome.code == 0, outcome.err
    new = contents(folder)
    assert new != old
    return Reference(old, new, old_ways, ways_back(folder, ask), watched.log)


def points(log: Sequence[tuple[str, tuple[Any, ...]]]) -> list[int]:
    """Return the calls to try: in the gate those around the last move, which switches the state."""
    last = max(n for n, (name, _) in enumerate(log, 1) if name in RENAMES)
    if LONG:
        return list(range(1, len(log) + 1))
    return [last, last + 1]


def quietly(arguments: list[str]) -> None:
    """Run a command whose output nobody sees."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    run(arguments)
