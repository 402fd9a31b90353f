"""Measures what compactions keep of what sessions went on to need.

``python tests/benchmarks/quality.py FOLDER… --rows rows.jsonl`` cuts every session below the
folders in two, tries what stands in ``PLANS`` on the part before, lets a referee judge it as well,
and writes the tables into ``docs/quality.md``. A row per context is kept in ``rows.jsonl``; what
has one is not tried again, so that a run can be stopped and goes on. ``--again NAME`` tries one
policy anew, ``--print`` prints the tables and leaves the page alone.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.quality_page import FORMS, Row, is_own, is_tuned, page, project_of, tables
from benchmarks.referee import Referee
from compactctl.commands.lab.eval_session import (
    CONTROL_POLICIES,
    EVERYTHING,
    CutOptions,
    EvaluatedSession,
    Policy,
    policies_of,
)
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.errors import CompactctlError
from compactctl.lab.score import EvaluationCase
from compactctl.profiles.registry import DEFAULT_PROFILE

PAGE = Path(__file__).resolve().parents[2] / "docs" / "quality.md"
SHARES = (0.5, 0.3, 0.15, 0.1, 0.05)
_MAIN_SHARES = (0.5, 0.3, 0.1)
OTHER_PROFILES = (
    "staged", "neurolink", "codebuddy", "agent-code", "opencode", "copilot", "cline", "claude-api",
)  # fmt: skip
_SUFFIXES = (".json", ".jsonl")
# Files that clients keep beside a history.
_NO_HISTORY = frozenset({"ui_messages.json", "task_metadata.json"})


def _plans() -> Iterator[tuple[str, Sequence[float]]]:
    """Yield each policy with the shares at which it is tried."""
    for control in CONTROL_POLICIES:
        yield control.name, (1.0,) if control.name == EVERYTHING else SHARES
    yield from ((name, SHARES) for name in FORMS)
    yield DEFAULT_PROFILE, _MAIN_SHARES
    yield from ((name, (0.3,)) for name in OTHER_PROFILES)


PLANS = tuple((name, share) for name, shares in _plans() for share in shares)
POLICIES = {
    policy.name: policy
    for policy in (
        *CONTROL_POLICIES,
        *policies_of((DEFAULT_PROFILE, *OTHER_PROFILES), (), {}),
        *(
            Policy(
                name=name,
                recipe=Recipe(
                    plan=PlanOptions(stages=("distill",), settings={"distill": {"form": form}})
                ),
            )
            for name, form in FORMS.items()
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Work:
    """A session's file, its name below the folder, and what was tried of it before."""

    path: Path
    name: str
    known: frozenset[tuple[str, float]]


def main() -> None:
    """Try what was not tried yet, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--again", default="")
    parser.add_argument("--print", action="store_true", dest="is_printed")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    rows = [row for row in _read(given.rows) if _is_kept(row, given.again)]
    _write(given.rows, rows)
    work = list(_work(given.folders, rows))
    with given.rows.open("a") as out, ProcessPoolExecutor(given.jobs) as pool:
        for found in pool.map(_tried, work):
            rows += found
            out.writelines(f"{json.dumps(row.as_json())}\n" for row in found)
            out.flush()
    if given.is_printed:
        print(tables(rows))
    else:
        PAGE.write_text(page(PAGE.read_text(), rows))


def _is_kept(row: Row, again: str) -> bool:
    return row.policy != again and (row.policy, row.asked) in PLANS


def _read(path: Path) -> Iterator[Row]:
    for line in path.read_text().splitlines() if path.exists() else ():
        yield Row.from_json(json.loads(line))


def _write(path: Path, rows: Sequence[Row]) -> None:
    path.write_text("".join(f"{json.dumps(row.as_json())}\n" for row in rows))


def _work(folders: Sequence[Path], rows: Sequence[Row]) -> Iterator[Work]:
    """Yield what is left to do, the sessions that count first."""
    for path, name in sorted(_files(folders), key=lambda file: (is_tuned(file[0].stem), file[1])):
        known = frozenset((row.policy, row.asked) for row in rows if row.session == name)
        if not known.issuperset(PLANS):
            yield Work(path, name, known)


def _files(folders: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    for folder in folders:
        for path in folder.rglob("*"):
            if path.suffix in _SUFFIXES and path.name not in _NO_HISTORY and is_own(path.stem):
                yield path, str(path.relative_to(folder))


def _tried(work: Work) -> list[Row]:
    """Try everything on a session's largest stretch; nothing where it cannot be cut."""
    try:
        session = EvaluatedSession(str(work.path), CutOptions())
    except CompactctlError:
        return []
    case = max(session.cases, key=lambda each: each.cut.tokens, default=None)
    if case is None:
        return []
    print(work.name, case.cut.tokens, flush=True)
    bench = _Bench(work, session, case)
    return [bench.row(*plan) for plan in PLANS if plan not in work.known]


class _Bench:
    """One case with both judges."""

    def __init__(self, work: Work, session: EvaluatedSession, case: EvaluationCase) -> None:
        self._work, self._session, self._case = work, session, case
        self._referee = Referee(case.cut.prefix, case.cut.future)

    def row(self, name: str, share: float) -> Row:
        """Let a policy keep a share, and let it be judged."""
        trial, context = self._session.try_policy(self._case, POLICIES[name], share)
        return Row(
            session=self._work.name,
            project=project_of(self._work.path.stem, self._session.project),
            policy=name,
            asked=share,
            trial=trial,
            referee=self._referee.judged(context),
        )


if __name__ == "__main__":
    main()
