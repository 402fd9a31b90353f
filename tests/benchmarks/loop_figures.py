"""Compares compactctl with other systems that keep the messages of an agent loop within a window.

    python tests/benchmarks/loop_figures.py [PATH…] [--windows 64k 128k 200k] [--rows FILE…]

The paths are sessions, or folders of them; without any, those of Claude Code and Codex are taken
that the tests find. A session that is long enough for a window is replayed with each system.
``--systems`` names them, none for a table of ``--rows`` alone; one whose package is not installed
is skipped. ``--compactor MODULE:CLASS`` adds a class with the interface of
``compactctl.Compactor``.

Rows are read from all files of ``--rows`` and appended to the first, so that an interrupted run
continues, and so that environments can share a table. Of a session they have its name and numbers.
To compare systems at one size, the others are also run with the targets of ``--sweep``.

The columns:

{columns}
"""

import argparse
import logging
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from itertools import product
from pathlib import Path
from textwrap import fill

import msgspec

if __name__ == "__main__":
    # This folder has files named like folders of the tests.
    sys.path.pop(0)
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from transcripts import VARIABLE

from benchmarks.figures import ROOT, describe_origin
from benchmarks.loop import FORMATS, OPENAI, find_paths
from benchmarks.loop_replay import Reader, Row, Session, Setting, System, read_session, replay
from benchmarks.loop_systems import ClearToolUses, Everything, Newest, find_compactors
from benchmarks.loop_tables import COLUMNS, OURS, loop_tables
from benchmarks.tables import renew
from compactctl.tokens.models.token_sizes import parse_window

PAGE = ROOT / "docs" / "reference" / "loop.md"
MARK = "loop"
PEERS = ("benchmarks.loop_langchain", "benchmarks.loop_openhands")
WINDOWS = (64_000, 128_000, 200_000)
SWEEP = (0.1, 0.2, 0.3, 0.5, 0.6, 0.7)


class RowFile:
    """Rows in files of JSON lines; new ones are appended to the first, if there is any."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._path = next(iter(paths), None)
        lines = (line for path in paths if path.exists() for line in path.read_bytes().splitlines())
        self.rows = [msgspec.json.decode(line, type=Row) for line in lines]
        self._done = {(row.system, row.session, row.setting) for row in self.rows}

    def has(self, kind: type[System], session: Session, setting: Setting) -> bool:
        """Whether there is a row of this replay."""
        return (kind.name, session.name, setting) in self._done

    def add(self, row: Row) -> None:
        """Add a row."""
        self.rows.append(row)
        if self._path is not None:
            with self._path.open("ab") as file:
                file.write(msgspec.json.encode(row) + b"\n")


def main() -> None:
    """Replay what is not in the rows yet, and show the tables."""
    given = parse_arguments()
    origin = describe_origin(Path(__file__).name) if given.write else ""
    kinds = find_systems(given.compactor, given.systems, given.format)
    paths = list(find_paths(given.paths)) if kinds else []
    if kinds and not paths:
        print(f"skipped: no sessions; name some, or their folder in {VARIABLE}")
        return
    targets = (given.target, *given.sweep)
    settings = [
        Setting(format=given.format, window=window, trigger=given.trigger, target=target)
        for window, target in product(given.windows, targets)
    ]
    file = RowFile(given.rows)
    logging.disable()
    for path in paths:
        for row in replay_missing(path, settings, kinds, file, given.lengths):
            file.add(row)
            print(describe(row), flush=True)
    tables = loop_tables(file.rows, given.target, given.ours)
    if given.write:
        PAGE.write_text(renew(PAGE.read_text(), f"{origin}\n\n{tables}", MARK))
    print(f"\n{tables}")


def parse_arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").format(columns="\n".join(describe_columns())),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--windows", nargs="+", type=parse_window, default=WINDOWS)
    parser.add_argument(
        "--lengths",
        nargs=2,
        type=float,
        default=(1.8, 3.0),
        metavar="WINDOWS",
        help="take sessions that are at least so long, and replay them so far",
    )
    parser.add_argument("--format", choices=FORMATS, default=OPENAI)
    parser.add_argument(
        "--systems", nargs="*", default=[""], metavar="NAME", help="by the beginnings of names"
    )
    parser.add_argument("--compactor", nargs="+", default=[], metavar="MODULE:CLASS")
    parser.add_argument("--trigger", type=float, default=0.8, help="share of the window")
    parser.add_argument("--target", type=float, default=0.4, help="share of the window")
    parser.add_argument("--sweep", nargs="*", type=float, default=SWEEP, help="other targets")
    parser.add_argument("--rows", nargs="+", type=Path, default=[], metavar="FILE")
    parser.add_argument("--ours", default=OURS, help="the system at whose size others are compared")
    parser.add_argument("--write", action="store_true", help=f"renew {PAGE.relative_to(ROOT)}")
    return parser.parse_args()


def describe_columns() -> Iterator[str]:
    """Yield what the columns are, for a terminal."""
    for name, meaning in COLUMNS.items():
        yield fill(f"{name:12} {meaning}", 100, subsequent_indent=" " * 13)


def find_systems(
    references: Iterable[str], beginnings: Sequence[str], format: str
) -> list[type[System]]:
    """Return the systems for a format whose names have one of some beginnings.

    Those that are not installed are named on standard output.
    """
    kinds: list[type[System]] = [Everything, Newest, ClearToolUses]
    for module in PEERS if beginnings else ():
        try:
            kinds += import_module(module).SYSTEMS
        except ImportError as error:
            print(f"skipped: {module}: {error}")
    for reference in (f"compactctl:{OURS}", *references) if beginnings else ():
        try:
            kinds += find_compactors(reference)
        except ImportError as error:
            print(f"skipped: {reference}: {error}")
    return [
        kind for kind in kinds if kind.name.startswith(tuple(beginnings)) and format in kind.formats
    ]


def replay_missing(
    path: Path,
    settings: Sequence[Setting],
    kinds: Sequence[type[System]],
    file: RowFile,
    lengths: Sequence[float],
) -> Iterator[Row]:
    """Yield the rows of a session that are not there yet.

    Only systems that are compared at one size are run with other targets than the first.
    """
    shortest, longest = lengths
    reader = Reader()
    for window in dict.fromkeys(setting.window for setting in settings):
        of_window = [setting for setting in settings if setting.window == window]
        session = read_session(path, of_window[0].format, reader, int(longest * window))
        if session.tokens < shortest * window:
            continue
        for kind in kinds:
            for setting in of_window if kind.is_swept else of_window[:1]:
                if not file.has(kind, session, setting):
                    yield replay(session, setting, kind, reader)


def describe(row: Row) -> str:
    """Return a line about a replay."""
    return (
        f"{row.session[:32]:32} {row.setting.window:>7,} {row.setting.target:.0%} {row.system:33}"
        f" {row.requests:>4} requests, {row.full:>4} full, {row.cuts:>4} cuts {row.error[:80]}"
    )


if __name__ == "__main__":
    main()
