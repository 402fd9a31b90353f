"""Evaluations of an agent's loop, which reads seven files in turn, over and over."""

import re
from pathlib import Path
from typing import Any

import pytest
from file_commands import compact_file
from library.loops import loop
from unit.commands.conversations import FAST, jsonl

from compactctl.commands.lab.eval_figures import Baseline, EvalFigures, parse_gate
from compactctl.commands.lab.eval_session import CutOptions, Policy, policies_of
from compactctl.commands.lab.evaluate import EvaluateOptions, EvaluateResult, evaluate
from compactctl.commands.planning.plan import PlanOptions
from compactctl.commands.planning.plan_file import plan_text
from compactctl.commands.progress import FilesDone
from compactctl.errors import ChangedError, NoInputError, NotUnderstoodError, UsageError
from compactctl.lab.controls import CONTROLS

ROUNDS = 120
CUTS = CutOptions(measure=FAST, at=(0.5, 0.7))


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a loop whose system prompt and first prompt come before its calls."""
    path = tmp_path_factory.mktemp("loop") / "loop.jsonl"
    path.write_bytes(jsonl(loop(ROUNDS)))
    return path


@pytest.fixture(scope="module")
def evaluated(session: Path) -> EvaluateResult:
    """Return what distill and the controls keep at two cuts."""
    return evaluation(session, keep=(0.3, 0.1))


def evaluation(*paths: Path, **options: Any) -> EvaluateResult:
    asked: dict[str, Any] = {"stages": (("distill",),), "keep": (0.3,), "session": CUTS} | options
    return evaluate(EvaluateOptions(paths=tuple(map(str, paths)), **asked))


def planned(folder: Path, data: bytes) -> str:
    """Write the plan of a transcript with this data, and return its path."""
    then = folder / "then.jsonl"
    then.write_bytes(data)
    result = compact_file(
        then, measure=FAST, plan=PlanOptions(keep=0.3), dry_run=True, plan_out="plan.json"
    )
    assert result.requested.plan_file is not None
    plan = folder / "plan.json"
    plan.write_text(plan_text(result.requested.plan_file), encoding="utf-8")
    return str(plan)


def figure(result: EvaluateResult, policy: str, asked: float) -> EvalFigures:
    [row] = [row for row in result.figures if (row.policy, row.asked) == (policy, asked)]
    return row


def test_each_policy_is_tried_at_each_cut_and_share(evaluated: EvaluateResult) -> None:
    names = [name for name in CONTROLS if name != "none"]
    assert [(row.policy, row.asked, row.cuts) for row in evaluated.figures] == [
        ("none", 1.0, 2),
        *((name, share, 2) for name in (*names, "distill") for share in (0.3, 0.1)),
    ]
    assert evaluated.counters == ("chars/4",)
    assert (evaluated.failures, evaluated.noise, evaluated.exit_code) == ((), None, 0)
    [outcome] = evaluated.sessions
    assert (outcome.project, outcome.cuts, outcome.skipped) == ("", 2, 0)
    assert evaluated.of_session(outcome.path) == evaluated.figures
    assert evaluated.of_session("another") == ()


def test_a_cut_is_made_after_a_share_of_the_requests(evaluated: EvaluateResult) -> None:
    cuts = {(trial.cut, trial.requests) for trial in evaluated.trials}
    assert {(round(cut, 1), requests) for cut, requests in cuts} == {
        (share, round((1 - share) * ROUNDS)) for share in CUTS.at
    }


def test_of_what_is_not_compacted_all_is_kept(evaluated: EvaluateResult) -> None:
    whole = figure(evaluated, "none", 1.0)
    assert (whole.kept.value, whole.kept.sessions) == (1.0, 1)
    assert {mean.value for mean in whole.measures.values()} == {1.0}
    assert (whole.pair_errors, whole.over) == (0, 0)


def test_the_system_prompt_is_not_counted(evaluated: EvaluateResult) -> None:
    for trial in evaluated.trials:
        if trial.policy == "none":
            assert trial.tokens == trial.prefix
        elif trial.policy != "mask":
            assert 0 < trial.tokens <= trial.asked * trial.prefix


def test_only_what_has_no_room_for_the_calls_is_larger_than_asked(
    evaluated: EvaluateResult,
) -> None:
    over = [(row.policy, row.asked) for row in evaluated.figures if row.over]
    assert over == [("mask", 0.1)]
    assert figure(evaluated, "mask", 0.1).over == 2


def test_policies_are_compared_with_random_lines_and_controls_are_not(
    evaluated: EvaluateResult,
) -> None:
    for trial in evaluated.trials:
        assert (trial.chance is None) == (trial.policy != "distill")
    assert figure(evaluated, "distill", 0.1).beyond == 1.0
    assert figure(evaluated, "random", 0.1).beyond is None


def test_a_control_of_the_newest_messages_forgets_the_rule_at_the_start(
    evaluated: EvaluateResult,
) -> None:
    assert figure(evaluated, "newest", 0.1).measures["rules"].value == 0.0
    assert figure(evaluated, "distill", 0.1).measures["rules"].value == 1.0


def test_cuts_may_be_some_tokens_apart(session: Path) -> None:
    result = evaluation(session, session=CutOptions(measure=FAST, every=4_000))
    [outcome] = result.sessions
    sizes = sorted({trial.prefix for trial in result.trials})
    assert outcome.cuts == len(sizes) == 2
    # The system prompt and a last round, which may not be parted, come on top.
    assert all(0 <= size - 4_000 * n < 300 for n, size in enumerate(sizes, 2))


def test_a_cut_does_not_count_where_little_is_needed_again(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_bytes(re.sub(rb"part_\d", b"part_0", jsonl(loop(ROUNDS))))
    result = evaluation(path)
    [outcome] = result.sessions
    assert (outcome.cuts, outcome.skipped) == (0, 2)
    assert (result.trials, result.figures, result.counters) == ((), (), ("chars/4",))


def test_a_file_that_fails_stops_no_other(session: Path, tmp_path: Path) -> None:
    bad = tmp_path / "notes.jsonl"
    bad.write_bytes(b"no json\n")
    result = evaluation(bad, session)
    [failure] = result.failures
    assert (failure.path, failure.exit_code) == (str(bad), NotUnderstoodError.exit_code)
    assert result.exit_code == failure.exit_code
    assert [outcome.path for outcome in result.sessions] == [str(session)]


def test_without_any_file_there_is_no_result(tmp_path: Path) -> None:
    with pytest.raises(NoInputError):
        evaluation(tmp_path)


def test_progress_is_told_of_each_file(session: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.jsonl"
    short.write_bytes(jsonl(loop(2)))
    told: list[FilesDone] = []
    evaluate(EvaluateOptions(paths=(str(short), str(session)), session=CUTS), told.append)
    sizes = [path.stat().st_size for path in (short, session)]
    assert [(each.path, each.files, each.n_bytes) for each in told] == [
        (str(short), 1, sizes[0]),
        (str(session), 2, sum(sizes)),
    ]
    assert {(each.of_files, each.of_bytes) for each in told} == {(2, sum(sizes))}


@pytest.mark.parametrize(
    ("gate", "code"),
    # Of the newest messages a tenth keeps no rule: controls need not pass.
    [("rules>=1@0.3", 0), ("kept<=0.1@0.3", 1), ("recall>=0.5@0.4", 1)],
)
def test_gates_are_for_policies(session: Path, gate: str, code: int) -> None:
    result = evaluation(session, gates=(parse_gate(gate),))
    assert (len(result.findings), result.exit_code) == (code, code)


def test_controls_of_a_baseline_are_not_compared(session: Path) -> None:
    means = {("newest", 0.3, "rules"): 1.0, ("distill", 0.3, "rules"): 1.0}
    assert evaluation(session, baseline=Baseline("old.json", means)).findings == ()
    means = {("distill", 0.3, "gone"): 1.0, **means}
    assert evaluation(session, baseline=Baseline("old.json", means)).exit_code == 1


def test_policies_are_profiles_and_lists_of_stages() -> None:
    assert [policy.name for policy in policies_of((), (), {})] == ["default"]
    names = [policy.name for policy in policies_of(("copilot",), (("dedup", "drop"),), {})]
    assert names == ["copilot", "dedup,drop"]
    with pytest.raises(UsageError, match="named twice"):
        policies_of(("copilot", "copilot"), (), {})
    with pytest.raises(UsageError, match="the name of a control"):
        policies_of((), (("random",),), {})


def test_a_policy_knows_whether_it_is_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('base = "default"\n')
    [builtin, file, stages] = policies_of(("copilot", str(path)), (("dedup",),), {})
    assert [policy.is_in_file for policy in (builtin, file, stages)] == [False, True, False]
    assert [policy.is_control for policy in (builtin, Policy(name="random"))] == [False, True]


def test_a_plan_is_compared_where_its_session_ended_then(session: Path, tmp_path: Path) -> None:
    rounds = 90
    plan = planned(tmp_path, jsonl(loop(rounds)))
    result = evaluation(session, stages=(), planned=plan, session=CutOptions(measure=FAST))
    assert {trial.requests for trial in result.trials} == {ROUNDS - rounds}
    [decided] = [row for row in result.figures if row.policy == "plan"]
    # The share is the plan's, not the one that was asked for.
    assert {row.asked for row in result.figures} == {1.0, decided.asked}
    assert decided.asked - 0.001 <= decided.kept.value <= decided.asked
    assert 0.2 < decided.asked < 0.4
    assert decided.over == 0


@pytest.mark.parametrize(
    ("data", "error"),
    [(jsonl(loop(ROUNDS)), UsageError), (jsonl(loop(90)[1:]), ChangedError)],
    ids=["not grown", "another beginning"],
)
def test_a_plan_is_for_the_beginning_of_a_session(
    data: bytes, error: type[UsageError | ChangedError], session: Path, tmp_path: Path
) -> None:
    plan = planned(tmp_path, data)
    result = evaluation(session, stages=(), planned=plan, session=CutOptions(measure=FAST))
    assert result.exit_code == error.exit_code
    assert result.trials == ()
