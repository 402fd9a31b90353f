"""Every figure of ``stats`` says how exact it is."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from file_commands import compact_file, stats_of_file
from formats.codex.rollouts import call, message
from unit.commands.conversations import jsonl

from compactctl.clients.sizes import client_sizes
from compactctl.commands.inspect.check import CheckOptions, check
from compactctl.commands.inspect.stats import StatsOptions, StatsResult, stats
from compactctl.commands.inspect.view import ViewOptions, view
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.measuring.next_request import ExtraOptions
from compactctl.commands.reading.transcript import InputOptions
from compactctl.records import asdict, replace
from compactctl.tokens.client_sizes import NOTHING
from compactctl.views.results.check import check_document, check_terminal
from compactctl.views.results.compact import compact_document, compact_terminal
from compactctl.views.results.stats import stats_document, stats_terminal
from compactctl.views.results.view import view_document
from compactctl.views.terminal.screen import ScreenItem, item_lines

USUAL = client_sizes("codex").overhead or NOTHING
SAMPLES = Path(__file__).parents[3] / "sample_transcripts"
NOTE = "; media are estimated by size"


def result_of(name: str, counter: str) -> StatsResult:
    measure = MeasureOptions(counter=counter)
    options = StatsOptions(
        input=InputOptions(path=str(SAMPLES / name)), measure=measure, details=True
    )
    return stats(options)


def lines_of(items: Iterable[ScreenItem], width: int | None = None) -> list[str]:
    return [line for item in items for lines, _ in item_lines(item, width) for line in lines]


def shown(result: StatsResult, width: int | None = None) -> list[str]:
    return lines_of(stats_terminal(result), width)


def line_with(label: str, result: StatsResult) -> str:
    [line] = [line for line in shown(result) if line.startswith(label)]
    return " ".join(line.split())


def with_health(result: StatsResult, **changes: Any) -> StatsResult:
    assert result.health is not None
    return replace(result, health=replace(result.health, **changes))


@pytest.mark.parametrize(
    ("name", "counter", "noted"),
    [
        ("claude-code-session.jsonl", "o200k_base", True),
        ("claude-code-session.jsonl", "chars/4", False),
        ("codex-session.jsonl", "o200k_base", False),
    ],
)
def test_rows_that_differ_are_told_apart(name: str, counter: str, *, noted: bool) -> None:
    result = result_of(name, counter)
    assert line_with("counted with", result).endswith(NOTE) is noted
    estimated = "estimate" if name.startswith("claude") else None
    assert stats_document(result)["mediaExactness"] == estimated


def test_counted_and_calibrated_rows_are_told_apart() -> None:
    result = result_of("codex-session.jsonl", "chars/4")
    assert line_with("counted with", result).endswith("chars/4 (estimate)")
    assert "inferred from the usage reported" in line_with("not in transcript", result)


@pytest.mark.parametrize(
    ("found", "verdict", "line"),
    [
        (
            {"ratio": 1.04, "steps": 412},
            "as expected",
            "reported/counted = 1.04 over 412 steps, as expected",
        ),
        (
            {"ratio": 1.35, "steps": 21},
            "other tokens",
            (
                "reported/counted = 1.35 over 21 steps:"
                " the counter is not the model's, or content is missing"
            ),
        ),
        (
            {"ratio": 1.0, "steps": 21, "checked": 1_024, "missing": 400},
            "content missing",
            (
                "usage of 400 of 1,024 large steps is far above what is in the file:"
                " content is missing"
            ),
        ),
        (
            {"ratio": None, "steps": 7},
            "too few",
            "7 steps large enough: too few to check the counts",
        ),
        (
            {"ratio": None, "steps": 1},
            "too few",
            "1 step large enough: too few to check the counts",
        ),
    ],
)
def test_recorded_usage_checks_the_counts(found: dict[str, Any], verdict: str, line: str) -> None:
    result = with_health(result_of("codex-session.jsonl", "chars/4"), **found)
    assert line_with("health check", result) == f"health check {line}"
    document = stats_document(result)
    assert document["observedRatio"] == document["healthCheck"]["ratio"] == found["ratio"]
    assert document["healthCheck"]["verdict"] == verdict


def test_without_recorded_usage_there_is_no_health_check() -> None:
    result = result_of("openai-chat.jsonl", "chars/4")
    assert not [line for line in shown(result) if line.startswith("health check")]
    assert stats_document(result)["healthCheck"] is None


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize(
    "folder", ["", "/home/someone/.claude/projects/-home-someone-a-long-name/"]
)
def test_the_lines_fit_and_the_path_stays_whole(folder: str, width: int) -> None:
    path = f"{folder}claude-code-session.jsonl"
    result = with_health(result_of("claude-code-session.jsonl", "o200k_base"), ratio=1.35)
    options = StatsOptions(input=InputOptions(path=path), details=True)
    found = shown(replace(result, options=options), width)
    assert max(len(line) for line in found if path not in line) <= width
    assert found[-1].endswith(path)


def test_what_no_file_holds_is_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl"
    path.write_bytes(jsonl([message("user", "go"), call("a"), message("user", "on")]))
    result = stats_of_file(path, details=True)

    assert "2 tokens added by the client (estimate)" in line_with("counted with", result)
    assert stats_document(result)["addedByClientTokens"] == 2
    assert stats_document(result)["breakdown"]["tool results"] == 2
    [called] = view_document(view(ViewOptions(input=InputOptions(path=str(path)))))["messages"][1][
        "parts"
    ]
    assert called["added"] == "aborted"


def test_a_context_of_which_nothing_was_reported_is_not_told_as_all_there_is(
    tmp_path: Path,
) -> None:
    path = tmp_path / "rollout.jsonl"
    path.write_bytes(jsonl([message("user", "go"), message("assistant", "done")]))
    result = stats_of_file(path)

    assert shown(result)[0].startswith("at least ")
    assert any(
        f"Codex's system prompt and tools usually add {USUAL.usual:,}" in line
        for line in shown(result)
    )
    assert stats_document(result)["usualOverhead"] == asdict(USUAL)
    assert stats_document(result)["estimatedInputTokens"] == stats_document(result)["totalTokens"]
    prompt = tmp_path / "system.txt"
    prompt.write_text("You are Codex.")
    given = stats_of_file(path, extras=ExtraOptions(system=str(prompt)))
    assert not shown(given)[0].startswith("at least ")
    several = replace(result, counts=replace(result.counts, conversations=2))
    assert shown(several)[0].startswith("at least ")
    assert "in the largest of 2 conversations" in shown(several)[0]


def test_a_check_and_a_compaction_say_as_much(tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl"
    path.write_bytes(jsonl([message("user", "go"), message("assistant", "done")]))
    found = check(CheckOptions(stats=StatsOptions(input=InputOptions(path=str(path)))))
    told = lines_of(check_terminal(found))
    usual = f"Codex's system prompt and tools usually add {USUAL.usual:,}"
    assert told[1].startswith("at least ")
    assert any(usual in line for line in told)
    document = check_document(found)
    assert (document["unreportedBy"], document["usualOverhead"]["usual"]) == ("Codex", USUAL.usual)
    compacted = compact_file(path, dry_run=True)
    assert any(usual in line for line in lines_of(compact_terminal(compacted)))
    assert compact_document(compacted)["unreportedBy"] == "Codex"


def test_a_check_tells_whether_the_counts_can_be_right() -> None:
    options = StatsOptions(
        input=InputOptions(path=str(SAMPLES / "codex-session.jsonl")),
        measure=MeasureOptions(counter="chars/4"),
    )
    found = check(CheckOptions(stats=options))
    assert check_document(found)["healthCheck"] == stats_document(found.stats)["healthCheck"]
    wrong = with_health(result_of("codex-session.jsonl", "chars/4"), ratio=1.35, steps=21)
    told = lines_of(check_terminal(replace(found, stats=wrong)))
    assert any(line.startswith("reported/counted = 1.35 over 21 steps: ") for line in told)


def test_what_the_sample_of_claude_code_reports_is_what_is_in_it() -> None:
    result = result_of("claude-code-session.jsonl", "o200k_base x1.18")
    assert result.health is not None
    assert result.health.ratio == pytest.approx(1, abs=0.08)
    assert abs(result.size.unexplained) < 0.005 * result.size.total
