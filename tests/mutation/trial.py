"""A plugin of pytest that breaks the program in many ways, and sees which the tests notice.

The tests are collected once. A first child process runs them all and notes which lines each one
reaches. Then each mutant is tried in a child of its own: the functions it changes get its code, the
file on the disk gets its text, which programs started by tests read, and the tests that reach it
are run until one fails: the quick ones first, and half a minute of them at most. What runs at
import is tried by a new pytest on the changed file.

``MUTATION_JOB`` names a JSON file with the mutants and the file, ``out``, to which results are
added, a JSON line for each. For a new pytest it has the tests to run, with the seconds they took.
"""

import gc
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from pathlib import Path
from tempfile import mkdtemp
from types import CodeType, FunctionType
from typing import Any

import coverage
import pytest
from mutation.mutants import Mutant

JOB = "MUTATION_JOB"
# In seconds. A mutant whose tests never end is noticed as well: a test may use ten times the
# processor time that it used before, and five seconds more.
_AT_LEAST, _AT_MOST = 20, 300
_TIMES_AS_LONG = 10
_TEST_AT_LEAST = 5
# In seconds: the tests run for a mutant. Those that notice it are mostly among the first few.
_TESTS_AT_MOST = 30
_PASSED, _FAILED = 0, 1


@dataclass(frozen=True, slots=True)
class Baseline:
    """How the tests fare on the program as it is, each by its position.

    ``reaching`` has the tests that reach a line, by file and line; ``starting`` those that start
    Python, which may reach anything.
    """

    seconds: dict[int, float]
    failed: list[int]
    starting: list[int]
    reaching: dict[tuple[str, int], list[int]] = field(default_factory=dict)

    @property
    def usable(self) -> list[int]:
        """Return the tests that pass."""
        return sorted(set(self.seconds).difference(self.failed))


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Try the mutants instead of running the tests."""
    job = json.loads(Path(os.environ[JOB]).read_text())
    if "tests" in job:
        items = {item.nodeid: item for item in session.items}
        seconds = {items[name]: spent for name, spent in job["tests"] if name in items}
        return all(passes for _, passes, _ in run(session, list(seconds), list(seconds.values())))
    root = Path.cwd()
    scratch = Path(mkdtemp())
    report = partial(_report, Path(job["out"]))
    try:
        baseline = _baseline(session, root, scratch)
        for position in baseline.failed:
            report({"fails": session.items[position].nodeid})
        functions = _functions(root)
        for number, values in enumerate(job["mutants"]):
            mutant = Mutant(**values)
            trial = _Trial(session, baseline, functions, root, scratch / str(number))
            report({"mutant": number, **trial.outcome(mutant)})
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return True


def _report(path: Path, line: dict[str, object]) -> None:
    with path.open("a") as file:
        file.write(f"{json.dumps(line)}\n")


@dataclass(frozen=True, slots=True)
class _Trial:
    session: pytest.Session
    baseline: Baseline
    functions: dict[tuple[str, int, str], list[FunctionType]]
    root: Path
    scratch: Path

    def outcome(self, mutant: Mutant) -> dict[str, object]:
        """Return whether the mutant was noticed, by how many tests at most, and the time."""
        started = time.monotonic()
        reaching = self.baseline.reaching.get((mutant.path, mutant.line), [])
        with _changed(self.root / mutant.path, mutant):
            if mutant.function:
                tests = self._tests(reaching, self.baseline.starting)
                noticed = self._is_noticed(mutant, tests)
            else:
                # What runs at import may matter to tests that reach no line of the file.
                noticed = self._is_noticed_anew(self._tests((), self.baseline.usable))
        return {
            "killed": noticed,
            "reached": len(reaching) if mutant.function else None,
            "seconds": round(time.monotonic() - started, 1),
        }

    def _tests(self, near: Collection[int], others: Sequence[int]) -> list[int]:
        """Return the tests to run: near ones first, and of each the quick ones first."""
        seconds = self.baseline.seconds
        quick = sorted(near, key=seconds.__getitem__)
        rest = sorted(set(others).difference(near), key=seconds.__getitem__)
        tests: list[int] = []
        left = float(_TESTS_AT_MOST)
        for position in [*quick, *rest]:
            left -= seconds[position]
            if left >= 0 or not tests:
                tests.append(position)
        return tests

    def _limit(self, tests: Sequence[int]) -> float:
        seconds = sum(self.baseline.seconds[position] for position in tests)
        return min(_AT_MOST, _AT_LEAST + _TIMES_AS_LONG * seconds)

    def _is_noticed(self, mutant: Mutant, tests: Sequence[int]) -> bool:
        work = partial(self._run_changed, mutant, tests)
        return in_child(work, self.scratch, self._limit(tests)) != _PASSED

    def _run_changed(self, mutant: Mutant, positions: Sequence[int]) -> bool:
        path = self.root / mutant.path
        for code in _codes(compile(path.read_bytes(), str(path), "exec")):
            for function in self.functions.get(_key(code), ()):
                function.__code__ = code
        items = [self.session.items[position] for position in positions]
        seconds = [self.baseline.seconds[position] for position in positions]
        return all(passes for _, passes, _ in run(self.session, items, seconds))

    def _is_noticed_anew(self, tests: Sequence[int]) -> bool:
        arguments = [each for each in sys.argv[1:] if each != "mutation.trial"]
        paths = [each for each in arguments if (self.root / each.partition("::")[0]).exists()]
        self.scratch.mkdir(exist_ok=True)
        job = self.scratch / "job"
        names = [
            (self.session.items[position].nodeid, self.baseline.seconds[position])
            for position in tests
        ]
        job.write_text(json.dumps({"tests": names}))
        environment = {**os.environ, JOB: str(job), "TMPDIR": str(self.scratch)}
        command = [sys.executable, "-m", "pytest", "-p", "mutation.trial", "-q"]
        command += ["-p", "no:cacheprovider", *paths]
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, check=False, timeout=_AT_MOST
            )
        except subprocess.TimeoutExpired:
            return True
        finally:
            shutil.rmtree(self.scratch, ignore_errors=True)
        return done.returncode != _PASSED


def run(
    session: pytest.Session, items: Sequence[pytest.Item], seconds: Sequence[float] = ()
) -> Iterator[tuple[pytest.Item, bool, float]]:
    """Run tests; yield each with whether it passed, and the processor time it took, in seconds.

    With the ``seconds`` they took before, the process ends in a test that takes far longer.
    """
    for item, following, before in zip_longest(items, items[1:], seconds):
        failed, started = session.testsfailed, _processor_time()
        if before is not None:
            # What nobody handles ends the process.
            signal.setitimer(signal.ITIMER_PROF, _TEST_AT_LEAST + _TIMES_AS_LONG * before)
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        yield item, session.testsfailed == failed, _processor_time() - started


def _processor_time() -> float:
    """Return the seconds of this process and its children: other programs do not change them."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def in_child(work: Callable[[], bool], folder: Path, limit: float) -> int:
    """Do work in a child that has a folder for its files; return 0 when it says that all passed.

    A child that takes longer than ``limit`` seconds is killed, with all that it has started.
    """
    folder.mkdir(exist_ok=True)
    child = os.fork()
    if child == 0:
        _become(work, folder)
    deadline = time.monotonic() + limit
    pause = 0.005
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        if time.monotonic() > deadline:
            os.killpg(child, signal.SIGKILL)
            status = os.waitpid(child, 0)[1]
            break
        time.sleep(pause)
        pause = min(2 * pause, 0.1)
    shutil.rmtree(folder, ignore_errors=True)
    return status


def _become(work: Callable[[], bool], folder: Path) -> None:
    outcome = _FAILED
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
        os.environ["PYTEST_DEBUG_TEMPROOT"] = os.environ["TMPDIR"] = str(folder)
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        (folder / "cache").mkdir()
        outcome = _PASSED if work() else _FAILED
    finally:
        os._exit(outcome)


@contextmanager
def _changed(path: Path, mutant: Mutant) -> Iterator[None]:
    """Write the mutant's text; after the block, the file is as it was, its time too."""
    source, status = path.read_bytes(), path.stat()
    path.write_bytes(mutant.apply(source))
    try:
        yield
    finally:
        path.write_bytes(source)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _baseline(session: pytest.Session, root: Path, scratch: Path) -> Baseline:
    notes = scratch / "notes.json"
    data = scratch / "coverage"
    work = partial(_measure, session, root, data, notes)
    in_child(work, scratch / "baseline", limit=3600)
    found = json.loads(notes.read_text())
    seconds = {int(position): value for position, value in found["seconds"].items()}
    usable = set(seconds).difference(found["failed"])
    reaching: dict[tuple[str, int], list[int]] = defaultdict(list)
    for part in sorted(scratch.glob("coverage*")):
        lines = coverage.CoverageData(str(part))
        lines.read()
        for file in lines.measured_files():
            path = Path(file).relative_to(root).as_posix()
            for line, contexts in lines.contexts_by_lineno(file).items():
                known = set(reaching[path, line])
                known |= {int(context) for context in contexts if context}
                reaching[path, line] = sorted(known & usable)
    return Baseline(seconds, found["failed"], sorted(usable & set(found["starting"])), reaching)


def _measure(session: pytest.Session, root: Path, data: Path, notes: Path) -> bool:
    """Run all tests; write down what each takes and reaches, and which fail or start Python."""
    tracer = coverage.Coverage(
        data_file=str(data), data_suffix=True, config_file=False, include=[f"{root}/compactctl/*"]
    )
    starting: set[int] = set()
    current = 0
    leave, popen = os._exit, subprocess.Popen.__init__

    def save_and_leave(status: int) -> None:
        # A child of a test's is the program as well.
        tracer.stop()
        tracer.save()
        leave(status)

    def start(self: Any, arguments: Any, *rest: Any, **options: Any) -> None:
        starting.add(current)
        popen(self, arguments, *rest, **options)

    os._exit = save_and_leave  # type: ignore[assignment]
    subprocess.Popen.__init__ = start  # type: ignore[assignment,method-assign]
    seconds: dict[int, float] = {}
    failed = []
    tracer.start()
    runs = run(session, session.items)
    for position in range(len(session.items)):
        current = position
        tracer.switch_context(str(position))
        _, passed, seconds[position] = next(runs)
        if not passed:
            failed.append(position)
    tracer.stop()
    tracer.save()
    notes.write_text(
        json.dumps({"seconds": seconds, "failed": failed, "starting": sorted(starting)})
    )
    os._exit = leave
    return True


def _functions(root: Path) -> dict[tuple[str, int, str], list[FunctionType]]:
    """Return the functions of the package that exist by now, by where their code begins."""
    package = f"{root}/compactctl/"
    found = defaultdict(list)
    # The suite hides what was collected from the garbage collector, and so from get_objects().
    gc.unfreeze()
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename.startswith(package):
            found[_key(each.__code__)].append(each)
    if not found:
        raise SystemExit("no function of the package was found: no mutant could be tried")
    return found


def _key(code: CodeType) -> tuple[str, int, str]:
    return code.co_filename, code.co_firstlineno, code.co_qualname


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of functions at the top of a module and of its classes."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            # The body of a class is code that runs at import, with its methods inside.
            yield from _codes(each)
