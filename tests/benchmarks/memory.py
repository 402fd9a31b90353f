"""How much memory and time the commands take beside the size of the transcript, in one run.

Run: ``python tests/benchmarks/memory.py [--megabytes 100] [FILE]``. Without FILE a long session of
that size is written to a temporary folder. Prints the peak memory of each command per byte of the
transcript, and its CPU seconds beside those of ``stats`` on the same file.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.long_session import write_session

MEGABYTE = 1_000_000
# ru_maxrss is in kilobytes on Linux and in bytes on macOS.
UNIT = 1 if sys.platform == "darwin" else 1_024


def main() -> None:
    """Measure on a file or on a session of the size named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--megabytes", type=float, default=100)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = given.file or Path(folder, "long.jsonl")
        if given.file is None:
            write_session(path, int(given.megabytes * MEGABYTE))
        measure(path, Path(folder, "new.jsonl"))


def measure(path: Path, new: Path) -> None:
    """Run the commands on a transcript, those on its compaction last."""
    size = path.stat().st_size
    print(f"{size / MEGABYTE:.1f} MB")
    _, counting = run("stats", path)
    for name, *arguments in (
        ("stats", path),
        ("compact", path, "--stages", "dedup,prune", "-o", new),
        ("view", new),
        ("rewind", new, "-o", new.with_name("restored.jsonl")),
        ("rewind", new),
    ):
        peak, seconds = run(name, *arguments)
        print(f"{name:8s} {peak / size:5.2f} bytes per byte ({peak / MEGABYTE:4.0f} MB)", end="")
        print(f"  {seconds:6.2f} s  x{seconds / counting:.2f} of stats", flush=True)


def run(*arguments: object) -> tuple[int, float]:
    """Run the program as a process of its own; return its peak memory and its CPU seconds."""
    command = [sys.executable, "-m", "compactctl", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return used.ru_maxrss * UNIT, used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
