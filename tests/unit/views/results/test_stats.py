"""Where the context of a session went: its tables, its facts, and what it warns of."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from unit.commands.conversations import FAST, saved
from unit.views.results.screens import styles, titles, words
from unit.views.small_session import PRICES, TALK, measured

from compactctl.commands.inspect.stats import StatsResult
from compactctl.history.breakdown import LargeMessage
from compactctl.model.message import MessageId
from compactctl.model.transcript import Opaque, RecordStats
from compactctl.views.results.rounds import session_graph
from compactctl.views.results.stats import stats_document, stats_messages, stats_terminal
from compactctl.views.terminal.graph import Graph


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return saved(tmp_path / "run.jsonl", TALK)


def lines(result: StatsResult) -> list[str]:
    return words(stats_terminal(result))


def test_a_session_is_shown_by_category_request_message_tool_and_file(path: Path) -> None:
    result = measured(path)
    assert lines(result) == [
        str(path),
        "claude-code: 8 lines, 16.4 kB; 8 messages, 2 turns and 4 steps in the context",
        "counted with chars/4 (estimate); model claude-sonnet-4-6",
        "",
        "Category Tokens Share of window Share of all",
        "─",
        "user 6 0.0% 0.2%",
        "assistant 5 0.0% 0.2%",
        "tool calls 14 0.0% 0.5% ▏",
        "file reads 3,000 1.5% 99.2% ███████████████████████▊",
        "",
        "all 3,025 1.5%",
        "",
        "last reported 18,410 tokens by the provider",
        "counted 3,025 tokens in the transcript, the table above (estimate)",
        (
            "overhead 15,004 tokens of system prompt, tool definitions and the like "
            "(calibrated: inferred from the usage reported on lines 2 and 8)"
        ),
        ("frames 1,215 tokens that messages, calls and results take beside their text (estimate)"),
        "unexplained -828 tokens of counting error",
        "next request 18,416 tokens: plenty of room",
        "window 200,000: 9.2% used, 181,584 left",
        "claude-sonnet-4-6, model in the transcript; assumed, it may have 1,000,000",
        "Claude Code 167,000: compacts by itself in 148,584",
        "for the answer 128,000 left",
        "health check 2 steps with enough in them: too few to check the counts by",
        "",
        "Largest messages (5 of 8)",
        "Tokens Line Role Tool",
        "─",
        "1,500 3 tool Read",
        "1,500 5 tool Read",
        "7 2 assistant Read",
        "7 4 assistant Read",
        "4 1 user",
        "",
        "Tools",
        "Tool Calls Call tokens Result tokens Errors",
        "─",
        "Read 2 14 3,000 0",
        "",
        "Files read more than once",
        "Reads Shown again later Tokens of older reads File",
        "─",
        "2 1 1,500 a.py",
        "",
        "12.1 kB (73.8%) of 16.4 kB on disk are text that the model reads",
    ]
    assert styles(stats_terminal(result)) == ["bold"] * 5
    assert list(stats_messages(result)) == []


def test_what_is_counted_beside_the_file_has_no_line(path: Path) -> None:
    result = measured(path)
    added = LargeMessage(id=MessageId("--system"), line=-1, role="system", tools=(), tokens=9_000)
    breakdown = replace(result.breakdown, largest=(added,))
    assert "9,000 added system" in lines(replace(result, breakdown=breakdown))
    document = stats_document(replace(result, breakdown=breakdown))
    assert document["largestMessages"][0]["line"] is None
    own = stats_document(result)["largestMessages"]
    assert [each["line"] for each in own] == [each.line + 1 for each in result.breakdown.largest]
    none = replace(result.breakdown, largest=(), tools=(), rereads=())
    assert lines(replace(result, breakdown=none))[24:] == ["", lines(result)[-1]]


def test_records_that_are_never_sent_are_counted_by_kind(path: Path) -> None:
    result = measured(path)
    kinds = {f"kind {n}": RecordStats(count=n, n_bytes=1_000 * n) for n in range(1, 10)}
    opaque = tuple(Opaque(line=n, n_bytes=500, damage="not JSON") for n in (1, 1, 3, 4, 5, 6, 7, 8))
    transcript = replace(
        result.transcript, metadata=kinds, opaque=opaque, effective=result.transcript.messages[2:]
    )
    found = lines(replace(result, transcript=transcript))
    start = found.index("In the file, but never sent to the model")
    assert found[start + 1 : -2] == [
        "Records Bytes What",
        "─",
        "2 messages hidden, compacted or on other branches",
        *(f"{n} {n}.0 kB kind {n}" for n in range(9, 3, -1)),
        "6 6.0 kB of 3 other kinds",
        "8 4.0 kB not understood, carried as it is: lines 2, 4, 5, 6, 7 and 2 more",
    ]
    one = replace(transcript, metadata={}, opaque=opaque[:1], effective=transcript.messages)
    assert lines(replace(result, transcript=one))[-3] == (
        "1 500 B not understood, carried as it is: line 2"
    )


def test_tools_and_files_are_listed_up_to_a_number(path: Path) -> None:
    result = measured(path)
    [use], [file] = result.breakdown.tools, result.breakdown.rereads
    many = replace(
        result.breakdown,
        tools=(replace(use, tool=""), *[use] * 19),
        rereads=(file,) * 20,
    )
    found = lines(replace(result, breakdown=many))
    tools = next(line for line in found if line.startswith("Tools"))
    files = next(line for line in found if line.startswith("Files read more"))
    assert tools.endswith(" of 20)")
    assert f"({sum(line.startswith(('Read 2', '(unnamed) 2')) for line in found)} of 20)" in tools
    assert f"({sum(line.endswith(' a.py') for line in found)} of 20)" in files
    assert "(unnamed) 2 14 3,000 0" in found


@pytest.mark.parametrize(
    ("window", "verdict", "is_full"),
    [
        (18_415, "next request 18,416 tokens: does not fit", True),
        (150_000, "next request 18,416 tokens: plenty of room", False),
    ],
)
def test_a_full_context_comes_with_advice(
    path: Path, window: int, verdict: str, *, is_full: bool
) -> None:
    result = measured(path, measure=replace(FAST, window=window))
    assert verdict in lines(result)
    advice = f"see what a compaction would save: compactctl compact --dry-run {path}"
    assert list(stats_messages(result)) == [advice] * is_full
    document: dict[str, Any] = stats_document(result)
    assert document["withinBudget"] is not is_full
    assert (document["level"] == "over") is is_full


def test_requests_are_listed_in_their_place(path: Path) -> None:
    found = lines(measured(path, prices=PRICES))
    assert "Largest messages (5 of 8)" not in found
    assert any("2026-01-02 03:30:05" in line or "1.3" in line for line in found)


@pytest.mark.parametrize(
    ("width", "table", "before", "after"),
    [
        (68, 0, "Category Tokens Share of window Share of all", " Share of all"),
        (53, 3, "Reads Shown again later Tokens of older reads File", "Shown again later "),
        (47, 2, "Tool Calls Call tokens Result tokens Errors", "Call tokens "),
        (34, 2, "Tool Calls Result tokens Errors", " Errors"),
    ],
)
def test_on_a_narrow_terminal_columns_are_left_out(
    path: Path, width: int, table: int, before: str, after: str
) -> None:
    result = measured(path)
    assert titles(stats_terminal(result), width)[table] == before
    assert titles(stats_terminal(result), width - 1)[table] == before.replace(after, "")


@pytest.mark.parametrize(
    ("window", "limits", "told"),
    [
        (18_000, (18_000,), "the window ends at 18k"),
        (10**9, (), "its window is far above"),
    ],
)
def test_a_limit_far_above_all_requests_is_not_drawn(
    path: Path, window: int, limits: tuple[int, ...], told: str
) -> None:
    result = measured(path, timeline=True)
    budget = replace(result.measure.limits.budget, window=window)
    own = replace(result.measure.limits, client=None, budget=budget)
    result = replace(result, measure=replace(result.measure, limits=own))
    assert result.timeline is not None
    graph, *below = session_graph(result, result.timeline)
    assert isinstance(graph, Graph)
    assert graph.limits == limits
    assert told in str(below)
