"""What several screens say: the measurement, the window, doubts, and what was written."""

from collections.abc import Iterable
from dataclasses import replace

import pytest
from unit.views.measurements import BUDGET, CLAUDE, measured

from compactctl.commands.client_sessions.write import Written
from compactctl.commands.measuring.context_size import ContextSize
from compactctl.history.usage.count_check import CountCheck
from compactctl.tokens.client_overhead import OVERHEAD
from compactctl.tokens.fit import Limits, limits_of
from compactctl.views.facts import (
    base_text,
    clock_text,
    counter_text,
    doubt_facts,
    fit_facts,
    health_facts,
    model_text,
    request_text,
    resume_lines,
    session_lines,
    status_text,
    tokens_text,
    undo_text,
    unread_facts,
    utc_text,
    warning_lines,
    window_facts,
    written_text,
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
    ("tokens", "shown"),
    [
        (
            100_000,
            [
                ("window", "200,000: 50.0% used, 100,000 left"),
                ("", "as named"),
                ("Claude Code", "167,000: compacts by itself in 67,000"),
                ("for the answer", "64,000 left"),
            ],
        ),
        (
            200_000,
            [
                ("window", "200,000: 100.0% used, 0 left"),
                ("", "as named"),
                ("Claude Code", "167,000: compacts by itself now"),
                ("for the answer", "0 left"),
            ],
        ),
        (
            200_001,
            [
                ("window", "200,000: 100.0% used, 1 too many"),
                ("", "as named"),
                ("Claude Code", "167,000: compacts by itself now"),
                ("for the answer", "0 left"),
            ],
        ),
    ],
)
def test_a_request_is_held_against_the_window_and_its_clients_limit(
    tokens: int, shown: list[tuple[str, str]]
) -> None:
    assert rows(fit_facts(measured(), tokens)) == shown


def test_without_a_client_it_is_held_against_the_available_input() -> None:
    found = measured(limits=limits_of(BUDGET, None))
    assert rows(fit_facts(found, 34_000)) == [
        ("window", "200,000: 17.0% used, 166,000 left"),
        ("", "as named"),
        ("output reserve", "64,000 tokens"),
        ("available input", "136,000: 25.0% used, 102,000 left"),
    ]
    nothing = limits_of(replace(BUDGET, output_reserve=200_000), None)
    assert rows(fit_facts(measured(limits=nothing), 5))[-1] == (
        "available input",
        "0: 100.0% used, 5 too many",
    )


@pytest.mark.parametrize(
    ("tokens", "where"), [(200_000, "64,000 beside the window"), (200_001, "0 left")]
)
def test_a_window_for_input_alone_leaves_the_answer_its_own_room(tokens: int, where: str) -> None:
    limits = limits_of(replace(BUDGET, is_input_only=True), CLAUDE)
    assert rows(fit_facts(measured(limits=limits), tokens))[-1] == ("for the answer", where)


def test_where_the_longest_answer_is_not_known_none_is_promised_beside_an_input_window() -> None:
    budget = replace(BUDGET, max_output=None, is_input_only=True)
    labels = [label for label, _ in rows(fit_facts(measured(limits=limits_of(budget, CLAUDE)), 1))]
    assert labels == ["window", "", "Claude Code"]


@pytest.mark.parametrize(
    ("assumed", "said"),
    [
        (100_000, "it does not know the model, and takes its window to be 100,000"),
        (
            400_000,
            "it does not know the model, and takes its window to be 400,000: too late for 200,000",
        ),
    ],
)
def test_a_client_that_assumes_a_window_may_compact_too_late(assumed: int, said: str) -> None:
    limits = limits_of(BUDGET, CLAUDE, assumed_window=assumed)
    assert ("", said) in rows(fit_facts(measured(limits=limits), 1))
    compacts = "should compact" if assumed > BUDGET.window else "compacts"
    assert base_text(limits) == f"where Claude Code {compacts}"


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


def test_what_a_client_sends_beside_is_told_where_nothing_was_reported() -> None:
    size = ContextSize(counted=100, unreported="Codex", usual=OVERHEAD["codex"])
    usual = OVERHEAD["codex"]
    about, unknown = rows(doubt_facts(size))
    assert about[1] == (f"about {100 + usual.usual:,} with system prompt and tools (estimate)")
    assert unknown[1] == (
        "nothing was reported: what Codex sends beside is not known, usually "
        f"{usual.usual:,}, in nine of ten sessions {usual.least:,} to {usual.most:,}"
    )
    assert rows(doubt_facts(replace(size, usual=None, doubt="too large"))) == [
        ("", "no reported usage is believed: what Codex sends beside is not known")
    ]
    assert rows(doubt_facts(ContextSize(counted=100))) == []


def test_a_guess_is_told_with_its_range() -> None:
    size = ContextSize(
        counted=1_000, restored=500, min_restored=-100, max_restored=900, unsure="a guess"
    )
    assert rows(doubt_facts(size)) == [("", "between 900 and 1,900: a guess")]


@pytest.mark.parametrize(
    ("check", "shown", "style"),
    [
        (None, [], []),
        (
            CountCheck(ratio=1.0, steps=1, checked=0, missing=0, tolerance=0.1),
            ["1.00 reported for each counted token, over 1 step: as expected"],
            [""],
        ),
        (
            CountCheck(ratio=1.5, steps=1_200, checked=0, missing=0, tolerance=0.1),
            [
                (
                    "1.50 reported for each counted token, over 1,200 steps: "
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
        (Written(output="a.jsonl"), (None, 0), "wrote a.jsonl"),
        (Written(output="a.jsonl"), (2_500, 0), "wrote a.jsonl (2.5 kB)"),
        (
            Written(output="a.jsonl", appended_lines=1),
            (None, 0),
            "appended 1 line to a.jsonl; all before them is as it was",
        ),
        (
            Written(output="a.jsonl", appended_lines=2),
            (2_500, 2_000),
            "appended 2 lines (500 B) to a.jsonl; all before them is as it was",
        ),
    ],
)
def test_what_was_written_is_told_with_its_size(
    written: Written, size: tuple[int | None, int], shown: str
) -> None:
    assert written_text(written, *size) == shown


def test_how_to_undo_it_and_how_to_go_on_is_told() -> None:
    written = Written(output="a", undo_name="my run.jsonl")
    assert undo_text(written) == "compactctl rewind 'my run.jsonl'"
    assert undo_text(replace(written, undo_while_open=True)).endswith(" --while-open")
    assert list(resume_lines(None)) == []
    assert list(resume_lines("claude --resume 1")) == ["continue with: claude --resume 1"]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (0, []),
        (1, ["1 line was appended meanwhile; carried over"]),
        (1_024, ["1,024 lines were appended meanwhile; carried over"]),
    ],
)
def test_lines_that_came_meanwhile_are_told(lines: int, said: list[str]) -> None:
    assert list(session_lines(Written(output="a", carried_lines=lines))) == said


def test_a_session_of_its_own_names_the_one_it_was_made_from() -> None:
    assert list(session_lines(Written(output="a", forked_from="abc"))) == [
        "this is a session of its own; abc is as it was"
    ]


def test_short_words() -> None:
    assert request_text(5, "") == tokens_text(5)
    assert request_text(5, "Codex") == f"{tokens_text(5)} or more"
    assert list(unread_facts("")) == []
    [fact] = unread_facts("a\nb")
    assert (fact.label, fact.text, fact.style) == ("incomplete", "a\\nb", "bold red")
    assert list(warning_lines(["a\nb", "c"])) == ["warning: a\\nb", "warning: c"]
    assert [status_text("skipped"), status_text("failed")] == ["not a transcript", "failed"]
