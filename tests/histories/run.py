"""Runs many generated histories: ``python tests/histories/run.py --count 10000 -j 2``.

They come in batches, each with a seed of its own. Each kind of failure is printed once, with as few
steps as show it, as shell commands; its files are in a folder that is named.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]

from histories.drawn import Failure, History, failure_of, histories, shrunk  # noqa: E402
from hypothesis import HealthCheck, Phase, given, seed, settings  # noqa: E402

BATCH = 50


def batch(number: int, size: int) -> tuple[Sequence[Failure], Counter[str]]:
    """Run the histories of one seed; return the first failure of each kind, and the counts."""
    failures: dict[str, Failure] = {}
    counts: Counter[str] = Counter()

    @seed(number)
    @settings(
        max_examples=size,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(history=histories())
    def run(history: History) -> None:
        failure = failure_of(history, counts=counts)
        counts[f"histories of {history.life.__name__}"] += 1
        if failure is not None:
            counts[failure.kind] += 1
            failures.setdefault(failure.kind, failure)

    run()
    return tuple(failures.values()), counts


def main() -> int:
    """Run all batches and print what failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first batch")
    parser.add_argument("-j", type=int, default=2, help="processes")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "histories")
    options = parser.parse_args()
    start = time.monotonic()
    counts: Counter[str] = Counter()
    seen: set[str] = set()
    with ProcessPoolExecutor(options.j) as pool:
        seeds = range(options.seed, options.seed + -(-options.count // BATCH))
        batches = {pool.submit(batch, number, BATCH): number for number in seeds}
        for done in as_completed(batches):
            failures, counted = done.result()
            counts += counted
            for failure in failures:
                if failure.kind not in seen:
                    seen.add(failure.kind)
                    report(failure, batches[done], options.keep / str(len(seen)))
    for kind, count in counts.most_common():
        sys.stdout.write(f"{count:6,}  {kind}\n")
    sys.stdout.write(f"{time.monotonic() - start:,.0f} s\n")
    return 1 if seen else 0


def report(failure: Failure, number: int, folder: Path) -> None:
    """Print a failure with as few steps as show it, and leave its files in a folder."""
    smallest = shrunk(failure)
    failure_of(smallest.history, keep=folder)
    sys.stdout.write(f"== seed {number}, {folder}: {smallest}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
