"""Write the archives of this version for every format and layout into a folder of its own.

``python tests/archives/make.py`` is run once per release and its folder is never changed again.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from samples import damaged
from talks import TALK_FILES, TalkFile

import compactctl

HERE = Path(__file__).resolve().parent
WITH_GROUPS = {"claude-code", "openai-chat", "opencode", "pi"}
NOTHING_INSIDE = 6
# Copies of earlier states, large and needed for nothing but lines that come late.
WITH_DISPLACED = {"claude-code"}
PRUNE = ("--stages", "prune", "--prune-min-savings", "1", "--prune-protect-tokens", "100")
SUMMARIZE = ("--stages", "summarize", "--summarize-keep-min", "2", "--keep-turns", "1")
WINDOW = (
    "--keep-turns",
    "0",
    "--window-min-keep-turns",
    "0",
    "--stages",
    "window",
    "--window-max",
    "3",
    "--window-snap",
    "none",
)
BOTH = ("--stages", "prune,summarize", *PRUNE[2:], *SUMMARIZE[2:])


@dataclass
class Life:
    """A transcript in a folder, and what it is expected to be able to go back to."""

    folder: Path
    talk: TalkFile
    appended: bytes = b""
    commands: list[str] = field(default_factory=list)

    @property
    def path(self) -> Path:
        """The transcript."""
        return self.folder / self.talk.file

    def run(self, *arguments: str) -> str:
        """Run a command on the transcript and return its standard output; it must succeed."""
        self.commands.append(" ".join(arguments))
        return self._asked(self.path.name, arguments)

    def append(self) -> None:
        """Continue the transcript as its client would, where it grows by lines."""
        with self.path.open("ab") as stream:
            stream.write(self.talk.later)
        self.appended += self.talk.later

    def expected(self) -> dict[str, object]:
        """Return every state that can be reached from here, by digest."""
        self._require_first()
        operations = [each["id"] for each in self._logged() if each["archiveBytes"]]
        return {
            "format": self.talk.format,
            "commands": self.commands,
            "first": _digest(self._reached("--all")),
            "undone": self._undone(),
            "states": {each: _digest(self._reached("--to", each)) for each in operations},
        }

    def _require_first(self) -> None:
        assert self._reached("--all") == self.talk.data + self.appended, self.folder

    def _undone(self) -> list[str]:
        """Return the digest after each plain rewind, until there is nothing left to undo."""
        found = []
        with tempfile.TemporaryDirectory() as elsewhere:
            copy = Life(
                Path(shutil.copytree(self.folder, elsewhere, dirs_exist_ok=True)), self.talk
            )
            while (data := copy._rewound()) is not None:
                found.append(_digest(data))
        return found

    def _rewound(self) -> bytes | None:
        before = self.path.read_bytes()
        try:
            self.run("rewind")
        except subprocess.CalledProcessError as error:
            if error.returncode == NOTHING_INSIDE:
                return None
            raise
        return None if self.path.read_bytes() == before else self.path.read_bytes()

    def _logged(self) -> list[dict[str, Any]]:
        return list(json.loads(self._asked(self.path.name, ("log", "--json")))["operations"])

    def _reached(self, *where: str) -> bytes:
        place = self.folder / "reached"
        self._asked(self.path.name, ("rewind", *where, "-o", place.name))
        data = place.read_bytes()
        place.unlink()
        return data

    def _asked(self, name: str, arguments: tuple[str, ...]) -> str:
        line = [sys.executable, "-m", "compactctl", *arguments, name]
        found = subprocess.run(line, cwd=self.folder, check=True, capture_output=True, text=True)
        return found.stdout


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def in_place(life: Life) -> None:
    """One compaction in place."""
    life.run("compact", "--in-place", *BOTH)


def in_place_inline(life: Life) -> None:
    """An archive, and the originals in the file as well."""
    life.run("compact", "--in-place", "--layout", "inline", *BOTH)


def inline(life: Life) -> None:
    """Two compactions that keep the originals in the file, lines appended after each."""
    _compact_beside(life, "--layout", "inline", *PRUNE)
    life.append()
    _compact_beside(life, "--layout", "inline", *SUMMARIZE)


def cut_in_place(life: Life) -> None:
    """One compaction in place of a file too small for other stages."""
    life.run("compact", "--in-place", *WINDOW)


def cut_inline(life: Life) -> None:
    """One compaction that keeps the originals in the file."""
    _compact_beside(life, "--layout", "inline", *WINDOW)


def without_tags(life: Life) -> None:
    """An output in which nothing tells what was done."""
    _compact_beside(life, "--no-tags", *BOTH)


def rewound(life: Life) -> None:
    """Two compactions with lines appended between, in two ways, the second one taken back."""
    _compact_beside(life, *PRUNE)
    life.append()
    life.run("compact", "--in-place", *SUMMARIZE)
    life.run("rewind")


def mixed(life: Life) -> None:
    """Originals in the file, and then in an archive beside it."""
    _compact_beside(life, "--layout", "inline", *PRUNE)
    life.append()
    life.run("compact", "--in-place", *SUMMARIZE)


def grouped(life: Life) -> None:
    """Two groups, of which one was taken back and the other carried out again."""
    _compact_beside(life, *BOTH)
    life.append()
    group = str(life._logged()[0]["groups"][0]["id"])
    life.run("rewind", "--group", group)


def _compact_beside(life: Life, *options: str) -> None:
    """Compact to another file, and give it and its archive the name of the transcript."""
    out = life.path.with_name("out" + life.path.suffix)
    life.run("compact", *options, "-o", out.name)
    out.replace(life.path)
    archive, place = (each.with_name(each.name + ".archive") for each in (out, life.path))
    if archive.exists():
        shutil.rmtree(place, ignore_errors=True)
        archive.rename(place)


Case = Callable[[Life], None]
EVERY = (in_place_inline, inline, rewound)


def cases_of(talk: TalkFile) -> tuple[Case, ...]:
    """Return the cases of a format: each of the layouts, and for some of them more."""
    more = (grouped, mixed) if talk.format in WITH_GROUPS else ()
    return (*EVERY, *more, *((in_place, without_tags) if talk.format == "claude-code" else ()))


def make(target: Path) -> None:
    """Write all cases into ``target``, which must not exist yet."""
    target.mkdir()
    for talk in TALK_FILES:
        for case in cases_of(talk):
            _make_one(target / _name(talk.format, case), talk, case)
    odd = TalkFile("claude-code", damaged.build())
    for case in (cut_in_place, cut_inline):
        _make_one(target / _name("damaged", case), odd, case)


def _name(what: str, case: Case) -> str:
    return f"{what}-{case.__name__.replace('_', '-')}"


def _make_one(folder: Path, talk: TalkFile, case: Case) -> None:
    folder.mkdir()
    life = Life(folder, talk)
    life.path.write_bytes(talk.data)
    case(life)
    if talk.format not in WITH_DISPLACED:
        for link in folder.rglob("displaced-*"):
            link.unlink()
    expected = json.dumps(life.expected(), indent=1) + "\n"
    (folder / "expected.json").write_text(expected)


if __name__ == "__main__":
    make(HERE / compactctl.__version__)
