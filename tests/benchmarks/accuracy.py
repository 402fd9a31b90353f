"""How far the estimate of the next request is from what the provider then reported.

Run: ``python tests/benchmarks/accuracy.py FOLDER… --rows rows.jsonl [--each 20]``. Measures every
session of Claude Code, Codex and OpenCode below the folders that ``rows.jsonl`` does not hold yet,
adds a row for each, and writes the tables into ``docs/accuracy.md``. What is measured is told in
``strict_protocol``, what the page says beside it stands in ``accuracy.toml``.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.accuracy_page import Row, page
from benchmarks.strict_protocol import FORMATS, Judged, Session, Trial, judged, trials
from compactctl.errors import CompactctlError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "accuracy.md"
_SUFFIXES = (".json", ".jsonl")


def main() -> None:
    """Measure what is not measured yet, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--each", type=int, default=20)
    given = parser.parse_args()
    rows = list(read(given.rows))
    known = {row.session for row in rows}
    with given.rows.open("a") as out:
        for path in sessions(given.folders):
            row = None if path.stem in known else measured(path, given.each)
            if row is not None:
                rows.append(row)
                print(json.dumps(asdict(row)), file=out, flush=True)
    PAGE.write_text(page(PAGE.read_text(), rows, given.each))


def read(path: Path) -> Iterator[Row]:
    """Yield the sessions that were measured before."""
    for line in path.read_text().splitlines() if path.exists() else ():
        row = json.loads(line)
        found = tuple(Trial(**trial) for trial in row["trials"])
        yield Row(**{**row, "judged": Judged(**row["judged"]), "trials": found})


def sessions(folders: Sequence[Path]) -> Iterator[Path]:
    """Yield the files below the folders that may hold a session."""
    for folder in folders:
        yield from sorted(path for path in folder.rglob("*") if path.suffix in _SUFFIXES)


def measured(path: Path, each: int) -> Row | None:
    """Measure a session; None where it is of another client or reports fewer than two requests."""
    try:
        session = Session(path)
    except CompactctlError as error:
        print(f"left out: {error}")
        return None
    if session.format.name not in FORMATS or len(session.requests) < 2:
        return None
    print(path.stem, len(session.requests), flush=True)
    return Row(
        session=path.stem,
        family=session.family,
        left_out=session.left_out,
        judged=judged(session),
        trials=tuple(trials(session, each)),
    )


if __name__ == "__main__":
    main()
