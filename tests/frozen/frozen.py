"""What the program prints and writes, frozen: a refactoring leaves all of it as it is.

``cases.py`` names command lines; of each the exit code, both streams and every file that it changed
are kept as a digest in ``digests.json``.

    python tests/frozen/frozen.py check [PATTERN …]   compare, also patterns such as 'batch/*'; if
                                                      few cases differ, show how the first one does
    python tests/frozen/frozen.py diff CASE           show what differs from the frozen output
    python tests/frozen/frozen.py diff CASE COMMIT    or from what a commit prints
    python tests/frozen/frozen.py show CASE           show what it prints now
    python tests/frozen/frozen.py renew CASE …        freeze what these cases print now
    python tests/frozen/frozen.py list [PATTERN …]    list the cases with their command lines

``-j N`` in front works in so many processes, ``--usual`` takes what is tried with every change.
"""

import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from difflib import unified_diff
from fnmatch import fnmatchcase
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from shlex import quote

ROOT = Path(__file__).resolve().parents[2]
# In the place of this folder, in which this file would be taken for the folder's name.
sys.path[:1] = [str(ROOT), str(ROOT / "tests")]

from frozen.still import hold_still, warm_up

hold_still()

from frozen.cases import CASES, USUAL
from frozen.desk import Desk, digests

DIGESTS = Path(__file__).with_name("digests.json")
_OWN = "tests/frozen/frozen.py"
_INTERNAL_ERROR = "exit 70 "
_MANY = 8
# Lines that ``check`` shows of what differs.
_SAMPLE = 20


def main(arguments: Sequence[str]) -> int:
    """Do what the command line asks for; return the exit code."""
    words, jobs, usual = list(arguments), 1, False
    os.environ["HOME"] = "/nonexistent"
    warm_up()
    while words and words[0].startswith("-"):
        match words.pop(0):
            case "-j":
                jobs = int(words.pop(0))
            case "--usual":
                usual = True
            case _:
                words = []
    match words:
        case ["check", *patterns]:
            return _check(_chosen(patterns, usual=usual), jobs)
        case ["diff", name, *commits]:
            return _diff(name, *commits)
        case ["show", name]:
            sys.stdout.write(_text(name))
        case ["renew", *patterns] if patterns:
            _renew(_chosen(patterns), jobs)
        case ["list", *patterns]:
            for name in _chosen(patterns, usual=usual):
                print(name, *CASES[name], sep="\n    ")
        case _:
            print(__doc__)
            return 2
    return 0


def _chosen(patterns: Sequence[str], *, usual: bool = False) -> list[str]:
    """Return the names of the cases that any of the patterns fits, all without one."""
    names = [name for name in CASES if not usual or any(fnmatchcase(name, each) for each in USUAL)]
    if not patterns:
        return names
    chosen = [name for name in names if any(fnmatchcase(name, each) for each in patterns)]
    if not chosen:
        sys.exit(f"there is no case like {' or '.join(patterns)}; see: python {_OWN} list")
    return chosen


def _text(name: str) -> str:
    return "".join(map(str, Desk(CASES[name]).outcomes()))


def _digests(names: Sequence[str], jobs: int) -> Iterator[tuple[str, str]]:
    """Yield each step of these cases with its digest, as they are worked out."""
    cases = [CASES[name] for name in names]
    if jobs == 1:
        yield from chain.from_iterable(map(digests, names, cases))
        return
    with ProcessPoolExecutor(jobs, get_context("fork")) as executor:
        running = [executor.submit(digests, *case) for case in zip(names, cases, strict=True)]
        for future in as_completed(running):
            yield from future.result()


def _frozen() -> dict[str, str]:
    frozen: dict[str, str] = json.loads(DIGESTS.read_text()) if DIGESTS.exists() else {}
    return frozen


def _check(names: Sequence[str], jobs: int) -> int:
    """Compare with what is frozen; say which steps differ, in what, and how to see it."""
    frozen, steps, wrong = _frozen(), set(), dict[str, None]()
    for step, digest in _digests(names, jobs):
        steps.add(step)
        if frozen.get(step) != digest:
            name, _, number = step.rpartition(" ")
            wrong[name] = None
            print(f"{step}: {_differing(frozen.get(step, ''), digest)}")
            print(f"    {_command(name, int(number))}", flush=True)
    known = frozen if len(names) == len(CASES) else _of(frozen, set(names))
    stale = set(known) - steps
    for step in sorted(stale):
        print(f"{step} is frozen, and no step of a case; renew removes it")
    if 0 < len(wrong) <= _MANY:
        sys.stdout.writelines(_sample(next(iter(wrong))))
    for name in wrong:
        print(f"to see what differs: python {_OWN} diff {quote(name)}")
    untried = len(CASES) - len(names)
    if wrong and untried:
        print(f"{untried} cases were not tried and may differ too: python {_OWN} -j 2 check")
    if wrong or stale:
        print(f"if all of it is meant: python {_OWN} renew {_patterns(wrong, stale)}")
    print(f"{len(steps)} command lines of {len(names)} cases; {len(wrong)} cases differ")
    return 1 if wrong or stale else 0


def _patterns(wrong: Iterable[str], stale: Iterable[str]) -> str:
    """Return the cases to renew, by their folders if there are many.

    Renewing any case removes the steps of cases that are gone.
    """
    shrunk = (step.rpartition(" ")[0] for step in sorted(stale))
    cases = dict.fromkeys((*wrong, *(name for name in shrunk if name in CASES)))
    if len(cases) > _MANY:
        cases = dict.fromkeys(f"{name.partition('/')[0]}/*" for name in cases)
    return " ".join(map(quote, cases or [next(iter(CASES))]))


def _command(name: str, number: int) -> str:
    return [step for step in CASES[name] if not step.startswith("$ ")][number - 1]


def _differing(frozen: str, found: str) -> str:
    """Return the parts of a step that differ, by name."""
    if not frozen:
        return "is not frozen yet"
    pairs = [digest.split() for digest in (frozen, found)]
    before, after = (dict(zip(words[::2], words[1::2], strict=True)) for words in pairs)
    return ", ".join(name for name in after if before.get(name) != after[name])


def _of(steps: Iterable[str], names: set[str]) -> list[str]:
    return [step for step in steps if step.rpartition(" ")[0] in names]


def _renew(names: Sequence[str], jobs: int) -> None:
    frozen = _frozen()
    gone = {step for step in frozen if step.rpartition(" ")[0] not in CASES}
    for step in {*_of(frozen, set(names)), *gone}:
        del frozen[step]
    found = dict(_digests(names, jobs))
    broken = [step for step, digest in found.items() if digest.startswith(_INTERNAL_ERROR)]
    if broken:
        sys.exit("internal errors are not frozen: " + ", ".join(broken))
    _write(frozen | found)


def _write(frozen: Mapping[str, str]) -> None:
    DIGESTS.write_text(json.dumps(frozen, indent=0, sort_keys=True) + "\n")


def _diff(name: str, commit: str = "") -> int:
    """Print how what a case prints differs from what it printed at a commit."""
    (name,) = _chosen([name])
    try:
        changes = _changes(name, commit) if commit else _changes_since_frozen(name)
    except subprocess.CalledProcessError as error:
        sys.exit(f"at {commit} it could not be run: {error.stderr}")
    sys.stdout.writelines(changes)
    return 1 if changes else 0


def _changes_since_frozen(name: str) -> list[str]:
    """Return the changes since HEAD; if there are none, since the case was frozen as it is."""
    return _changes(name, "HEAD") or _changes(name, _commit_of(name))


def _changes(name: str, commit: str) -> list[str]:
    """Return how what a case prints differs from what it printed at a commit, as lines of a diff.

    Raises CalledProcessError if the commit is not there, or has no such case.
    """
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "then.tar"
        _git("archive", f"--output={archive}", commit)
        with tarfile.open(archive) as files:
            files.extractall(folder, filter="data")
        words = [sys.executable, str(Path(folder) / _OWN), "show", name]
        before = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    then, now = (text.splitlines(keepends=True) for text in (before, _text(name)))
    return list(unified_diff(then, now, f"{name} at {commit}", f"{name} now"))


def _sample(name: str) -> Iterator[str]:
    """Yield the first lines of what differs in a case; none where Git cannot tell what it was."""
    try:
        changes = _changes_since_frozen(name)
    except (OSError, subprocess.CalledProcessError):
        return
    yield from changes[:_SAMPLE]
    if len(changes) > _SAMPLE:
        yield f"... {len(changes) - _SAMPLE} more lines\n"


def _commit_of(name: str) -> str:
    """Return the last commit that froze a step of a case as it is frozen now.

    What differs now was right there; HEAD if nothing of the case was committed.
    """
    frozen, found = _frozen(), dict(_digests([name], 1))
    wrong = [step for step in _of(frozen, {name}) if found.get(step) != frozen[step]]
    for step in wrong:
        line = f'"{step}": "{frozen[step]}"'
        commits = _git("log", "--format=%h", f"-S{line}", "--", str(DIGESTS)).split()
        for commit in commits[:1]:
            if line in _git("show", f"{commit}:{DIGESTS.relative_to(ROOT)}"):
                return commit
    return "HEAD"


def _git(*words: str) -> str:
    run = ["git", "-C", str(ROOT), *words]
    return subprocess.run(run, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
