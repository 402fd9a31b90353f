"""Every figure of ``stats`` says how exact it is."""

from dataclasses import replace
from pathlib import Path

import pytest
from formats.codex.rollouts import call, message
from unit.commands.conversations import jsonl

from compactctl.commands.inspect.stats import StatsOptions, StatsResult, stats
from compactctl.commands.inspect.view import view
from compactctl.commands.sizing.extra_content import ExtraOptions
from compactctl.commands.sizing.measure import MeasureOptions
from compactctl.history.usage.calibration import Calibration
from compactctl.reports.json.stats import stats_json
from compactctl.reports.json.view import view_json
from compactctl.reports.rendering.screen import item_lines
from compactctl.reports.terminal.stats import stats_screen

SAMPLES = Path(__file__).parents[3] / "sample_transcripts"
NOTE = "media is an estimate by size, the other rows are exact"


def result_of(name: str, counter: str) -> StatsResult:
    measure = MeasureOptions(counter=counter)
    return stats(StatsOptions(path=str(SAMPLES / name), measure=measure))


def shown(result: StatsResult, width: int | None = None) -> list[str]:
    items = stats_screen(result)
    return [line for item in items for lines, _ in item_lines(item, width) for line in lines]


def line_with(label: str, result: StatsResult) -> str:
    [line] = [line for line in shown(result) if line.startswith(label)]
    return " ".join(line.split())


def with_ratio(result: StatsResult, ratio: float | None, requests: int) -> StatsResult:
    found = result.size.calibration
    assert isinstance(found, Calibration)
    found = replace(found, ratio=ratio, requests=requests)
    return replace(result, size=replace(result.size, calibration=found))


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
    assert (NOTE in shown(result)) is noted
    estimated = "estimate" if name.startswith("claude") else None
    assert stats_json(result)["mediaExactness"] == estimated


def test_counted_and_calibrated_rows_are_told_apart() -> None:
    result = result_of("codex-session.jsonl", "chars/4")
    assert line_with("counted  ", result).endswith("the table above (estimate)")
    assert "(calibrated: inferred from the usage reported" in line_with("overhead", result)


@pytest.mark.parametrize(
    ("ratio", "requests", "line"),
    [
        (
            1.04,
            412,
            "1.04 reported for each expected token, over 412 recorded requests: as expected",
        ),
        (0.9, 30, "0.90 reported for each expected token, over 30 recorded requests: as expected"),
        (
            1.35,
            21,
            (
                "1.35 reported for each expected token, over 21 recorded requests:"
                " another model, or content is missing"
            ),
        ),
        (None, 7, "7 recorded requests: too few to check the counts by"),
        (None, 1, "1 recorded request: too few to check the counts by"),
    ],
)
def test_recorded_usage_checks_the_counts(ratio: float | None, requests: int, line: str) -> None:
    result = with_ratio(result_of("codex-session.jsonl", "chars/4"), ratio, requests)
    assert line_with("health check", result) == f"health check {line}"


def test_without_recorded_usage_there_is_no_health_check() -> None:
    result = result_of("openai-chat.jsonl", "chars/4")
    assert not [line for line in shown(result) if line.startswith("health check")]


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize(
    "folder", ["", "/home/someone/.claude/projects/-home-someone-a-long-name/"]
)
def test_the_lines_fit_and_the_path_stays_whole(folder: str, width: int) -> None:
    path = f"{folder}claude-code-session.jsonl"
    result = with_ratio(result_of("claude-code-session.jsonl", "o200k_base"), 1.35, 1_000)
    [first, *others] = shown(replace(result, path=path), width)
    assert first == path
    assert NOTE in others
    assert max(map(len, others)) <= width


def test_what_no_file_holds_is_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl"
    path.write_bytes(jsonl([message("user", "go"), call("a"), message("user", "on")]))
    result = stats(StatsOptions(path=str(path)))

    assert "2 tokens of these the client adds itself (estimate)" in shown(result)
    assert stats_json(result)["addedByClientTokens"] == 2
    assert stats_json(result)["breakdown"]["tool results"] == 2
    [called] = view_json(view(str(path)))["messages"][1]["parts"]
    assert called["added"] == "aborted"


def test_a_context_of_which_nothing_was_reported_is_not_told_as_all_there_is(
    tmp_path: Path,
) -> None:
    path = tmp_path / "rollout.jsonl"
    path.write_bytes(jsonl([message("user", "go"), message("assistant", "done")]))
    result = stats(StatsOptions(path=str(path)))

    assert " or more: " in line_with("next request", result)
    assert any(
        "what Codex sends beside is not known, usually 5,700" in line for line in shown(result)
    )
    assert stats_json(result)["usualOverhead"] == {"usual": 5700, "least": 5000, "most": 10000}
    assert stats_json(result)["estimatedInputTokens"] == stats_json(result)["totalTokens"]
    prompt = tmp_path / "system.txt"
    prompt.write_text("You are Codex.")
    given = stats(StatsOptions(path=str(path), extras=ExtraOptions(system=str(prompt))))
    assert " or more: " not in line_with("next request", given)
