"""Measures accuracy and quality on recorded sessions, and renews the tables of both pages.

``python tests/benchmarks/figures.py FOLDER --cache FOLDER`` takes the sessions that
``sessions.toml`` lists from the first folder. The second keeps results by commit, so
that an interrupted run continues. The tables go into ``docs/counting.md`` and ``docs/quality.md``
and name the commit of the checkout, which must have no changes in the package or here.
``--before FOLDER`` compares quality with that of another checkout, ``--only quality`` renews one
page.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.accuracy import measure_accuracy
from benchmarks.accuracy_tables import accuracy_tables
from benchmarks.quality import Checkout, measure_quality
from benchmarks.quality_tables import quality_tables
from benchmarks.sessions import find_sessions
from benchmarks.tables import paragraph, renew

ROOT = Path(__file__).resolve().parents[2]
_MEASURED = ("compactctl", "tests/benchmarks")


class ResultCache:
    """Results by name in a file of JSON lines."""

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text().splitlines() if path.exists() else ()
        self._results: dict[str, Any] = dict(map(json.loads, lines))

    def get_or_measure(self, name: str, measure: Callable[[], Any]) -> Any:
        """Return the cached result of a name; measure and cache it if there is none."""
        if name not in self._results:
            print(name, flush=True)
            self._results[name] = measure()
            with self._path.open("a") as out:
                print(json.dumps([name, self._results[name]]), file=out)
        return self._results[name]


def main() -> None:
    """Measure what is not measured yet, and renew the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--before", type=Path, help="another checkout to compare with")
    parser.add_argument("--only", choices=("counting", "quality"))
    arguments = parser.parse_args()
    origin = describe_origin("figures.py")
    cache = arguments.cache / commit_of(ROOT)
    cache.mkdir(parents=True, exist_ok=True)
    sessions = list(find_sessions(arguments.folder))
    if arguments.only != "counting":
        results = ResultCache(cache / "quality.jsonl").get_or_measure
        earlier = _checkout(arguments.before) if arguments.before else None
        quality = measure_quality(sessions, results, earlier)
        _renew("quality.md", f"{origin}\n\n{quality_tables(quality, earlier)}")
    if arguments.only != "quality":
        accuracy = measure_accuracy(sessions, ResultCache(cache / "accuracy.jsonl").get_or_measure)
        _renew("counting.md", f"{origin}\n\n{accuracy_tables(accuracy)}")


def _renew(name: str, tables: str) -> None:
    page = ROOT / "docs" / name
    page.write_text(renew(page.read_text(), tables))


def _checkout(folder: Path) -> Checkout:
    return Checkout(commit_of(folder), folder.resolve())


def describe_origin(script: str) -> str:
    """Return when and with which commit a script measures. Exits if there are changes."""
    if _git("status", "--porcelain", *_MEASURED):
        sys.exit("commit the changes first: tables name the commit that they were made with")
    return paragraph(
        f"Measured on {datetime.now(UTC):%Y-%m-%d} with commit {commit_of(ROOT)} by"
        f" `tests/benchmarks/{script}`."
    )


def commit_of(folder: Path) -> str:
    """Return the commit of a checkout."""
    return _git("rev-parse", "--short=8", "HEAD", folder=folder)


def _git(*arguments: str, folder: Path = ROOT) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.check_output(command, text=True).strip()


if __name__ == "__main__":
    main()
