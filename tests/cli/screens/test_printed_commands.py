"""Every command that a screen prints works, as it is printed, in the place where it is printed."""

import itertools
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cli.asking import SAMPLES, Ask
from excerpts import excerpt
from sessions.bundled_home import fill_home
from sessions.homes import Home, everything

# Behind a label, a colon or a semicolon, or at the start of a line, to the end of the clause.
COMMAND = re.compile(r"(?:^ *|: | {2}|; )(compactctl (?:[^;\n]|(?<=\\);)+)", re.MULTILINE)
# What stands for the user's choice in a command that is no example.
PLACEHOLDER = re.compile(r"\b(?:FILE|DIR|ID|NAME|SESSION|COMPACTION|ERROR|TEXT)\b|…")
STEPS = (
    "stats {0}",
    "stats {0} --rounds",
    "check {0}",
    "check {0} --window 3k",
    "view {0}",
    "compact {0} -n --stages prune,truncate --keep-turns 0 --keep 30%",
    "compact {0} --stages prune,truncate --keep-turns 0 --keep 30%",
    "log {1}",
    "view {1} --archived",
    "stats {1}",
    "verify .",
    "rewind {1} --check",
    "rewind {1}",
    "log {1}",
    "log {1} --json",
    "batch . --target 300 --out out",
)


class Place:
    """A working folder inside a home, of which each printed command gets a copy of its own."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self._patch, self._copies = root, monkeypatch, itertools.count()
        self.home.mkdir(exist_ok=True)
        self.enter(self.home)

    @property
    def home(self) -> Path:
        """The home, which a copy moves aside and back: what is printed names its path."""
        return self.root / "home"

    def enter(self, home: Path) -> None:
        """Make this the user's home, and its folder ``desk`` the working folder."""
        self._patch.setenv("HOME", str(home))
        (home / "desk").mkdir(exist_ok=True)
        self._patch.chdir(home / "desk")

    def on_a_copy(self, ask: Ask, line: str) -> str:
        """Run a command where it was printed, and put everything back; return what went wrong."""
        before = self.root / f"before {next(self._copies)}"
        shutil.copytree(self.home, before, symlinks=True)
        outcome = ask(*shlex.split(line)[1:])
        os.chdir(self.root)
        shutil.rmtree(self.home)
        before.rename(self.home)
        self.enter(self.home)
        # What a request holds besides an invented session may be more than any target.
        is_answered = outcome.code in {0, 1} or "cannot be reached" in outcome.err
        return "" if is_answered else f"exit {outcome.code}: {outcome.err}"


def printed(shown: str) -> Iterator[str]:
    """Yield the commands that can be run as they are."""
    for line in COMMAND.findall(shown):
        if not PLACEHOLDER.search(line):
            yield line.strip()


def try_each(place: Place, ask: Ask, steps: Iterator[str]) -> set[str]:
    """Run the steps, and each command that one of them prints; return the names of those."""
    tried: set[str] = set()
    faults = []
    for step in steps:
        outcome = ask(*shlex.split(step))
        assert outcome.code in {0, 1, 4, 5}, f"{step}: exit {outcome.code}: {outcome.err}"
        for line in printed(outcome.out + outcome.err):
            if line not in tried:
                tried.add(line)
                fault = place.on_a_copy(ask, line)
                faults += [f"{step} prints {line!r}: {fault}"] if fault else []
    assert not faults, "\n".join(faults)
    return {shlex.split(line)[1] for line in tried}


@pytest.mark.parametrize("sample", sorted(SAMPLES.glob("*.jsonl")), ids=lambda path: path.stem)
def test_every_command_printed_about_a_sample_works(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask
) -> None:
    place = Place(tmp_path, monkeypatch)
    Path(sample.name).write_bytes(excerpt(sample.stem, 60))
    names = sample.name, f"{sample.stem}.compacted.jsonl"
    is_readable = sample.stem != "damaged"
    steps = (step.format(*names) for step in (STEPS if is_readable else STEPS[:4]))
    assert not is_readable or {"compact", "rewind"} <= try_each(place, ask, steps)


def fill_with_everything(home: Path) -> None:
    everything(Home(root=home), project=str(home / "desk"))


@pytest.mark.parametrize("fill", [fill_home, fill_with_everything])
def test_every_command_printed_about_a_session_works(
    fill: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask
) -> None:
    place = Place(tmp_path, monkeypatch)
    fill(place.home)
    sessions = ask("sessions", "--all", "--limit", "0", "--json").json["sessions"]
    assert len(sessions) > 5

    def steps() -> Iterator[str]:
        yield "sessions"
        for session in sessions:
            name = shlex.quote(session["id"])
            yield from (f"stats {name}", f"check {name}", f"log {name}")
            if ask("rescue", session["id"], "--keep", "30%", "-n").code == 0:
                yield from (f"rescue {name} --keep 30%", f"rescue {name}", f"log {name}")

    names = try_each(place, ask, steps())
    assert {"stats", "compact"} <= names
    assert fill is fill_with_everything or "rewind" in names
