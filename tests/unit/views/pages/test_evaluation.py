"""An evaluation as a page: its facts, its table, and what a redacted one leaves out."""

import re
from html import unescape
from typing import Any

import pytest

from compactctl.commands.lab.eval_figures import EvalFigures, Mean
from compactctl.commands.lab.eval_session import Policy
from compactctl.commands.lab.evaluate import (
    EvaluateOptions,
    EvaluateResult,
    EvaluationFailure,
    Noise,
    SessionOutcome,
)
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.page_choice import PageChoice
from compactctl.commands.planning.plan import Recipe
from compactctl.profiles.registry import builtin_profile
from compactctl.records import replace
from compactctl.views.pages.evaluation import evaluate_page


def figures(asked: float, recall: float, sessions: int, **more: Any) -> EvalFigures:
    base = EvalFigures(
        policy="mine",
        asked=asked,
        cuts=1,
        kept=Mean(asked, asked, asked, sessions),
        measures={"recall": Mean(recall, recall - 0.25, recall + 0.25, sessions)},
        beyond=None,
        pair_errors=0,
        over=0,
        verdict="fits",
        milliseconds=1,
    )
    return replace(base, **more)


RESULT = EvaluateResult(
    options=EvaluateOptions(paths=("in",)),
    policies=(Policy(name="mine"),),
    counters=("chars/4",),
    sessions=(
        SessionOutcome(path="a.jsonl", project="shop", cuts=1_200, skipped=1),
        SessionOutcome(path="b.jsonl", project="shop", cuts=0, skipped=0),
    ),
    failures=(EvaluationFailure(path="x", reason="x.jsonl: is broken", exit_code=65),),
    trials=(),
    figures=(figures(0.5, 0.5, 2, beyond=0.25), figures(0.25, 0.375, 1)),
    noise=Noise(share=0.125, kinds={}, pairs=2),
    findings=("recall is low",),
)


def text_of(result: EvaluateResult, *, redact: bool = False) -> str:
    """Return the text of a page, one space between its words."""
    page = evaluate_page(result, PageChoice(path="p.html", redact=redact))
    body = re.sub(r"(?s)<(style|script).*?</\1>", " ", page)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


@pytest.mark.parametrize(
    ("shown", "redacted"),
    [
        ("mine keeps 37.5% of the names used again, in 25% of the tokens", True),
        ("1,200 cuts in 1 of 2 sessions", True),
        ("1 cut skipped: too few names recur after them", True),
        ("counted with chars/4", True),
        ("noise 12.5%", True),
        ("50.0 (25.0 to 75.0)", True),
        ("37.5", True),
        ("Beyond chance", True),
        ("not evaluated: x.jsonl: is broken", False),
        ("recall is low", False),
        ("a.jsonl", False),
        ("shop", False),
    ],
)
def test_a_page_has_figures_and_unless_it_is_redacted_names(shown: str, *, redacted: bool) -> None:
    assert shown in text_of(RESULT)
    assert (shown in text_of(RESULT, redact=True)) is redacted


def test_what_was_used_again_is_apart_from_what_should_be_known() -> None:
    mean = Mean(0.5, 0.5, 0.5, 1)
    measures = {"recall": mean, "edits": mean, "rules": mean}
    text = text_of(replace(RESULT, figures=(figures(0.5, 0.5, 1, measures=measures, beyond=0.25),)))
    assert (
        "Policy Asked Kept Over Recall Edits Beyond chance mine 50% 50.0 0 50.0 50.0 25.0" in text
    )
    assert "Policy Asked Kept Over Rules mine 50% 50.0 0 50.0" in text


def test_contexts_over_their_target_are_counted_and_points_are_labeled() -> None:
    text = text_of(replace(RESULT, figures=(figures(0.5, 0.5, 1, over=1_200),)))
    assert "Policy Asked Kept Over Recall mine 50% 50.0 1,200 50.0" in text
    assert "mine: 50.0% recall at 50.0% kept A 50%" in text
    assert "A mine" in text


def test_what_was_not_measured_is_not_told() -> None:
    bare = replace(RESULT, noise=None, counters=(), sessions=RESULT.sessions[1:])
    text = text_of(bare)
    assert "0 cuts in 0 of 1 session" in text
    for absent in ("noise ", "counted with", "left out: too little"):
        assert absent not in text


def test_an_interval_takes_several_sessions() -> None:
    single = replace(RESULT, figures=RESULT.figures[1:])
    assert "(12.5 to 62.5)" not in text_of(single)


def test_a_profile_in_a_file_has_a_number_where_names_are_left_out() -> None:
    recipe = Recipe(measure=MeasureOptions(profile=builtin_profile("default")))
    policies = tuple(Policy(name=name, recipe=recipe) for name in ("team/our.toml", "default"))
    shown = tuple(replace(RESULT.figures[0], policy=policy.name) for policy in policies)
    result = replace(RESULT, policies=policies, figures=shown)
    assert "team/our.toml" in text_of(result)
    redacted = text_of(result, redact=True)
    assert "our.toml" not in redacted
    assert "profile 1" in redacted
    assert "profile 2" not in redacted
