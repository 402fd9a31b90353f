"""Measures compactctl beside work that cannot be avoided, and beside other checkouts.

``python tests/benchmarks/performance.py [--rows TEXT]`` runs each row and what it is compared with
in turns, three rounds of both (``--rounds``), and prints the median of their ratios and the range.
``--tool PYTHON`` also measures the compactctl of that environment, in the same turns. ``--large``
adds a session of 1 GB. ``--write`` renews the table of ``docs/performance.md``. ``--quick``
measures what ``.ci/long`` watches, and warns if a ratio is much larger than in that table.

Times are CPU seconds of a program with its workers; memory is the peak of the largest process.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median

if __name__ == "__main__":
    # This folder has files named like folders of the tests.
    sys.path.pop(0)
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.performance_inputs import PRUNE, SAMPLES, Inputs
from benchmarks.tables import paragraph, renew, table

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "performance.md"
# ru_maxrss is in kilobytes on Linux and in bytes on macOS.
UNIT = 1 if sys.platform == "darwin" else 1_024
TOLERANCE = 1.5
"""How many times its recorded ratio a row may have before ``--quick`` warns."""
ORJSON = """
import orjson, pathlib, sys
for path in pathlib.Path(sys.argv[1]).rglob("*.jsonl"):
    for line in path.open("rb"):
        try:
            orjson.loads(line)
        except ValueError:
            pass
"""
TIKTOKEN = """
import json, sys
from compactctl.tokens.counters.vocabulary import load_encoding
encode = load_encoding("o200k_base").encode_ordinary
for text in json.load(open(sys.argv[1])):
    encode(text)
"""
Command = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """CPU seconds of a program, and its peak memory in bytes."""

    seconds: float
    peak: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A command to measure, in which ``compactctl`` and ``python`` are those of a tool.

    ``before`` are commands and functions that prepare what it reads, unmeasured. The cache is
    empty before the first of them. ``home`` is its home folder, by default an empty one.
    """

    command: Command
    before: tuple[Command | Callable[[], object], ...] = ()
    stdin: bytes = b""
    home: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A work and what it is compared with: another work or, for memory, a number of bytes.

    ``aim`` is the ratio to reach at most, None without one.
    """

    name: str
    make: Callable[[Inputs], tuple[Work, Work | int]]
    aim: float | None = None
    is_quick: bool = False
    is_large: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The ratios of all rounds, and the median of what was measured: seconds, or bytes."""

    ratios: tuple[float, ...]
    amount: float

    @property
    def ratio(self) -> float:
        """The median."""
        return median(self.ratios)


CLICK = Work(command=("python", "-c", "import click"))


def compactctl(*arguments: object) -> Work:
    """Return the work of one command of compactctl, with an empty cache."""
    return Work(command=("compactctl", *arguments))


def parse(folder: Path) -> Work:
    """Return the work of parsing all lines below a folder."""
    return Work(command=("python", "-c", ORJSON, folder))


def keep(inputs: Inputs, megabytes: int) -> tuple[Work, Work]:
    """Compare a compaction to 30% with ``stats``."""
    path = inputs.coding(megabytes)
    return compactctl("compact", path, "--keep", "30%", "-n"), compactctl("stats", path)


def default(inputs: Inputs, megabytes: int) -> tuple[Work, Work]:
    """Compare the default compaction with ``stats``."""
    path = inputs.distinct(megabytes)
    return compactctl("compact", path, "-n"), compactctl("stats", path)


def prune(inputs: Inputs, megabytes: int) -> tuple[Work, Work]:
    """Compare a written compaction without a summary with ``stats``."""
    path = inputs.coding(megabytes)
    output = ("-o", inputs.folder / "pruned.jsonl", "--force")
    return compactctl("compact", path, *PRUNE, *output), compactctl("stats", path)


def count(inputs: Inputs, megabytes: int) -> tuple[Work, Work]:
    """Compare ``stats`` with tiktoken alone on each distinct text."""
    path = inputs.coding(megabytes)
    return compactctl("stats", path), Work(command=("python", "-c", TIKTOKEN, inputs.texts(path)))


def cold_batch(folder: Path) -> tuple[Work, Work]:
    """Compare a batch that knows nothing with parsing the same files."""
    options = ("--include", "*.jsonl", "--no-cache", "--jobs", "1")
    return compactctl("batch", folder, *options), parse(folder)


def overview(inputs: Inputs, *arguments: object) -> tuple[Work, Work]:
    """Compare a command over 2,000 sessions that it has read before with importing click."""
    command = ("compactctl", *arguments)
    return Work(command=command, before=(command,), home=inputs.home()), CLICK


def grown(inputs: Inputs, megabytes: int) -> tuple[Work, Work]:
    """Compare a batch over a session with one more line with a batch that knows nothing."""
    path, line = inputs.grown(megabytes)
    shrink, command = partial(os.truncate, path, path.stat().st_size), batch_of(path)

    def grow() -> None:
        with path.open("ab") as file:
            file.write(line)

    return Work(command=command, before=(shrink, command, grow)), Work(command=command)


def batch_of(path: Path) -> Command:
    """Return a batch over the folder of a file."""
    return ("compactctl", "batch", path.parent, "--jobs", "1")


def start(*arguments: object, stdin: bytes = b"") -> tuple[Work, Work]:
    """Compare a small command with importing click."""
    return Work(command=("compactctl", *arguments), stdin=stdin), CLICK


def on_sample(inputs: Inputs, *arguments: object) -> tuple[Work, Work]:
    """Compare a command on the bundled session with ``stats``."""
    return compactctl(*arguments, inputs.sample), compactctl("stats", inputs.sample)


def memory(inputs: Inputs, megabytes: int, command: str) -> tuple[Work, int]:
    """Compare the peak memory of a command with the size of the session, or of its original."""
    path = inputs.coding(megabytes)
    name, *options = command.split()
    read = path if name in ("stats", "compact") else inputs.compacted(megabytes)
    if name == "compact":
        options += ["--trigger", "always", "-n"]
    if name == "rewind":
        options += ["-o", str(inputs.folder / "restored.jsonl"), "--force"]
    return compactctl(name, read, *options), path.stat().st_size


def peer(inputs: Inputs, name: str) -> tuple[Work, Work]:
    """Compare with another program that does something similar."""
    if name == "cozempic":
        path = inputs.coding(32)
        return compactctl("stats", path), Work(command=(name, "diagnose", path))
    home = inputs.home()
    work = Work(command=("compactctl", "batch", "claude:"), home=home)
    return work, Work(command=(name, "session", "--offline"), home=home)


NO_HOOK = b'{"hook_event_name": "Stop"}'
ROWS = (
    Row(name="`compact --keep 30%` / `stats`, 4 MB", make=partial(keep, megabytes=4), aim=2,
        is_quick=True),
    Row(name="`compact --keep 30%` / `stats`, 32 MB", make=partial(keep, megabytes=32), aim=3),
    Row(name="`compact` / `stats`, 5 MB of distinct text", make=partial(default, megabytes=5),
        aim=3),
    Row(name="`compact` / `stats`, 50 MB of distinct text", make=partial(default, megabytes=50),
        aim=3),
    Row(name="`compact --stages prune,dedup` / `stats`, 100 MB", make=partial(prune, megabytes=100),
        aim=1.4),
    Row(name="`stats` / tiktoken alone, 100 MB", make=partial(count, megabytes=100), aim=1.3),
    Row(name="cold `batch` / orjson, the samples", make=lambda _: cold_batch(SAMPLES),
        is_quick=True),
    Row(name="cold `batch` / orjson, 100 MB", make=lambda i: cold_batch(i.folder_of(100)), aim=5),
    Row(name="known `sessions --limit 0`, 2,000 sessions / `import click`",
        make=lambda i: overview(i, "sessions", "--limit", "0"), aim=12),
    Row(name="known `batch claude:`, 2,000 sessions / `import click`",
        make=lambda i: overview(i, "batch", "claude:", "--jobs", "1"), aim=12),
    Row(name="`batch` after one more line / cold, 20 MB", make=partial(grown, megabytes=20),
        aim=0.1),
    Row(name="`stats` of 1 kB / `import click`", make=lambda i: start("stats", i.tiny()), aim=3,
        is_quick=True),
    Row(name="`batch --help` / `import click`", make=lambda _: start("batch", "--help"), aim=2),
    Row(name="a hook that does nothing / `import click`",
        make=lambda _: start("client", "hook", "claude-code", stdin=NO_HOOK), aim=2),
    Row(name="`view --message 100` / `stats`, 1.5 MB",
        make=lambda i: on_sample(i, "view", "--message", "100"), aim=1.6),
    Row(name="`lab simulate` / `stats`, 1.5 MB",
        make=lambda i: on_sample(i, "lab", "simulate"), aim=3.4),
    *(Row(name=f"memory of `{command}` / size, 100 MB",
          make=partial(memory, megabytes=100, command=command), aim=aim)
      for command, aim in (("stats", 2), ("compact", 2), ("compact --stages prune,dedup", 2),
                           ("view --archived", 0.5), ("verify", 0.5), ("rewind", 1.2))),
    *(Row(name=f"memory of `{command}` / size, 1 GB",
          make=partial(memory, megabytes=1_000, command=command), aim=aim, is_large=True)
      for command, aim in (("stats", 0.3), ("compact --stages prune,dedup", 2), ("verify", 0.5),
                           ("rewind", 0.5))),
    Row(name="`stats` / `cozempic diagnose`, 32 MB", make=partial(peer, name="cozempic")),
    Row(name="`batch claude:` / `ccusage session`, 2,000 sessions",
        make=partial(peer, name="ccusage")),
)  # fmt: skip


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="", help="only rows whose name contains this")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tool", action="append", default=[], help="another Python to measure")
    parser.add_argument("--folder", type=Path, default=SAMPLES, help="of transcripts for batch")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows = [
        row
        for row in ROWS
        if options.rows in row.name
        and (row.is_quick or not options.quick)
        and (options.large or not row.is_large)
    ]
    pythons = [sys.executable, *options.tool]
    with tempfile.TemporaryDirectory() as folder:
        inputs = Inputs(Path(folder), options.folder)
        figures: dict[Row, tuple[Figures, ...]] = {}
        for row in rows:
            figures[row] = measure(row, inputs, pythons, options.rounds)
            print(" | ".join((row.name, *cells(row, figures[row]))), flush=True)
            if options.write:
                write_page(figures, inputs)
    if options.quick:
        for warning in warnings({row: f[0] for row, f in figures.items() if f}, PAGE.read_text()):
            print(warning)


def write_page(figures: dict[Row, tuple[Figures, ...]], inputs: Inputs) -> None:
    """Replace the table of the page, and the paragraph on what programs import."""
    imports = paragraph(
        f"`stats` of 1 kB {imported('stats', inputs.tiny())}, and `batch --help` "
        f"{imported('batch', '--help')} (`python -X importtime`)."
    )
    tables = f"{origin()}\n\n{figures_table(figures)}\n\n{imports}"
    PAGE.write_text(renew(PAGE.read_text(), tables))


def imported(*arguments: object) -> str:
    """Return how many modules a command imports, and how long that takes."""
    command = [sys.executable, "-X", "importtime", "-m", "compactctl", *map(str, arguments)]
    log = subprocess.run(command, check=False, capture_output=True, text=True).stderr
    times = [int(number) for number in re.findall(r"^import time: +(\d+) \|", log, re.MULTILINE)]
    return f"imports {len(times):,} modules in {sum(times) / 1e6:.2f} s"


def measure(row: Row, inputs: Inputs, pythons: Sequence[str], rounds: int) -> tuple[Figures, ...]:
    """Run both sides of a row in turns, by each tool; () if a program of it is not installed."""
    measured, base = row.make(inputs)
    works = [work for work in (measured, base) if isinstance(work, Work)]
    names = {str(work.command[0]) for work in works} - {"compactctl", "python"}
    if any(shutil.which(name) is None for name in names):
        return ()
    usages = [
        [[run(work, python, inputs.folder) for work in works] for python in pythons]
        for _ in range(rounds)
    ]
    return tuple(map(partial(_figures, base), zip(*usages, strict=True)))


def _figures(base: Work | int, rounds: Sequence[Sequence[Usage]]) -> Figures:
    if isinstance(base, int):
        peaks = [usages[0].peak for usages in rounds]
        return Figures(ratios=tuple(peak / base for peak in peaks), amount=median(peaks))
    ratios = tuple(measured.seconds / other.seconds for measured, other in rounds)
    return Figures(ratios=ratios, amount=median(usages[0].seconds for usages in rounds))


def run(work: Work, python: str, folder: Path) -> Usage:
    """Prepare and run a work with one tool. Exit codes above 1 end the benchmark."""
    cache, home = folder / "cache", work.home or folder / "home"
    shutil.rmtree(cache, ignore_errors=True)
    home.mkdir(exist_ok=True)
    environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(cache)}
    programs = {"python": [python], "compactctl": [python, "-m", "compactctl"]}

    def execute(command: Command) -> Usage:
        name, *arguments = map(str, command)
        started = [*programs.get(name, [name]), *arguments]
        return _execute(started, environment, folder, work.stdin)

    for step in work.before:
        step() if callable(step) else execute(step)
    return execute(work.command)


def _execute(command: Sequence[str], environment: dict[str, str], cwd: Path, stdin: bytes) -> Usage:
    with tempfile.TemporaryFile() as feed, tempfile.TemporaryFile() as errors:
        feed.write(stdin)
        feed.seek(0)
        process = subprocess.Popen(
            command, stdin=feed, stdout=subprocess.DEVNULL, stderr=errors, env=environment, cwd=cwd
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        # 1 means that compactctl found something.
        if process.returncode not in (0, "compactctl" in command):
            errors.seek(0)
            sys.exit(f"{' '.join(command)[:300]}: {process.returncode}, {errors.read()[-500:]!r}")
    return Usage(seconds=used.ru_utime + used.ru_stime, peak=used.ru_maxrss * UNIT)


def cells(row: Row, figures: Sequence[Figures]) -> Iterator[str]:
    """Yield the cells of a row after its name: the aim, and the figures of each tool."""
    yield "" if row.aim is None else f"{row.aim:g}"
    if not figures:
        yield "not installed"
    for figure in figures:
        low, high = min(figure.ratios), max(figure.ratios)
        is_missed = row.aim is not None and figure.ratio > row.aim
        mark = "**" if is_missed else ""
        spread = f" ({low:.2f} to {high:.2f})" if len(figure.ratios) > 1 else ""
        yield f"{mark}{figure.ratio:.2f}{mark}{spread}"
        is_memory = row.name.startswith("memory")
        yield f"{figure.amount / 1e6:,.0f} MB" if is_memory else f"{figure.amount:.2f} s"


def figures_table(figures: dict[Row, tuple[Figures, ...]]) -> str:
    """Return the table of the page."""
    rows = [(row.name, *cells(row, figures[row])) for row in figures if figures[row]]
    n_tools = max((len(row) - 2) // 2 for row in rows)
    return table(("Measured / compared with", "Aim", *("Ratio", "Measured") * n_tools), rows)


def origin() -> str:
    """Return when and with what the table was made."""
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%h", "--abbrev=8", "compactctl"]
    commit = subprocess.check_output(command, text=True).strip()
    return paragraph(
        f"Measured on {datetime.now(UTC):%Y-%m-%d} with commit {commit} and Python "
        f"{sys.version_info.major}.{sys.version_info.minor} by `tests/benchmarks/performance.py`."
    )


def warnings(figures: dict[Row, Figures], page: str) -> Iterator[str]:
    """Yield the rows whose ratio is much larger than the one on the page."""
    for row, figure in figures.items():
        match = re.search(rf"^\| {re.escape(row.name)} \| [^|]* \| \**([\d.]+)", page, re.MULTILINE)
        if match and figure.ratio > TOLERANCE * float(match[1]):
            yield f"warning: {row.name} is {figure.ratio:.2f}, and was {match[1]}"


if __name__ == "__main__":
    main()
