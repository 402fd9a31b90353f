"""How far the estimate of the next request is from what the provider then reported.

Run: ``python tests/benchmarks/accuracy.py FOLDER… --kept FOLDER [--each 8] [--least 20]``. Reads
every session of Claude Code, Codex and OpenCode below the folders, and for each project fits the
constants of the package on the sessions of all others. In sessions with at least so many steps it
estimates requests, with these constants and with those of the package. What was found is kept in a
folder and taken from there. The tables go into ``docs/accuracy.md``; what is measured is told in
``estimates/strict_protocol.py``, what the page says beside it in ``estimates/accuracy.toml``.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.estimates.accuracy_page import ALL, ELSEWHERE, Row, page
from benchmarks.estimates.fit import Constants, fitted, shipped
from benchmarks.estimates.projects import is_misnamed, project_of
from benchmarks.estimates.recorded_session import FORMATS, Session
from benchmarks.estimates.steps import Evidence, Step, evidence
from benchmarks.estimates.strict_protocol import Judged, Trial, judged, trials
from compactctl.errors import CompactctlError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "accuracy.md"
_SUFFIXES = (".json", ".jsonl")


class Kept:
    """Lines of a file that say what was found for a name; the newest of a name counts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text().splitlines() if path.exists() else ()
        self._known: dict[str, Any] = dict(map(json.loads, lines))

    def get(self, name: str) -> Any:
        """Return what was found before, None where nothing was."""
        return self._known.get(name)

    def put(self, name: str, found: object) -> None:
        """Keep what was found."""
        with self._path.open("a") as out:
            print(json.dumps([name, found]), file=out)


def main() -> None:
    """Measure what is not measured yet, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--kept", type=Path, required=True)
    parser.add_argument("--each", type=int, default=8)
    parser.add_argument("--least", type=int, default=20)
    given = parser.parse_args()
    paths = list(sessions(given.folders))
    told = dict(all_told(paths, Kept(given.kept / "evidence.jsonl")))
    fits = {project: fits_for(project, told) for project, _ in told.values()}
    rows = Kept(given.kept / "rows.jsonl")
    long = [path for path, (_, each) in told.items() if len(each.steps) >= given.least]
    found = [row_of(path, told[path], fits, given.each, rows) for path in long]
    elsewhere = {project: each[ELSEWHERE] for project, each in fits.items()}
    PAGE.write_text(page(PAGE.read_text(), found, elsewhere, given.each))


def sessions(folders: Sequence[Path]) -> Iterator[Path]:
    """Yield the files below the folders that may hold a session."""
    for folder in folders:
        yield from sorted(path for path in folder.rglob("*") if path.suffix in _SUFFIXES)


def all_told(paths: Sequence[Path], kept: Kept) -> Iterator[tuple[Path, tuple[str, Evidence]]]:
    """Yield of each session with two requests or more its project and what it tells."""
    for path in paths:
        known = kept.get(path.stem)
        if known is None:
            session = _session(path)
            known = [] if session is None else [project_of(session), asdict(evidence(session))]
            kept.put(path.stem, known)
        if known:
            project, told = known
            steps = tuple(Step(**step) for step in told["steps"])
            lists = {name: tuple(told[name]) for name in ("restored", "thought")}
            yield path, (project, Evidence(**{**told, **lists, "steps": steps}))


def fits_for(project: str, told: Mapping[Path, tuple[str, Evidence]]) -> Mapping[str, Constants]:
    """Return the constants of the package, and those of the sessions of all other projects."""
    others = fitted(
        [
            found
            for path, (other, found) in told.items()
            if other != project and not is_misnamed(path.stem)
        ]
    )
    return {ELSEWHERE: others, ALL: shipped()}


def row_of(
    path: Path,
    told: tuple[str, Evidence],
    fits: Mapping[str, Mapping[str, Constants]],
    each: int,
    kept: Kept,
) -> Row:
    """Measure a session, unless it was measured with the same constants before."""
    project, _ = told
    name = f"{path.stem} {each} {sha256(repr(fits[project]).encode()).hexdigest()[:12]}"
    row = kept.get(name)
    if row is None:
        session = Session(path)
        print(path.stem, len(session.requests), flush=True)
        row = asdict(
            Row(
                session=path.stem,
                project=project,
                family=session.family,
                left_out=session.left_out,
                judged=judged(session),
                trials=tuple(trials(session, each, fits[project])),
            )
        )
        kept.put(name, row)
    found = tuple(Trial(**trial) for trial in row["trials"])
    return Row(**{**row, "judged": Judged(**row["judged"]), "trials": found})


def _session(path: Path) -> Session | None:
    """Read a session; None where it is of another client or reports fewer than two requests."""
    try:
        session = Session(path)
    except CompactctlError as error:
        print(f"left out: {error}")
        return None
    return session if session.format.name in FORMATS and len(session.requests) > 1 else None


if __name__ == "__main__":
    main()
