import pytest
from builders import assistant, call, conversation, result, summary, user
from unit.stages.support.trials import (
    carried_out,
    joined,
    meter,
    propose,
    reasons,
    rewritten,
    skipped,
    skips,
    view,
    words,
)

from compactctl.history.reads import stub_for
from compactctl.model.edit import Proposal
from compactctl.model.message import MediaPart, Message
from compactctl.stages.prune import STAGE


def results(*sizes: int, tool: str = "Bash") -> tuple[Message, ...]:
    pairs = ((call(f"c{n}", tool), result(f"c{n}", words(size))) for n, size in enumerate(sizes))
    return conversation(*(m for pair in pairs for m in pair))


def test_everything_older_than_the_window_is_cleared() -> None:
    # Ten results of 20,000 characters: those that fit in the window stay, the crossing one too.
    proposal = propose(STAGE, view(results(*[5_000] * 10)), protect_tokens=10_000, min_savings=1)
    assert rewritten(proposal) == {f"m{2 * n + 1}": "[Tool result cleared]" for n in range(8)}


def test_the_result_that_crosses_the_line_is_kept_whole() -> None:
    of = view(results(50, 200, 30))
    assert list(rewritten(propose(STAGE, of, protect_tokens=31, min_savings=1))) == ["m1"]
    assert list(rewritten(propose(STAGE, of, protect_tokens=30, min_savings=1))) == ["m1", "m3"]


def test_savings_below_the_minimum_are_left_alone() -> None:
    of = view(results(3_213))
    least = 3_213 - 3
    assert rewritten(propose(STAGE, of, protect_tokens=0, min_savings=least))
    outcome = skipped(STAGE, of, protect_tokens=0)
    assert outcome.reason == "would save 3,210 tokens, below the minimum of 20,000"
    assert outcome.detail == "lower it with --prune-min-savings"
    assert skips(STAGE, of, protect_tokens=0, min_savings=least + 1)


def test_the_defaults_keep_forty_thousand_tokens() -> None:
    proposal = propose(STAGE, view(results(*[5_000] * 20)))
    assert len(rewritten(proposal)) == 12
    assert "nothing to clear" in skipped(STAGE, view(results(*[5_000] * 8))).reason


def test_a_protected_tool_stays_and_does_not_use_up_the_window() -> None:
    messages = conversation(
        call("a", "Bash"), result("a", words(50)),
        call("b", "Bash"), result("b", words(50)),
        call("c", "Skill"), result("c", words(500)),
    )  # fmt: skip
    proposal = propose(STAGE, view(messages), protect_tokens=40, min_savings=1)
    assert list(rewritten(proposal)) == ["m1"]


def test_results_of_tools_that_nothing_touches_do_not_use_up_the_window() -> None:
    messages = joined(*results(50, 50), *results(500, tool="Plan"))
    protected = {"protected": ["m4", "m5"], "protected_tools": ["plan"]}
    assert skips(STAGE, view(messages, **protected), protect_tokens=100, min_savings=0)
    left = propose(STAGE, view(messages, **protected), protect_tokens=50, min_savings=0)
    assert list(rewritten(left)) == ["m1"]


def test_one_protected_result_alone_is_nothing_to_clear() -> None:
    of = view(results(50_000, tool="skill"))
    assert skips(STAGE, of, protect_tokens=0, min_savings=0)


def test_prose_and_calls_are_never_touched() -> None:
    messages = joined(user(words(900)), assistant(words(900)), *results(900))
    proposal = propose(STAGE, view(messages), protect_tokens=0, min_savings=1)
    assert list(rewritten(proposal)) == ["m3"]


def test_pinned_fixed_and_cleared_results_stay() -> None:
    messages = conversation(
        call("a", "Bash"), result("a", words(50)),
        call("b", "Bash"), result("b", words(50), cleared=True),
        call("c", "Bash"), result("c", words(50)),
    )  # fmt: skip
    outcome = propose(STAGE, view(messages, protected=["m1"]), protect_tokens=0, min_savings=0)
    assert list(rewritten(outcome)) == ["m5"]


def test_a_pinned_newest_result_counts_as_kept() -> None:
    outcome = skipped(STAGE, view(results(50, 50), protected=["m3"]), protect_tokens=60)
    assert "nothing to clear" in outcome.reason


def test_a_placeholder_is_never_larger_than_what_it_replaces() -> None:
    assert skips(STAGE, view(results(3, 1, 0)), protect_tokens=0, min_savings=0)


def test_media_that_vanish_count_as_savings() -> None:
    shot = MediaPart(media_type="image/png", n_bytes=9)
    messages = conversation(call("a", "Shot"), result("a", "", media=(shot,)))
    proposal = propose(STAGE, view(messages), protect_tokens=0, min_savings=1_021)
    assert list(rewritten(proposal)) == ["m1"]
    assert skips(STAGE, view(messages), protect_tokens=0, min_savings=1_022)


def test_what_a_dedup_stub_refers_to_stays() -> None:
    messages = conversation(
        call("a", "Read", file_path="a.py"), result("a", stub_for("a.py")),
        call("b", "Read", file_path="a.py"), result("b", words(90)),
        call("c", "Read", file_path="b.py"), result("c", words(90)),
    )  # fmt: skip
    proposal = propose(STAGE, view(messages), protect_tokens=0, min_savings=0)
    assert list(rewritten(proposal)) == ["m5"]


@pytest.mark.parametrize("window", [0, 60, 1_000])
def test_a_second_run_finds_nothing(window: int) -> None:
    of = view(results(*[50] * 9))
    options = {"protect_tokens": window, "min_savings": 0}
    if window < 450:
        of = carried_out(of, propose(STAGE, of, **options))
    assert skips(STAGE, of, **options)


def test_the_reason_is_in_a_users_words() -> None:
    proposal = propose(STAGE, view(results(90, 90)), protect_tokens=50, min_savings=0)
    assert reasons(proposal) == ["older than the newest 50 tokens of tool results"]
    assert proposal.notes == ("tool results cleared: 1",)


def test_the_crossing_result_can_be_cleared_too() -> None:
    of = view(results(50, 200, 30))
    options = {"min_savings": 0, "crossing": "clear"}
    assert list(rewritten(propose(STAGE, of, protect_tokens=30, **options))) == ["m1", "m3"]
    assert list(rewritten(propose(STAGE, of, protect_tokens=229, **options))) == ["m1", "m3"]
    assert list(rewritten(propose(STAGE, of, protect_tokens=230, **options))) == ["m1"]
    after = carried_out(of, propose(STAGE, of, protect_tokens=229, **options))
    assert skips(STAGE, after, protect_tokens=229, **options)


def test_once_the_line_is_crossed_smaller_older_results_go_too() -> None:
    of = view(results(9, 90, 9))
    proposal = propose(STAGE, of, protect_tokens=20, min_savings=0, crossing="clear")
    assert list(rewritten(proposal)) == ["m1", "m3"]


@pytest.mark.parametrize(
    ("unit", "count", "cleared"),
    [("results", 1, ["m1", "m3"]), ("steps", 2, ["m1"]), ("turns", 1, []), ("turns", 0, None)],
)
def test_the_newest_units_stay_without_using_up_the_window(
    unit: str, count: int, cleared: list[str] | None
) -> None:
    of = view(results(50, 50, 50))
    options = {"protect_tokens": 0, "min_savings": 0, "unit": unit, "protect": count}
    if cleared == []:
        assert skips(STAGE, of, **options)
    else:
        proposal = propose(STAGE, of, **options)
        assert list(rewritten(proposal)) == (cleared or ["m1", "m3", "m5"])


def test_only_named_tools_are_cleared() -> None:
    messages = conversation(
        call("a", "Bash"), result("a", words(50)),
        call("b", "Read", file_path="b"), result("b", words(50)),
    )  # fmt: skip
    proposal = propose(STAGE, view(messages), protect_tokens=0, min_savings=0, only_tools=("bash",))
    assert list(rewritten(proposal)) == ["m1"]


def test_failed_results_can_stay() -> None:
    messages = conversation(
        call("a", "Bash"), result("a", words(50), is_error=True),
        call("b", "Bash"), result("b", words(50)),
    )  # fmt: skip
    of = view(messages)
    options = {"protect_tokens": 0, "min_savings": 0}
    assert list(rewritten(propose(STAGE, of, **options))) == ["m1", "m3"]
    assert list(rewritten(propose(STAGE, of, **options, keep_errors=True))) == ["m3"]


def test_nothing_before_the_newest_summary_is_cleared_if_asked() -> None:
    messages = joined(*results(50), summary("before"), *results(50))
    options = {"protect_tokens": 0, "min_savings": 0}
    assert len(rewritten(propose(STAGE, view(messages), **options))) == 2
    proposal = propose(STAGE, view(messages), **options, stop_at_summary=True)
    assert list(rewritten(proposal)) == ["m4"]


@pytest.mark.parametrize(("protect_tokens", "cleared"), [(60, ["m1"]), (61, []), (59, ["m1"])])
def test_what_is_cleared_already_takes_nothing_of_what_is_kept(
    protect_tokens: int, cleared: list[str]
) -> None:
    talk = joined(
        *results(50), call("x", "Bash"), result("x", words(90), cleared=True), *results(30, 30)
    )
    outcome = STAGE.propose(
        view(talk), meter(), STAGE.options(protect_tokens=protect_tokens, min_savings=0)
    )
    assert (list(rewritten(outcome)) if isinstance(outcome, Proposal) else []) == cleared
