"""Histories as hypothesis draws them, how each one runs, and how it is told when it fails."""

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from histories.doing import inside
from histories.life import BrokenPromiseError, Life, Step
from hypothesis import strategies as st
from talks import TALKS, Talk

# The more often a step is named, the more often it is taken.
STEPS = (
    *("compact",) * 5,
    *("append",) * 4,
    *("rewind",) * 3,
    *("damage",) * 2,
    "group",
    "client",
    "client",
    "unclient",
    "unclient",
    "kill",
)
LONGEST = 7
_NAMES = re.compile(r"\b[0-9a-f]{12}\b|\b\d+\b|\S*\.jsonl?\b\S*| \(\d{4}-\S+\)|\(('\S+'(, )?)+,?\)")


@dataclass(frozen=True, slots=True)
class History:
    """A session to begin with, and what is done to it, step by step."""

    talk: Talk
    turns: int
    style: int
    steps: tuple[Step, ...]

    @classmethod
    def of(cls, name: str, turns: int, style: int, *steps: Step) -> "History":
        """Return a history of the session with this name."""
        return cls(next(talk for talk in TALKS if talk.name == name), turns, style, steps)

    def __repr__(self) -> str:
        steps = ", ".join(map(repr, self.steps))
        return f"History.of({self.talk.name!r}, {self.turns}, {self.style}, {steps})"


@dataclass(frozen=True, slots=True)
class Failure:
    """A history that broke a promise, with the commands that do it again in ``folder``."""

    history: History
    error: str
    commands: tuple[str, ...]

    def __str__(self) -> str:
        commands = "".join(f"   {command}\n" for command in self.commands)
        return f"{self.error}\n   {self.history}\n{commands}"

    @property
    def kind(self) -> str:
        """What tells failures apart: the error without names and numbers."""
        return _NAMES.sub("…", self.error.splitlines()[0])


_PICKS = st.integers(0, 999)


def histories(*talks: Talk) -> st.SearchStrategy[History]:
    """Return histories of some sessions."""
    step = st.builds(Step, kind=st.sampled_from(STEPS), pick=_PICKS, way=_PICKS)
    return st.builds(
        History,
        talk=st.sampled_from(talks or TALKS),
        turns=st.integers(1, 3),
        style=st.integers(0, 4),
        steps=st.lists(step, min_size=3, max_size=LONGEST).map(tuple),
    )


def failure_of(history: History, keep: Path | None = None) -> Failure | None:
    """Run a history; return how it fails, None if it does not.

    ``keep`` is a folder for its files and a script with its commands.
    """
    with _folder(keep) as folder, inside(folder):
        life = Life(history.talk, history.turns, history.style)
        try:
            for step in history.steps:
                life.take(step)
        except BrokenPromiseError as error:
            if keep is not None:
                Path("commands.sh").write_text("\n".join(life.commands) + "\n")
            return Failure(history, str(error), tuple(life.commands))
    return None


def shrunk(failure: Failure) -> Failure:
    """Return the failure with as few steps as still fail in the same way."""
    index = len(failure.history.steps) - 1
    while index >= 0:
        steps = failure.history.steps
        fewer = replace(failure.history, steps=steps[:index] + steps[index + 1 :])
        found = failure_of(fewer)
        if found is not None and found.kind == failure.kind:
            failure = found
        index -= 1
    return failure


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        shutil.rmtree(keep, ignore_errors=True)
        yield keep
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "w"
