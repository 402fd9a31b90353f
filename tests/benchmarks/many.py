"""What a batch over many transcripts takes beside the work that cannot be avoided, in one run.

Run: ``python tests/benchmarks/many.py FOLDER… [--megabytes 1000] [--largest 20] [--rounds 1]``.
Repeats the transcripts below the folders, each time under another name and with other ids, until
there are so many megabytes, and prints CPU seconds: parsing all lines with orjson alone, tokenizing
the distinct texts of each file with tiktoken alone, and ``compactctl batch`` over them in one
process: with tiktoken, with the extra ``fast``, compacting, and once more with what it remembers.
Then two workers, on the clock, and the most memory that a process of the batch took.
"""

import argparse
import ctypes
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import orjson

from compactctl.commands.reading.discover import FileChoice, discover
from compactctl.commands.reading.transcript import InputOptions, scan
from compactctl.errors import CompactctlError
from compactctl.tokens.counters.fast import DISABLE_VARIABLE
from compactctl.tokens.counters.tiktoken_counter import count_or_bound
from compactctl.tokens.counters.vocabulary import load_encoding
from compactctl.tokens.meter import part_texts

NAME = "o200k_base"
MEGABYTE = 1_000_000
# ru_maxrss is in kilobytes on Linux and in bytes on macOS.
UNIT = 1 if sys.platform == "darwin" else 1_024
SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of Linux: workers whose parent has ended are waited for here."""
_ID = re.compile(rb"[0-9a-f]{8}(?=-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")
COMPACTING = ("--stages", "dedup,prune")


@dataclass(frozen=True, slots=True)
class Taken:
    """CPU seconds and seconds on the clock of all processes together; peak bytes of the largest."""

    cpu: float
    clock: float
    peak: int


def main() -> None:
    """Measure on the folders and the size that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--megabytes", type=float, default=1_000)
    parser.add_argument("--largest", type=float, default=20, help="megabytes of a file")
    parser.add_argument("--rounds", type=int, default=1)
    given = parser.parse_args()
    adopt_orphans()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        found = understood(given.folders, int(given.largest * MEGABYTE))
        files = repeated(found, work / "in", int(given.megabytes * MEGABYTE))
        size = sum(path.stat().st_size for path in files) / MEGABYTE
        print(f"{len(files):,} files, {size:,.0f} MB, of {len(found)} transcripts", flush=True)
        measure(files, work, size, given.rounds)


def understood(folders: Sequence[str], largest: int) -> list[Path]:
    """Return the transcripts below folders, of which none is larger."""
    files = discover(FileChoice(paths=tuple(folders), include=("*.jsonl",)))
    paths = (Path(file.path) for file in files)
    return [path for path in paths if 0 < path.stat().st_size <= largest and is_understood(path)]


def is_understood(path: Path) -> bool:
    """Tell whether a file can be read as a transcript."""
    try:
        return bool(scan(InputOptions(path=str(path))).effective)
    except CompactctlError:
        return False


def repeated(found: Sequence[Path], folder: Path, n_bytes: int) -> list[Path]:
    """Write transcripts again and again, with other ids each time, up to so many bytes."""
    files: list[Path] = []
    for again in count():
        for number, path in enumerate(found):
            if n_bytes <= 0:
                return files
            target = folder / f"{again:04d}" / f"{number:03d}-{path.name}"
            target.parent.mkdir(parents=True, exist_ok=True)
            data = _ID.sub(partial(_other, key=again), path.read_bytes())
            target.write_bytes(data)
            files.append(target)
            n_bytes -= len(data)
    return files


def _other(found: re.Match[bytes], key: int) -> bytes:
    return f"{int(found[0], 16) ^ (key * 0x9E3779B1 & 0xFFFFFFFF):08x}".encode()


def measure(files: Sequence[Path], work: Path, size: float, rounds: int) -> None:
    """Print what each way takes, and what that says."""
    folder, out = str(work / "in"), str(work / "out")
    plain = {DISABLE_VARIABLE: "1"}
    parsed = least(lambda: parse(files), rounds)
    show("orjson.loads of every line", parsed, parsed, size)
    tokenized = least(lambda: tokenize(files), rounds)
    show("tiktoken alone", tokenized, parsed, size)
    slow = least(lambda: batch(work, folder, "-j1", "--no-cache", environ=plain), rounds)
    show("batch with tiktoken", slow, parsed, size)
    cold = least(lambda: batch(work, folder, "-j1", "--no-cache"), rounds)
    show("batch with the extra fast", cold, parsed, size)
    two = least(lambda: batch(work, folder, "-j2", "--no-cache"), rounds)
    show("the same with two workers", two, parsed, size)
    figures = least(lambda: batch(work, folder, "-j1", "--no-cache", *COMPACTING), rounds)
    show(f"the same with {' '.join(COMPACTING)}", figures, parsed, size)
    written = least(
        lambda: batch(work, folder, "-j1", "--no-cache", *COMPACTING, "--out", out, "-f"), rounds
    )
    show("the same, written", written, parsed, size)
    batch(work, folder, "-j2")
    known = least(lambda: batch(work, folder, "-j1"), rounds)
    show("the batch once more, remembered", known, parsed, size)
    aim = 1.3 * tokenized.cpu + 2 * parsed.cpu
    print(f"with fast: x{cold.cpu / parsed.cpu:.2f} of orjson (aim: 4)")
    print(f"without: x{slow.cpu / aim:.2f} of 1.3 tokenizing + 2 orjson (aim: 1)")
    print(f"two workers: x{cold.clock / two.clock:.2f} as fast on the clock (aim: 1.7)")
    print(f"two workers: x{two.cpu / cold.cpu:.2f} of the CPU time of one")
    print(f"remembered: x{known.cpu / parsed.cpu:.3f} of orjson (aim: .15)")
    print(f"compacting: x{figures.cpu / cold.cpu:.2f} of analysing (aim: 1.5)")
    print(f"memory: {two.peak / MEGABYTE:.0f} MB in the largest process (aim: 250)")


def show(name: str, taken: Taken, parsed: Taken, size: float) -> None:
    """Print the figures of one way."""
    print(
        f"{taken.cpu:8.2f} s  x{taken.cpu / parsed.cpu:6.2f}  {size / taken.cpu:7.1f} MB/s"
        f"  {taken.clock:8.2f} s on the clock  {taken.peak / MEGABYTE:4.0f} MB  {name}",
        flush=True,
    )


def parse(files: Sequence[Path]) -> None:
    """Parse every line of every file."""
    for path in files:
        with path.open("rb") as lines:
            for line in lines:
                with suppress(ValueError):
                    orjson.loads(line)


def tokenize(files: Sequence[Path]) -> Taken:
    """Tokenize the distinct texts of every file; what it takes to find them does not count."""
    encode = load_encoding(NAME).encode_ordinary
    cpu = 0.0
    for path in files:
        texts = distinct(path)
        before = time.process_time()
        for text in texts:
            count_or_bound(encode, text)
        cpu += time.process_time() - before
    return Taken(cpu, cpu, 0)


def distinct(path: Path) -> list[str]:
    """Return the texts of a transcript's effective history, each once."""
    messages = scan(InputOptions(path=str(path))).effective
    texts = {text for m in messages for part in m.parts for text in part_texts(part)}
    return [text.encode("utf-8", "replace").decode() for text in sorted(texts)]


def batch(work: Path, *arguments: str, environ: dict[str, str] | None = None) -> Taken:
    """Run a batch as a process of its own, with a cache of its own."""
    command = [sys.executable, "-m", "compactctl", "batch", *arguments]
    environ = {**os.environ, "XDG_CACHE_HOME": str(work / "cache"), **(environ or {})}
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(
        command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        peak = max(watched(process))
    clock = time.perf_counter() - begun
    wait_for_orphans()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Taken(cpu, clock, peak)


def watched(process: subprocess.Popen[bytes]) -> Iterator[int]:
    """Wait for a process, and yield now and then the peak bytes of the largest one below it."""
    while process.poll() is None:
        yield max(map(peak_of, family(process.pid)), default=0)
        time.sleep(0.2)
    yield 0


def family(root: int) -> set[int]:
    """Return a process and those that it has started, where /proc tells."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    found = {root}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def peak_of(pid: int) -> int:
    """Return the most memory that a process ever had, in bytes; 0 where that is not told."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1_024
    return 0


def adopt_orphans() -> None:
    """Have the processes below this one wait for it when their parent ends, on Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


def wait_for_orphans() -> None:
    """Wait for the workers that a batch left behind, so that their time is counted."""
    with suppress(ChildProcessError):
        while True:
            os.wait()


def least(way: Callable[[], Taken | None], rounds: int) -> Taken:
    """Run a way so many times and return what took the least CPU time."""
    return min((once(way) for _ in range(rounds)), key=lambda taken: taken.cpu)


def once(way: Callable[[], Taken | None]) -> Taken:
    """Run a way in this process, unless it tells itself what it took."""
    begun, before = time.perf_counter(), time.process_time()
    taken = way()
    return taken or Taken(time.process_time() - before, time.perf_counter() - begun, 0)


if __name__ == "__main__":
    main()
