"""Whether a compaction is due: the answer first, then the figures behind it."""

from pathlib import Path
from typing import Any

import pytest
from unit.commands.conversations import FAST, saved, turns
from unit.views.results.screens import styles, words

from compactctl.commands.inspect.check import CheckOptions, CheckResult, check
from compactctl.commands.inspect.stats import StatsOptions
from compactctl.commands.reading.transcript import InputOptions
from compactctl.model.transcript import Unread
from compactctl.records import replace
from compactctl.tokens.trigger import Trigger, parse_trigger
from compactctl.views.results.check import check_document, check_messages, check_terminal


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return saved(tmp_path / "run.jsonl", turns(0, 1, 2))


def checked(path: Path, window: int = 20_000, trigger: Trigger | None = None) -> CheckResult:
    measure = replace(FAST, window=window)
    options = StatsOptions(input=InputOptions(path=str(path)), measure=measure)
    return check(CheckOptions(stats=options, trigger=trigger))


def test_a_session_with_room_is_not_due(path: Path) -> None:
    result = checked(path)
    assert words(check_terminal(result)) == [
        f"{path}: compaction is not due",
        "492 of 20,000 tokens (2%): fits",
        "counts are estimates",
        "",
        "trigger ratio >= 0.8",
        "ratio 3.8% of 13,000 tokens, the available input",
        "profile default: compactctl's default",
        "history 3 turns, 12 messages",
        "counted with chars/4 (estimate)",
        "level none",
    ]
    assert styles(check_terminal(result)) == ["bold", "bold"]
    assert (result.exit_code, list(check_messages(result))) == (0, [])


def test_a_full_session_is_due_and_says_how_far_over_it_is(path: Path) -> None:
    result = checked(path, window=600)
    found = words(check_terminal(result))
    assert found[0] == f"{path}: compaction is due: ratio >= 0.8"
    assert found[1:3] == [
        "492 of 600 tokens (82%): fits", "126% of the available input (390) is used",
    ]  # fmt: skip
    assert found[-2:] == [
        "level over", "Context: 126% of 390 tokens used; compaction is overdue",
    ]  # fmt: skip
    assert styles(check_terminal(result)) == [
        "bold red", "bold", "bold red", "bold red", "bold red",
    ]  # fmt: skip
    assert result.exit_code == 1


def test_what_is_larger_than_the_window_does_not_fit(path: Path) -> None:
    fits, larger = checked(path, window=492), checked(path, window=491)
    assert words(check_terminal(fits))[1] == "492 of 492 tokens (100%): fits"
    assert words(check_terminal(larger))[1].endswith(": does not fit, 1 over")


def test_the_condition_that_fired_is_named_with_its_conversations(path: Path) -> None:
    result = checked(path, trigger=parse_trigger("messages>=3"))
    assert words(check_terminal(result))[0] == f"{path}: compaction is due: messages >= 3"
    counts = replace(result.stats.counts, conversations=2)
    several = replace(result, stats=replace(result.stats, counts=counts))
    first, *_ = words(check_terminal(several))
    assert first.endswith(": messages >= 3, in 1 of 2 conversations")
    assert styles(check_terminal(result)) == ["bold red", "bold"]


def test_where_much_was_not_read_it_is_unknown_unless_it_is_due_anyway(path: Path) -> None:
    def unread(result: CheckResult) -> CheckResult:
        transcript = replace(
            result.stats.transcript, unread=Unread(fields={"secret": 9_000}, read=10)
        )
        return replace(result, stats=replace(result.stats, transcript=transcript))

    unsure, due = unread(checked(path)), unread(checked(path, window=600))
    assert words(check_terminal(unsure))[0] == f"{path}: unknown whether compaction is due"
    assert styles(check_terminal(unsure)) == ["bold red", "bold red", "bold red"]
    assert unsure.exit_code == 4
    assert words(check_terminal(due))[0] == f"{path}: compaction is due: ratio >= 0.8"
    assert any(line.startswith("incomplete: ") for line in words(check_terminal(due)))
    assert words(check_terminal(due))[1].startswith("at least 492 of ")


@pytest.mark.parametrize(
    ("window", "reached"),
    [
        (20_000, ("none", False, False, False)),
        (850, ("warning", True, False, False)),
        (800, ("critical", True, True, False)),
        (600, ("over", True, True, True)),
    ],
)
def test_a_document_has_the_answer_and_the_level(
    path: Path, window: int, reached: tuple[str, bool, bool, bool]
) -> None:
    document: dict[str, Any] = check_document(checked(path, window))
    level = document["as"]["agent-code"]
    assert (
        document["level"], level["is_above_warning"], level["is_above_error"], level["is_blocking"]
    ) == reached  # fmt: skip
    assert document["withinBudget"] is (reached[0] != "over")
    assert document["shouldCompact"] is (window < 20_000)
    assert document["fired"] == (None if window == 20_000 else "ratio >= 0.8")
    assert (document["conversationCount"], document["dueConversationCount"]) == (
        1, int(window < 20_000),
    )  # fmt: skip
    assert (document["estimatedInputTokens"], document["messageCount"]) == (492, 12)
    assert (document["message"] is None) is (document["level"] == "none")
