"""Small histories that end with a command which is killed, or refused, at each of its calls.

COMPACTCTL_LONG_TESTS=1 tries every fault with every command.
"""

import errno
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from histories.doing import ask, everything, inside
from histories.interruptions import counted, failing_at, killed_at, meanwhile
from histories.shared import STEPPED_BACK, SharedLife
from talks import TALKS

FAULTS: dict[str, Callable[[int], AbstractContextManager[None]]] = {
    "killed": killed_at,
    "disk full": partial(failing_at, number=errno.ENOSPC),
    "disk broken": partial(failing_at, number=errno.EIO),
}
SMALL = ("--counter", "chars/4", "--stages", "truncate", "--keep", "40%", "--json")
LESS = ("--counter", "chars/4", "--stages", "prune", "--prune-protect-tokens", "30",
        "--prune-min-savings", "0", "--json")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """Commands that lead to a state, the last of which is interrupted.

    ``call`` names the call before which another program appends lines.
    """

    talk: str
    commands: Sequence[Sequence[str]]
    is_untidy: bool = False
    call: str = ""


FILE, OUT = "session.jsonl", "session.compacted.jsonl"
COMPACT = ("compact", FILE, *LESS)
NATIVE = ("compact", FILE, *SMALL, "--native", "--while-open")
CASES = {
    "compact": Case("openai-chat", [COMPACT]),
    "compact over an output": Case("openai-chat", [COMPACT, ("compact", FILE, *SMALL)]),
    "compact in place": Case("openai-chat", [(*COMPACT, "--in-place")]),
    "compact in place, and lines": Case("openai-chat", [(*COMPACT, "--in-place")], call="create"),
    "compact --native": Case("claude-code", [NATIVE]),
    "compact --native, and lines": Case("claude-code", [NATIVE], call="open_append"),
    "rewind": Case("openai-chat", [COMPACT, ("rewind", OUT, "--json")]),
    "rewind what was appended": Case("claude-code", [NATIVE, ("rewind", FILE, "--json")]),
    "verify --repair": Case(
        "openai-chat", [COMPACT, ("verify", OUT, "--repair", "--json")], is_untidy=True
    ),
}


# For each way of writing, those tried when a change is tested.
TRIED = {
    "compact": {"killed"},
    "compact in place, and lines": {"killed", "disk full"},
    "compact --native, and lines": {"killed", "disk full"},
    "rewind": {"killed"},
    "verify --repair": {"killed", "disk full"},
}


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        pytest.param(name, fault, marks=() if fault in TRIED.get(name, ()) else pytest.mark.long)
        for name in CASES
        for fault in FAULTS
    ],
)
def test_nothing_is_lost_at_any_call(tmp_path: Path, name: str, fault: str) -> None:
    case = CASES[name]
    with inside(tmp_path / "w"):
        life = begun(case)
    path, words = Path(case.commands[-1][1]), case.commands[-1]
    with again(tmp_path), counted() as calls:
        assert ask(*words).code == 0
    seen: list[Mapping[Path, bytes | int]] = []
    for n in range(1, len(calls) + 1):
        with again(tmp_path), ExitStack() as stack:
            other = deepcopy(life)
            if case.call in calls[:n]:
                moment = 1 + calls.index(case.call)
                adding = partial(other.add, path)
                stack.enter_context(meanwhile(moment, adding, reads=False))
            note = f", {fault} at its {n}th call that writes, {calls[n - 1]}"
            other.run(path, words, around=FAULTS[fault](n), note=note, refusals=STEPPED_BACK)
            state = contents()
            if state not in seen:
                seen.append(state)
                other.check()


def contents() -> Mapping[Path, bytes | int]:
    """Return what tells states apart: of an archive its size, of a draft that it is there."""
    return {
        path: data if path.suffix in {"", ".jsonl"} else path.suffix == ".parquet" and len(data)
        for path, data in everything().items()
    }


def begun(case: Case) -> SharedLife:
    """Return a session after all commands but the last."""
    life = SharedLife(next(talk for talk in TALKS if talk.name == case.talk), 3, 0)
    for words in case.commands[:-1]:
        life.run(Path(words[1]), words)
    if case.is_untidy:
        life.untidy(Path(case.commands[-1][1]), 0)
    return life


@contextmanager
def again(folder: Path) -> Iterator[None]:
    """Be in a copy of the folder ``w``, with its hard links."""
    old, copy = Path.cwd(), folder / "copy"
    subprocess.run(["cp", "-a", folder / "w", copy], check=True)  # noqa: S607
    os.chdir(copy)
    try:
        yield
    finally:
        os.chdir(old)
        shutil.rmtree(copy)
