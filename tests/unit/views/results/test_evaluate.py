"""What compactions kept of what sessions needed: tables, a curve of letters, and a drawing."""

from typing import Any

import pytest
from unit.views.results.screens import shown, words

from compactctl.commands.lab.eval_figures import EvalFigures, Mean
from compactctl.commands.lab.eval_session import Policy, Trial
from compactctl.commands.lab.evaluate import (
    EvaluateOptions,
    EvaluateResult,
    EvaluationFailure,
    Noise,
    SessionOutcome,
)
from compactctl.lab.score import MEASURES
from compactctl.lab.tally import Tally
from compactctl.records import replace
from compactctl.views.results.evaluate import (
    CAVEAT,
    asked_shares,
    curves,
    drawing,
    evaluate_document,
    evaluate_messages,
    evaluate_terminal,
    recalls,
)


def mean(value: float, low: float = 0.0, high: float = 1.0, sessions: int = 2) -> Mean:
    return Mean(value, low, high, sessions)


def row(policy: str, asked: float, kept: float, recall: float, **changes: Any) -> EvalFigures:
    base = EvalFigures(
        policy=policy,
        asked=asked,
        cuts=3,
        kept=mean(kept),
        measures={"recall": mean(recall, recall - 0.1, recall + 0.1)},
        beyond=None,
        pair_errors=0,
        over=0,
        verdict="fits",
        milliseconds=1.0,
    )
    return replace(base, **changes)


def trial(session: str, asked: float, hits: int) -> Trial:
    return Trial(
        session=session, project="", cut=0.5, requests=9, policy="mine", asked=asked, prefix=100,
        tokens=20, tallies={"recall": Tally(hits, 4)},
    )  # fmt: skip


LEGEND = (
    "Recall and support: names the agent used again. The rest: what it wrote again, word for word."
)
SESSION = SessionOutcome(path="a.jsonl", project="p", cuts=1_200, skipped=0)
RESULT = EvaluateResult(
    options=EvaluateOptions(paths=("in",)),
    policies=(Policy(name="mine"),),
    counters=("chars/4",),
    sessions=(SESSION,),
    failures=(),
    trials=(trial("a.jsonl", 0.5, 3), trial("a.jsonl", 0.25, 2), trial("b.jsonl", 0.5, 4)),
    figures=(
        row("mine", 0.5, 0.5, 0.8),
        row("mine", 0.25, 0.25, 0.4),
        row("random", 0.5, 0.5, 0.2),
        row("everything", 1.0, 1.0, 1.0),
    ),
    noise=None,
)


def lines(**changes: Any) -> list[str]:
    return words(evaluate_terminal(replace(RESULT, **changes)))


def test_figures_are_a_table_without_empty_columns() -> None:
    found = lines()
    assert found[:20] == [
        "mine keeps 40.0% of the names used again, in 25% of the tokens",
        CAVEAT,
        "measured 1,200 cuts in 1 of 1 session",
        "counted with chars/4",
        "noise unknown; needs sessions of two projects",
        "",
        LEGEND,
        "Policy Asked Kept Recall 95% interval",
        "─",
        "mine 50% 50.0 80.0 70.0-90.0",
        "mine 25% 25.0 40.0 30.0-50.0",
        "random 50% 50.0 20.0 10.0-30.0",
        "everything 100% 100.0 100.0 90.0-110.0",
        "",
        "What the agent should still know.",
        "Policy Asked",
        "─",
        "mine 50%",
        "mine 25%",
        "random 50%",
    ]
    assert found[-1] == "recall by A mine, B random"


def test_the_answer_names_what_recalls_most_with_the_fewest_tokens() -> None:
    figures = (row("mine", 0.5, 0.5, 0.9), row("mine", 0.1, 0.1, 0.4), row("random", 0.1, 0.1, 0.5))
    assert lines(figures=figures)[0] == (
        "random keeps 50.0% of the names used again, in 10% of the tokens"
    )
    assert lines(figures=())[0] == "nothing was measured"


def test_a_control_is_not_named_if_a_policy_recalls_as_much() -> None:
    figures = (row("random", 0.1, 0.1, 0.5), row("mine", 0.1, 0.1, 0.5))
    assert lines(figures=figures)[0].startswith("mine keeps 50.0%")


def test_of_policies_that_recall_as_much_the_one_with_fewer_tokens_is_named() -> None:
    figures = (row("larger", 0.5, 0.5, 0.9), row("smaller", 0.5, 0.2, 0.9))
    policies = (Policy(name="larger"), Policy(name="smaller"))
    for order in (figures, figures[::-1]):
        assert lines(policies=policies, figures=order)[0].startswith("smaller keeps 90.0%")


@pytest.mark.parametrize(
    ("changes", "answer"),
    [
        (
            {"over": 3, "verdict": "over target"},
            "no policy keeps to 10% of the tokens: mine is over target and keeps 99.0%",
        ),
        (
            {"over": 1, "verdict": "over target"},
            (
                "no policy keeps to 10% of the tokens: mine is over target in 1 of 3 cuts and "
                "keeps 99.0%"
            ),
        ),
        ({"verdict": "unchanged"}, "no policy compacted anything at 10% of the tokens"),
    ],
)
def test_a_policy_that_kept_too_much_or_all_does_not_win(
    changes: dict[str, Any], answer: str
) -> None:
    mine, random = row("mine", 0.1, 0.99, 1.0, **changes), row("random", 0.1, 0.1, 0.5)
    assert lines(figures=(random, mine))[0] == answer
    other = row("other", 0.1, 0.1, 0.4)
    both = (Policy(name="mine"), Policy(name="other"))
    assert lines(policies=both, figures=(mine, other))[0].startswith("other keeps 40.0%")


def test_columns_are_there_for_what_was_measured() -> None:
    measures = {
        "recall": mean(0.5, 0.4, 0.6, 1),
        "words": mean(0.75),
        "edits": mean(0),
        "rules": mean(0.25),
        "answers": mean(1),
    }
    figures = (row("mine", 0.5, 0.5, 0, measures=measures, beyond=0.5, pair_errors=1_200, over=2),)
    screen = lines(figures=figures)
    assert screen[0] == (
        "no policy keeps to 50% of the tokens: mine is over target in 2 of 3 cuts and keeps 50.0%"
    )
    assert lines(figures=(replace(figures[0], over=0),))[0] == (
        "mine keeps 50.0% of the names and 75.0% of the words used again, in 50% of the tokens"
    )
    assert screen[7:15] == [
        "Policy Asked Kept Recall Words Edits",
        "─",
        "mine 50% 50.0 50.0 75.0 0.0",
        "",
        "What the agent should still know.",
        "Policy Asked Rules Answers Beyond chance Parted Over",
        "─",
        "mine 50% 25.0 100.0 50.0 1,200 2",
    ]


def test_both_tables_fit_a_hundred_columns() -> None:
    named = {name: mean(1.0) for name in MEASURES}
    figures = (row("default", 0.5, 0.5, 0, measures=named, beyond=1.0, over=2),)
    screen = "\n".join(shown(evaluate_terminal(replace(RESULT, figures=figures))))
    assert max(map(len, screen.split("\n"))) <= 100


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"skipped": 1}, "skipped 1 cut: too little is named again afterwards"),
        (
            {"cuts": 0},
            "no figures a cut needs 8,000 tokens before it and 8 requests after it",
        ),
    ],
)
def test_what_was_not_measured_is_told(changes: dict[str, Any], said: str) -> None:
    found = lines(sessions=(replace(SESSION, **changes),), figures=(), counters=())
    assert found[2] == (
        "measured 1,200 cuts in 1 of 1 session"
        if "skipped" in changes
        else "measured 0 cuts in 0 of 1 session"
    )
    assert found[3:] == [said, "noise unknown; needs sessions of two projects"]


def test_noise_is_told_with_its_pairs() -> None:
    noise = Noise(share=0.125, kinds={}, pairs=1)
    assert lines(noise=noise)[4] == (
        "noise 12.5% of the names used again would also be in other projects (1 pair)"
    )


def test_a_curve_of_letters_has_each_point_in_its_place() -> None:
    text = "\n".join(shown(evaluate_terminal(RESULT)))
    drawn = text.split("\n")[22:35]
    assert drawn == [
        "  100% ┤",
        "   90% ┤",
        "   80% ┤" + " " * 30 + "A",
        "   70% ┤",
        "   60% ┤",
        "   50% ┤",
        "   40% ┤" + " " * 15 + "A",
        "   30% ┤",
        "   20% ┤" + " " * 30 + "B",
        "   10% ┤",
        "    0% ┤",
        "       └" + "─" * 31,
        "        0%" + "tokens kept".center(23) + "50%",
    ]


def test_policies_come_before_controls_from_the_fewest_tokens_to_the_most() -> None:
    mine, control = curves(RESULT)
    assert (mine.name, mine.is_control, control.name, control.is_control) == (
        "mine", False, "random", True,
    )  # fmt: skip
    assert [point.kept.value for point in mine.points] == [0.25, 0.5]


def test_sessions_are_a_table_where_there_are_several() -> None:
    several = (SESSION, replace(SESSION, path="b.jsonl", cuts=1))
    assert lines(sessions=several)[-4:] == [
        "Session Cuts Recall at 50% Recall at 25%",
        "─",
        "a.jsonl 1,200 75.0 50.0",
        "b.jsonl 1 100.0",
    ]
    assert asked_shares(RESULT) == [0.5, 0.25]
    assert recalls(RESULT, "b.jsonl") == ["100.0", ""]
    unnamed = replace(RESULT, policies=())
    assert asked_shares(unnamed) == []


def test_a_drawing_has_lines_marks_and_a_legend() -> None:
    svg = drawing(RESULT).split("\n")
    mine, control = (line for line in svg if "<polyline" in line)
    assert mine == (
        '<polyline points="295.0,238.0 530.0,106.0" fill="none" stroke="#0072b2" stroke-width="2"/>'
    )
    assert control == (
        '<polyline class="control" points="530.0,304.0" fill="none" '
        'stroke="#d55e00" stroke-width="2"/>'
    )
    assert '<path d="M530.0 139.0V73.0" stroke="#0072b2"/>' in svg
    assert '<circle cx="530.0" cy="106.0" r="3" fill="#0072b2"/>' in svg
    assert '<path d="M550 40h20" stroke="#0072b2" stroke-width="2"/>' in svg
    assert '<text x="576" y="62">random</text>' in svg
    assert '<path class="grid" d="M60.0 304.0H530.0"/>' in svg
    assert '<text x="52" y="308.0" text-anchor="end">20%</text>' in svg
    assert '<text x="154.0" y="388" text-anchor="middle">10%</text>' in svg
    assert '<path class="axis" d="M60.0 40V370H530.0"/>' in svg


def test_files_gates_and_failures_are_told() -> None:
    failure = EvaluationFailure(path="x", reason="x: is\nbroken", exit_code=65)
    result = replace(
        RESULT, failures=(failure,), warnings=("odd",), written=("t.parquet",), findings=("low",)
    )
    assert list(evaluate_messages(result)) == [
        "not evaluated: x: is\\nbroken", "warning: odd", "wrote t.parquet", "gate: low",
    ]  # fmt: skip
    assert (result.exit_code, replace(result, failures=()).exit_code, RESULT.exit_code) == (
        65,
        1,
        0,
    )


def test_a_document_has_figures_by_session() -> None:
    document = evaluate_document(RESULT)
    assert document["policies"] == ["mine"]
    assert len(document["figures"]) == 4
    assert document["figures"][0]["beyondChance"] is None
    [session] = document["sessions"]
    assert [each["asked"] for each in session["figures"]] == [0.5, 0.25]
    assert document["trials"][0]["laterRequests"] == 9
    assert "project" not in document["trials"][0]
