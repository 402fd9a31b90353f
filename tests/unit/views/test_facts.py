"""What several screens say: the measurement, the window, doubts, and what was written."""

from collections.abc import Iterable

import pytest
from unit.views.measurements import BUDGET, CLAUDE, measured

from compactctl.commands.client_sessions.write import Written
from compactctl.history.usage.count_check import CountCheck
from compactctl.records import replace
from compactctl.tokens.fit import Limits, limits_of
from compactctl.views.facts import (
    base_text,
    clock_text,
    counter_text,
    health_facts,
    model_text,
    resume_lines,
    status_text,
    tokens_text,
    undo_line,
    utc_text,
    warning_lines,
    window_facts,
    written_lines,
)
from compactctl.views.terminal.screen import Fact


def rows(facts: Iterable[Fact]) -> list[tuple[str, str]]:
    return [(fact.label, " ".join(fact.text.split())) for fact in facts]


@pytest.mark.parametrize(
    ("model", "counter", "shown"),
    [
        ("gpt-4.1", "o200k_base", "o200k_base (exact)"),
        ("gpt-4.1", "chars/4", "chars/4 (estimate)"),
        (
            "gpt-4.1",
            "cl100k_base",
            "cl100k_base (exact for this vocabulary, which is not known to be the model's)",
        ),
        (
            "claude-opus-4-6",
            "o200k_base",
            "o200k_base (exact for this vocabulary, which is not known to be the model's)",
        ),
    ],
)
def test_a_count_is_exact_only_by_the_models_own_vocabulary(
    model: str, counter: str, shown: str
) -> None:
    assert counter_text(measured(model, counter)) == shown


@pytest.mark.parametrize(
    ("model", "shown"),
    [
        ("gpt-4.1", "model gpt-4.1"),
        ("", "no model is recorded; name it with --model"),
        ("mystery", "model mystery is not listed; set --counter and --window"),
    ],
)
def test_a_model_is_named_with_what_to_do_if_it_is_not_listed(model: str, shown: str) -> None:
    assert model_text(measured(model)) == shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "          0 tokens"), (1, "          1 token"), (2, "          2 tokens")],
)
def test_tokens_are_aligned(count: int, shown: str) -> None:
    assert tokens_text(count) == shown


def test_a_window_is_shown_with_what_is_reserved_in_it() -> None:
    plain = limits_of(BUDGET, None)
    assert rows(window_facts(measured(limits=plain))) == [
        ("window", "200,000 tokens (as named)"),
        ("output reserve", "64,000 tokens"),
        ("available input", "136,000 tokens"),
    ]
    careful = limits_of(replace(BUDGET, usable=BUDGET.usable / 2), None)
    assert rows(window_facts(measured(limits=careful)))[2:] == [
        ("safety margin", "68,000 tokens"),
        ("available input", "68,000 tokens"),
    ]


@pytest.mark.parametrize(
    ("limits", "shown"),
    [
        (limits_of(BUDGET, CLAUDE), "where Claude Code compacts"),
        (limits_of(BUDGET, CLAUDE, "window"), "the window"),
        (limits_of(BUDGET, CLAUDE, "available"), "the available input"),
        (limits_of(BUDGET, None), "the available input"),
    ],
)
def test_the_limit_that_levels_refer_to_has_a_name(limits: Limits, shown: str) -> None:
    assert base_text(limits) == shown


@pytest.mark.parametrize(
    ("seconds", "text", "clock"),
    [
        (None, None, ""),
        (0, "1970-01-01T00:00:00+00:00", "1970-01-01 00:00:00"),
        (1_700_000_000.9, "2023-11-14T22:13:20+00:00", "2023-11-14 22:13:20"),
        (1e20, None, ""),
    ],
)
def test_a_time_is_shown_in_utc(seconds: float | None, text: str | None, clock: str) -> None:
    assert utc_text(seconds) == text
    assert clock_text(text) == clock


@pytest.mark.parametrize(
    ("check", "shown", "style"),
    [
        (None, [], []),
        (
            CountCheck(ratio=1.0, steps=1, checked=0, missing=0, tolerance=0.1),
            ["reported/counted = 1.00 over 1 step, as expected"],
            [""],
        ),
        (
            CountCheck(ratio=1.5, steps=1_200, checked=0, missing=0, tolerance=0.1),
            [
                (
                    "reported/counted = 1.50 over 1,200 steps: "
                    "the counter is not the model's, or content is missing"
                )
            ],
            ["yellow"],
        ),
    ],
)
def test_counts_are_checked_by_what_was_reported(
    check: CountCheck | None, shown: list[str], style: list[str]
) -> None:
    facts = list(health_facts(check))
    assert [" ".join(fact.text.split()) for fact in facts] == shown
    assert [fact.style for fact in facts] == style


@pytest.mark.parametrize(
    ("written", "size", "shown"),
    [
        (Written(output="a.jsonl"), (None, 0), ["wrote     a.jsonl"]),
        (Written(output="a.jsonl"), (2_500, 0), ["wrote     a.jsonl (2.5 kB)"]),
        (
            Written(output="a.jsonl", appended_lines=1),
            (None, 0),
            ["appended  1 line to a.jsonl; existing bytes unchanged"],
        ),
        (
            Written(output="a.jsonl", appended_lines=2),
            (2_500, 2_000),
            ["appended  2 lines (500 B) to a.jsonl; existing bytes unchanged"],
        ),
        (
            Written(output="a", forked_from="s1", forked_to="s2", carried_lines=1_024),
            (None, 0),
            [
                "wrote     a",
                "session   s1 (not changed)",
                "new       s2",
                "carried   1,024 lines appended meanwhile",
            ],
        ),
    ],
)
def test_what_was_written_is_told_with_its_size(
    written: Written, size: tuple[int | None, int], shown: list[str]
) -> None:
    assert list(written_lines(written, *size)) == shown


def test_how_to_undo_it_and_how_to_resume_is_told() -> None:
    written = Written(output="a", undo_name="my run.jsonl")
    assert undo_line(written) == "undo      compactctl rewind 'my run.jsonl'"
    assert undo_line(replace(written, undo_option="--while-open")).endswith(" --while-open")
    assert list(resume_lines(None)) == []
    assert list(resume_lines("claude --resume 1")) == ["continue  claude --resume 1"]


def test_short_words() -> None:
    assert list(warning_lines(["a\nb", "c"])) == ["warning: a\\nb", "warning: c"]
    assert [status_text("skipped"), status_text("failed")] == ["not a transcript", "failed"]
