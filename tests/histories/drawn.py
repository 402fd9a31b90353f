"""Histories as hypothesis draws them, how each one runs, and how it is told when it fails."""

import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from histories.doing import inside
from histories.life import Life
from histories.session import BrokenPromiseError, Step
from histories.shared import SharedLife
from hypothesis import strategies as st
from talks import TALKS, Talk

from compactctl.records import replace

# The more often a step is named, the more often it is taken.
ALONE = (
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
SHARED = (
    *("compact",) * 4,
    *("append",) * 2,
    *("rewind",) * 3,
    *("overwrite", "exchange", "away"),
    *("nightly", "link"),
    *("hold", "late") * 2,
    *("interject", "meddle") * 3,
    *("read",) * 3,
    *("kill", "full") * 2,
    "race",
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
    life: type[Life | SharedLife] = Life

    @classmethod
    def of(
        cls, life: type[Life | SharedLife], name: str, turns: int, style: int, *steps: Step
    ) -> "History":
        """Return a history of the session with this name."""
        talk = next(talk for talk in TALKS if talk.name == name)
        return cls(talk, turns, style, steps, life)

    def __repr__(self) -> str:
        begun = f"{self.life.__name__}, {self.talk.name!r}, {self.turns}, {self.style}"
        return f"History.of({', '.join([begun, *map(repr, self.steps)])})"


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
    """Return histories of some sessions, alone or shared with other programs."""
    return st.one_of(lives(Life, ALONE, *talks), lives(SharedLife, SHARED, *talks))


def lives(
    life: type[Life | SharedLife], kinds: Sequence[str], *talks: Talk
) -> st.SearchStrategy[History]:
    """Return histories of some sessions that consist of steps of these kinds."""
    step = st.builds(Step, kind=st.sampled_from(kinds), pick=_PICKS, way=_PICKS)
    return st.builds(
        History,
        talk=st.sampled_from(talks or TALKS),
        turns=st.integers(1, 3),
        style=st.integers(0, 4),
        steps=st.lists(step, min_size=3, max_size=LONGEST).map(tuple),
        life=st.just(life),
    )


def failure_of(
    history: History, keep: Path | None = None, counts: Counter[str] | None = None
) -> Failure | None:
    """Run a history; return how it fails, None if it does not.

    ``keep`` is a folder for its files and a script with its commands; ``counts`` gets how often
    each thing happened.
    """
    with _folder(keep) as folder, inside(folder):
        life = history.life(history.talk, history.turns, history.style)
        try:
            for step in history.steps:
                life.take(step)
        except BrokenPromiseError as error:
            if keep is not None:
                Path("commands.sh").write_text("\n".join(life.commands) + "\n")
            return Failure(history, str(error), tuple(life.commands))
        finally:
            life.close()
            if counts is not None:
                counts.update(life.counts)
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
