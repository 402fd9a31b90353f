"""Break the program in many small ways, and count how many of them its tests notice.

    python tests/mutation/run.py [AREA…] [--count 60] [--seed N] [--only PATH] [-j 2] [--write]

An area is a part of the package with the tests that are its own: ``areas.toml``. Mutants are drawn
by a hash of what they change, so that code that stays the same is tried in the same ways each time.
What survives is listed. ``--write`` keeps the scores in ``scores.toml``; without it they are
compared with those: an area that noticed fewer than it did, or fewer than the floor, is an error.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from multiprocessing.pool import ThreadPool
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from mutation.mutants import Mutant, mutants

HERE = Path(__file__).parent
AREAS = tomllib.loads((HERE / "areas.toml").read_text())
SCORES = HERE / "scores.toml"
FLOOR = 85


@dataclass(frozen=True, slots=True)
class Score:
    """How many mutants of an area were tried, and which of them survived."""

    tried: int
    survivors: list[str]

    @property
    def percent(self) -> int:
        """Return the share that was noticed, rounded down."""
        return 100 * (self.tried - len(self.survivors)) // max(1, self.tried)


def main() -> int:
    """Try the areas that are asked for; return the exit code."""
    options = _options()
    if options.tests:
        print(*(path for area in options.areas for path in tests_of(area)))
        return 0
    kept = tomllib.loads(SCORES.read_text()) if SCORES.exists() else {}
    failed = []

    def seed_of(area: str) -> int:
        own: int = kept.get(area, {}).get("seed", 0)
        return own if options.seed is None else options.seed

    def try_area(area: str) -> tuple[str, Score, float]:
        started = time.monotonic()
        score = try_out(area, draw(area, options.only, options.count, seed_of(area)))
        return area, score, time.monotonic() - started

    with ThreadPool(options.jobs) as pool:
        for area, score, seconds in pool.imap(try_area, options.areas):
            floor = min(FLOOR, kept.get(area, {}).get("noticed", FLOOR))
            noticed = f"{score.percent}% of {score.tried} noticed, {floor}% expected"
            print(f"{area}: {noticed} ({seconds:,.0f} s)", flush=True)
            if options.write:
                kept[area] = {
                    "seed": seed_of(area),
                    "tried": score.tried,
                    "noticed": score.percent,
                    "survivors": score.survivors,
                }
                SCORES.write_text("\n".join(_lines(kept)))
            elif score.percent < floor:
                failed.append(area)
    if failed:
        print("too few are noticed in", *failed)
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("areas", nargs="*", default=list(AREAS), metavar="AREA")
    parser.add_argument("--count", type=int, default=60, help="mutants per area")
    parser.add_argument("--seed", type=int, help="other mutants than those of the kept score")
    parser.add_argument("--only", default="", help="only files with this in their path")
    parser.add_argument("-j", dest="jobs", type=int, default=2, help="areas at once")
    parser.add_argument("--write", action="store_true", help="keep the scores")
    parser.add_argument("--tests", action="store_true", help="print the tests of the areas")
    options = parser.parse_args()
    if unknown := set(options.areas) - set(AREAS):
        parser.error(f"unknown areas: {', '.join(sorted(unknown))}; known are {', '.join(AREAS)}")
    return options


def tests_of(area: str) -> list[str]:
    """Return the paths of an area's tests."""
    return [path for path in AREAS[area]["tests"] if (ROOT / path).exists()]


def draw(area: str, only: str, count: int, seed: int) -> list[Mutant]:
    """Return so many mutants of an area, those of the lowest lots."""
    folders = [ROOT / "compactctl" / name for name in AREAS[area]["code"]]
    files = sorted(path for folder in folders for path in folder.rglob("*.py"))
    named = [(path.relative_to(ROOT).as_posix(), path) for path in files]
    every = [
        mutant
        for name, path in named
        if only in name
        for mutant in mutants(name, path.read_bytes())
    ]
    return sorted(every, key=lambda mutant: mutant.lot(seed))[:count]


def try_out(area: str, chosen: Sequence[Mutant]) -> Score:
    """Try mutants on a copy of the checkout with nothing beside it; print what survives."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        checkout, job, log, results = (folder / each for each in ("checkout", "job", "log", "out"))
        _copy(checkout)
        job.write_text(json.dumps({"mutants": list(map(asdict, chosen)), "out": str(results)}))
        results.touch()
        environment = {
            **os.environ,
            "MUTATION_JOB": str(job),
            "PYTHONPATH": f"{checkout}{os.pathsep}{checkout / 'tests'}",
            # What a test starts compiles a file that has changed, and keeps nothing of it.
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPDIR": str(folder),
        }
        environment.pop("COMPACTCTL_LONG_TESTS", None)
        compiling = [sys.executable, "-m", "compileall", "-q", "compactctl"]
        subprocess.run(compiling, cwd=checkout, check=True)
        command = [sys.executable, "-m", "pytest", "-p", "mutation.trial", "-q", "--capture=no"]
        command += ["-p", "no:cacheprovider", *tests_of(area)]
        survivors = []
        with log.open("wb") as errors, results.open() as lines:
            process = subprocess.Popen(
                command, cwd=checkout, env=environment, stdout=errors, stderr=errors
            )
            tried = 0
            for result in _results(lines, process):
                if "fails" in result:
                    print(f"left out, since it fails anyway: {result['fails']}", flush=True)
                    continue
                tried += 1
                if not result["killed"]:
                    mutant = chosen[result["mutant"]]
                    survivors.append(f"{mutant.path} {mutant.name}")
                    print(f"survives: {mutant}{_reached(result)}", flush=True)
        if tried != len(chosen):
            raise SystemExit(log.read_text()[-3000:])
    return Score(tried, sorted(survivors))


def _results(lines: TextIO, process: subprocess.Popen[bytes]) -> Iterator[dict[str, Any]]:
    """Yield results as they are written, until the process has ended."""
    ended = False
    while not ended:
        ended = process.poll() is not None
        while line := lines.readline():
            yield json.loads(line)
        time.sleep(0 if ended else 0.2)


def _reached(result: dict[str, Any]) -> str:
    return "" if result["reached"] is None else f" (reached by {result['reached']} tests)"


def _copy(checkout: Path) -> None:
    """Copy the files that git knows, or would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, checkout / name)


def _lines(kept: dict[str, dict[str, object]]) -> Iterator[str]:
    """Yield the lines of the file of scores. JSON's texts are TOML's."""
    yield "# Written by run.py --write: how many random mutants each area's own tests notice."
    for area, values in sorted(kept.items()):
        yield f"\n[{area}]"
        for key, value in values.items():
            if isinstance(value, list):
                yield f"{key} = ["
                yield from (f"    {json.dumps(each)}," for each in value)
                yield "]"
            else:
                yield f"{key} = {value}"
    yield ""


if __name__ == "__main__":
    sys.exit(main())
