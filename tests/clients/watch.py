"""Tells what is new in the newest version of a client.

    python tests/clients/watch.py CLIENT [--accept] [--quick] [--into FOLDER] [--version VERSION]

The client is installed in a folder of its own and led through all that changes a session, where
nothing but loopback can be reached. The report names the records that compactctl does not know, the
fields and words of its code that are not in tests/clients/recorded/CLIENT/vocabulary.json, and the
recorded requests that have changed. ``--accept`` keeps fields and words. Exit code 1: something is
new.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from clients.asking import compactctl
from clients.desk import Desk, version_of
from clients.leading import FAILED, lead
from clients.record import Recorder
from clients.recorded.clients import RECORDED_CLIENTS
from clients.recorded.requests import Recording, newest, read_rule
from clients.run import CACHE, PACKAGES, alone, install_packages
from clients.stub import StubModel
from clients.vocabulary import (
    Vocabulary,
    changes,
    fields_in,
    in_no_table,
    read_vocabulary,
    table_of,
    write_vocabulary,
)
from clients.watched import WATCHED, Watched


def main() -> int:
    """Install a client and watch it; return 1 if something is new."""
    names = [watched.client.name for watched in WATCHED]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("client", choices=names)
    parser.add_argument("--accept", action="store_true", help="keep its fields and words")
    parser.add_argument("--quick", action="store_true", help="without the recorded requests")
    parser.add_argument("--into", type=Path, default=CACHE / "compactctl-clients")
    parser.add_argument("--version", default="latest", help="of the client")
    parser.add_argument("--installed", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    watched = next(one for one in WATCHED if one.client.name == options.client)
    if options.installed is None:
        folder = _installed(watched, options.version, options.into)
        again = [sys.executable, __file__, *sys.argv[1:], "--installed", str(folder)]
        return subprocess.run(alone(again), check=False).returncode
    is_new = False
    packages = options.installed / "node_modules"
    for section in watch(watched, packages, accept=options.accept, quick=options.quick):
        print(section.text, flush=True)  # noqa: T201
        is_new |= section.is_news and bool(section.lines)
    return int(is_new)


def _installed(watched: Watched, version: str, folder: Path) -> Path:
    """Install a version of a client, and return its folder."""
    command = ["npm", "view", f"{watched.package}@{version}", "version"]
    exact = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    place = folder / f"{watched.client.name}-{exact}"
    install_packages(place, {watched.package: exact, "node": PACKAGES["node"]})
    return place


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the report, whose lines are what is new if it ``is_news``."""

    title: str
    lines: tuple[str, ...]
    is_news: bool = True

    @property
    def text(self) -> str:
        """The section as it is printed."""
        title = self.title if self.lines else f"{self.title}: nothing new"
        return "\n  ".join((title, *self.lines))


def watch(watched: Watched, packages: Path, *, accept: bool, quick: bool) -> Iterator[Section]:
    """Lead a client and compare what it writes, knows and sends with what was accepted.

    ``quick`` leaves out what it sends for the recorded sessions, which takes the longest.
    """
    client, accepted = watched.client, read_vocabulary(watched.client.name)
    programs = packages / ".bin"
    version = version_of(programs / client.program)
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(home=Path(folder) / "home", programs=programs, model=StubModel())
        led = tuple(f"{name}: {outcome}" for name, outcome in lead(watched, desk))
        title = f"{client.name} {version}, of which {accepted.version or 'nothing'} was accepted"
        yield Section(title=title, lines=led, is_news=False)
        failed = tuple(line for line in led if FAILED in line)
        yield Section(title="What it could not be led through", lines=failed)
        sessions = watched.sessions(desk)
        records = [record for session in sessions for record in watched.records(desk, session)]
        words = {group.name: group.of(packages, desk.home) for group in watched.words}
        unknown = tuple(_unknown(desk, sessions))
    seen = Vocabulary(version=version, fields=fields_in(records, watched), words=words)
    table = table_of(watched)
    in_none = in_no_table(records, words, watched, table)
    yield Section(title="Kinds in no table" if table else "No table", lines=tuple(in_none))
    yield Section(title="What stats does not know", lines=unknown)
    # What a session happens not to hold is not gone.
    fields = changes(accepted.fields, seen.fields, gone=False)
    yield Section(title="Fields of records", lines=tuple(fields))
    words_changed = changes(accepted.words, seen.words, gone=True)
    yield Section(title="Words of its code", lines=tuple(words_changed))
    if accept:
        write_vocabulary(client.name, seen.with_fields(accepted.fields))
    if not quick:
        requests = _changed_requests(client.program, programs)
        yield Section(title="Recorded requests", lines=tuple(requests))


def _unknown(desk: Desk, sessions: Iterable[str]) -> Iterator[str]:
    """Yield what ``stats`` says that it does not understand."""
    for session in sessions:
        stats: Any = compactctl(desk, "stats", session)
        yield from stats["warnings"]
        lines: dict[str, list[int]] = {}
        for line in stats["file"].get("notUnderstood", ()):
            lines.setdefault(line["damage"], []).append(line["line"])
        yield from (f"{damage}: lines {', '.join(map(str, at))}" for damage, at in lines.items())


def _changed_requests(program: str, programs: Path) -> Iterator[str]:
    """Yield what is sent otherwise than it was recorded, with the newest version of the client."""
    if all(recorded.client.program != program for recorded in RECORDED_CLIENTS):
        return
    recorder = Recorder.of(programs / program)
    client = recorder.client
    for rule in client.rules:
        recorded = read_rule(client.client.name, rule.name)
        for name in rule.writers:
            if name not in recorded:
                continue
            requests = recorded[name].requests
            before = recorded[name].of(newest(requests))
            if change := changed(before, recorder.recorded(rule, name)):
                yield f"{rule.name}/{name}: {change}"


def changed(before: Recording, now: Recording) -> str:
    """Say how two recordings differ; "" for not at all."""
    if before.same(now):
        return ""
    if _others(before) != _others(now):
        return f"was {_others(before)}, is {_others(now)}"
    for number, (piece, other) in enumerate(zip(before.pieces, now.pieces, strict=False), 1):
        if piece != other:
            return f"piece {number} was {piece}, is {other}"
    return f"{len(before.pieces)} pieces were sent, now {len(now.pieces)}"


def _others(recording: Recording) -> str:
    return str((recording.marks, recording.refusal, recording.compacts))


if __name__ == "__main__":
    sys.exit(main())
