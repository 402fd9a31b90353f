"""How long ``sessions`` takes over many files that nobody has read lately.

Run: ``python tests/benchmarks/session_list.py [--count 2000] [--kilobytes 300] [--rounds 3]``.
Writes a home with so many sessions of Claude Code and Codex, half each, and prints the wall-clock
seconds of the whole program, least of the rounds: the newest twenty, and all of them read, each
with the files out of the system's memory, and once more as they are then.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sessions.homes import Home, many

WAYS = {
    "the newest 20": (),
    "all, one by one": ("--limit", "0", "--json"),
    "those over 90 % of the window": ("--over", "0.9", "--limit", "0"),
}


def main() -> None:
    """Measure on a home of the size that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--kilobytes", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Home(root=Path(folder))
        many(home, given.count, given.kilobytes * 1_000)
        files = sorted(home.root.rglob("*.jsonl"))
        size = sum(path.stat().st_size for path in files) / 1e6
        print(f"{len(files):,} files, {size:,.0f} MB")
        for what, options in WAYS.items():
            cold = min(seconds(home, options, files) for _ in range(given.rounds))
            warm = min(seconds(home, options, ()) for _ in range(given.rounds))
            print(f"{what:<32} {cold:6.2f} s, read before {warm:6.2f} s")


def seconds(home: Home, options: tuple[str, ...], forgotten: list[Path] | tuple[()]) -> float:
    """Return how long one run takes, with these files out of the system's memory."""
    for path in forgotten:
        drop(path)
    command = [sys.executable, "-m", "compactctl", "sessions", *options]
    begun = time.perf_counter()
    subprocess.run(command, env={"HOME": str(home.root)}, check=True, capture_output=True)
    return time.perf_counter() - begun


def drop(path: Path) -> None:
    """Have the system forget the pages of a file, where it can be told to."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    main()
