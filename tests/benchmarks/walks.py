"""Measures what a command line walks through: the files and functions that it touches.

    python tests/benchmarks/walks.py [FOLDER OF A CHECKOUT]

A function counts once it is called; what a module does while it is imported does not count.
Imported are modules of the package, and all, Python's own included.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

_ROOT = Path(__file__).resolve().parents[2]
_SAMPLE = "claude-code-session.jsonl"
_WALKS: tuple[tuple[str, ...], ...] = (
    ("stats", _SAMPLE),
    ("compact", _SAMPLE, "-o", "out.jsonl"),
    ("rewind", "out.jsonl", "-o", "back.jsonl"),
    ("log", "out.jsonl"),
    ("batch", "sample_transcripts", "--no-cache", "-j", "1"),
)
_STARTS: tuple[tuple[str, ...], ...] = (
    ("--help",),
    ("log", _SAMPLE),
    ("cache",),
    ("stats", _SAMPLE),
)
_REPEATS = 9

_WALK = """
import sys
from compactctl.__main__ import run
package = sys.argv.pop(1)
functions, calls, depth, deepest, importing = set(), 0, 0, 0, 0
def note(frame, event, argument):
    global calls, depth, deepest, importing
    code, step = frame.f_code, {"call": 1, "return": -1}.get(event, 0)
    if code.co_name == "<module>":
        importing += step
    elif code.co_filename.startswith(package) and not importing and code.co_name[0] != "<":
        depth += step
        calls += step == 1
        deepest = max(deepest, depth)
        functions.add(code)
sys.setprofile(note)
run(sys.argv[1:])
sys.setprofile(None)
print(len({code.co_filename for code in functions}), len(functions), calls, deepest,
      sum(name.split(".")[0] == "compactctl" for name in sys.modules), len(sys.modules),
      file=sys.stderr)
"""
_START = """
import sys
from compactctl.__main__ import run
run(sys.argv[1:])
print(sum(name.split(".")[0] == "compactctl" for name in sys.modules), len(sys.modules),
      file=sys.stderr)
"""


def main() -> None:
    """Print a table of walks, and one of what is imported for small commands."""
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else _ROOT
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sample_transcripts").symlink_to(root / "sample_transcripts")
        (folder / _SAMPLE).write_bytes((root / "sample_transcripts" / _SAMPLE).read_bytes())
        print("walk      files  functions    calls  depth  modules  all modules")
        for words in _WALKS:
            figures = _figures(root, folder, _WALK, str(root / "compactctl"), *words)
            print(_row(words[0], figures, (7, 11, 9, 7, 9, 13)))
        print("\nstart     modules  all modules  CPU time in ms, median of", _REPEATS)
        for words in _STARTS:
            figures = _figures(root, folder, _START, *words)
            spent = median(_milliseconds(root, folder, words) for _ in range(_REPEATS))
            print(_row(words[0], [*figures, f"{spent:.0f}"], (9, 13, 10)))


def _row(name: str, figures: list[str], widths: tuple[int, ...]) -> str:
    columns = (figure.rjust(width) for figure, width in zip(figures, widths, strict=True))
    return f"{name:8}{''.join(columns)}"


def _figures(root: Path, folder: Path, program: str, *words: str) -> list[str]:
    """Return what a program of ours prints behind all that compactctl tells."""
    run = [sys.executable, "-c", program, *words]
    done = subprocess.run(
        run, cwd=folder, env=_environment(root, folder), capture_output=True, text=True, check=True
    )
    return done.stderr.splitlines()[-1].split()


def _milliseconds(root: Path, folder: Path, words: tuple[str, ...]) -> float:
    """Return the CPU time of a process of its own, Python's start included."""
    before = getrusage(RUSAGE_CHILDREN)
    run = [sys.executable, "-m", "compactctl", *words]
    subprocess.run(
        run, cwd=folder, env=_environment(root, folder), capture_output=True, check=False
    )
    after = getrusage(RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def _environment(root: Path, folder: Path) -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "HOME": str(folder), "PYTHONPATH": str(root)}


if __name__ == "__main__":
    main()
