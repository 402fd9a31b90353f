"""A session that histories are made of, and the commands that do it all again."""

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from histories.damages import example
from histories.doing import Told, ask
from talks import Talk

STAGES = ("prune", "dedup", "truncate", "summarize", "distill", "strip", "collapse", "limit")
LAYOUTS = ("split", "in place", "in place", "inline", "inline in place", "native", "native")
KEPT = ("10%", "40%", "60%")
# A run makes some 70 calls that write.
CALLS = 75
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class BrokenPromiseError(AssertionError):
    """A promise that a history broke."""


@dataclass(frozen=True, slots=True)
class Step:
    """What is done next; ``pick`` and ``way`` choose among what is possible then."""

    kind: str
    pick: int = 0
    way: int = 0

    def __repr__(self) -> str:
        return f"Step({self.kind!r}, {self.pick}, {self.way})"


class Session:
    """A file that commands work on; ``counts`` says how often each thing happened."""

    def __init__(self, talk: Talk, turns: int) -> None:
        self.talk = talk
        self.path = Path(talk.path)
        self.turns = turns
        self.commands: list[str] = []
        self.counts: Counter[str] = Counter()
        self.n_files = 0

    @property
    def name(self) -> str:
        """What commands call it."""
        found = _ID.search(str(self.path)) if self.talk.is_stored else None
        return found[0] if found else str(self.path)

    def put(self, data: bytes, path: Path | None = None) -> None:
        """Write a file as others do, over what is in it."""
        path = path or self.path
        self.write(data, path)
        self.commands.append(f"cp {self.given(data)} {shlex.quote(str(path))}")

    def given(self, data: bytes) -> Path:
        """Keep bytes in a file for the commands; return its name."""
        path = Path("given") / str(self.n_files)
        self.write(data, path)
        self.n_files += 1
        return path

    def write(self, data: bytes, path: Path) -> None:
        """Write bytes to a file, whose folder may not exist."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def ask(self, *arguments: str) -> Told:
        """Run a command line that is part of the history."""
        told = ask(*arguments)
        self.commands.append(f"{shlex.join(('compactctl', *arguments))}  # exit {told.code}")
        return told

    def close(self) -> None:
        """Let go of everything."""

    def compaction(
        self, step: Step, layouts: Sequence[str] = LAYOUTS, name: str = ""
    ) -> Sequence[str]:
        """Return a command that compacts the session, or the file of that name."""
        kinds = [each for each in layouts if self.talk.native or each != "native"]
        possible = [each for each in kinds if not (self.talk.is_stored and "inline" in each)]
        layout = possible[step.pick % len(possible)]
        way, stage = divmod(step.way, len(STAGES))
        words = ["compact", name or self.name, *example(STAGES[stage]), "--json"]
        words += ["--keep-turns", str(way % 2), "--keep", KEPT[way // 2 % len(KEPT)]]
        if "inline" in layout:
            words += ["--layout", "inline"]
        elif layout == "native":
            words += ["--native", "--while-open"]
        elif way // 6 % 4 == 1:
            words.append("--no-tags")
        return [*words, "--in-place"] if "in place" in layout else words
