"""How long ``stats`` takes beside the work that cannot be avoided, measured in one run.

Run: ``python tests/benchmarks/speed.py [--megabytes 100] [--small 4] [--rounds 1]``. Writes one
long session of that size to a temporary folder and prints the CPU seconds of parsing its lines
with orjson alone, of tokenizing its texts with tiktoken alone, and of the whole program with
tiktoken and with the extra ``fast``; then the program on a short session, from a cold start.
Times are the least of the rounds, in which the ways take turns.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import orjson

from benchmarks.long_session import write_session
from compactctl.commands.reading.transcript import InputOptions, scan
from compactctl.tokens.counters.fast import fast_engine
from compactctl.tokens.counters.vocabulary import load_encoding
from compactctl.tokens.meter import part_texts

NAME = "o200k_base"
MEGABYTE = 1_000_000
PARSED = "orjson.loads of every line"
PURE = "tiktoken alone, each distinct text once"
PLAIN = "compactctl stats with tiktoken"
FAST = "compactctl stats with the extra fast"
Way = Callable[[], object]


def main() -> None:
    """Measure on sessions of the sizes named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--small", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "long.jsonl")
        write_session(path, int(given.megabytes * MEGABYTE))
        print_long(least_times(ways(path), given.rounds))
        path = Path(folder, "short.jsonl")
        write_session(path, int(given.small * MEGABYTE))
        print_start(path, max(3, given.rounds))


def ways(path: Path) -> dict[str, Way]:
    """Return what is compared on one transcript; vocabularies of the first two are loaded."""
    lines = path.read_bytes().splitlines()
    messages = scan(InputOptions(path=str(path), format=None)).effective
    texts = {text for m in messages for part in m.parts for text in part_texts(part)}
    distinct = sorted(texts)
    encode = load_encoding(NAME).encode_ordinary
    size = sum(len(text.encode()) for text in distinct) / MEGABYTE
    print(f"{path.stat().st_size / MEGABYTE:.1f} MB in {len(lines):,} lines;")
    print(f"{size:.1f} MB of text in {len(distinct):,} distinct texts, {len(messages):,} messages")
    found: dict[str, Way] = {
        PARSED: lambda: [orjson.loads(line) and None for line in lines],
        PURE: lambda: [len(encode(text)) for text in distinct],
        PLAIN: lambda: run_stats(path, f"tiktoken:{NAME}"),
    }
    if fast_engine() is not None:
        found[FAST] = lambda: run_stats(path, NAME)
    return found


def run_stats(path: Path, counter: str) -> None:
    """Run the program as a process of its own."""
    command = [sys.executable, "-m", "compactctl", "stats", str(path), "--counter", counter]
    subprocess.run(command, check=True, capture_output=True)


def least_times(found: dict[str, Way], rounds: int) -> dict[str, float]:
    """Return the least CPU seconds of each way, processes it started included."""
    taken: dict[str, list[float]] = {name: [] for name in found}
    for _ in range(rounds):
        for name, way in found.items():
            taken[name].append(cpu_seconds(way))
    return {name: min(seconds) for name, seconds in taken.items()}


def cpu_seconds(way: Way) -> float:
    """Run a way once and return the CPU seconds it took."""
    before = os.times()
    way()
    after = os.times()
    return sum(after[:4]) - sum(before[:4])


def print_long(times: dict[str, float]) -> None:
    """Print the times, and what they say of the program."""
    for name, seconds in times.items():
        print(f"{seconds:7.2f} s  x{seconds / times[PURE]:5.2f}  {name}")
    print(f"with tiktoken x{times[PLAIN] / times[PURE]:.2f} of tokenizing alone (aim: 1.3)")
    if FAST in times:
        print(f"the extra fast makes it {times[PLAIN] / times[FAST]:.1f} times faster (aim: 5)")


def print_start(path: Path, rounds: int) -> None:
    """Print the seconds on the clock from start to end on a short session."""
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        run_stats(path, NAME)
        seconds.append(time.perf_counter() - start)
    size = path.stat().st_size / MEGABYTE
    print(f"{min(seconds):7.2f} s on the clock for compactctl stats of {size:.1f} MB, cold start")


if __name__ == "__main__":
    main()
