"""Where the context of a session went: its tables, its facts, and what it warns of."""

from pathlib import Path
from shlex import quote
from typing import Any

import pytest
from unit.commands.conversations import FAST, saved
from unit.views.results.screens import styles, titles, words
from unit.views.small_session import PRICES, TALK, measured

from compactctl.commands.inspect.stats import StatsResult
from compactctl.commands.measuring.context_size import ContextSize
from compactctl.history.breakdown import LargeMessage
from compactctl.model.message import MessageId
from compactctl.model.transcript import Opaque, RecordStats, Unread
from compactctl.records import replace
from compactctl.tokens.client_sizes import UsualTokens
from compactctl.tokens.fit import limits_of
from compactctl.views.results.rounds import session_graph
from compactctl.views.results.stats import stats_document, stats_messages, stats_terminal
from compactctl.views.terminal.graph import Graph


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return saved(tmp_path / "run.jsonl", TALK)


def detailed(path: Path) -> StatsResult:
    result = measured(path)
    return replace(result, options=replace(result.options, details=True))


def lines(result: StatsResult) -> list[str]:
    return words(stats_terminal(result))


ANSWER = [
    "18,416 of 200,000 tokens (9%): fits",
    "Claude Code compacts at 167,000: in 148,584 tokens",
    "window assumed, could be 1,000,000 (use --window)",
    "",
    "claude-code, claude-sonnet-4-6, 8 messages in 2 turns",
    "",
    "Tokens Share",
    "─",
    "In the transcript 3,025 16.4%",
    "file reads 3,000 16.3% ███▉",
]
NEXT = [
    "Sent, not in the transcript 15,391 83.6%",
    "system prompt and tools 15,004 81.5% ███████████████████▌",
    "message overhead 1,215 6.6% █▋",
    "unexplained -828",
    "Next request 18,416",
    "",
]


def test_the_answer_comes_first_and_one_table_adds_up_to_it(path: Path) -> None:
    result = measured(path)
    assert lines(result) == [
        *ANSWER,
        "other 25 0.1%",
        *NEXT,
        "Largest: line 3 (Read, 1,500), line 5 (Read, 1,500), line 2 (Read, 7)",
        "1 file was read more than once (1,500 tokens in older reads)",
        "",
        f"details compactctl stats --details {quote(str(path))}",
        f"savings compactctl compact -n {quote(str(path))}",
    ]
    assert styles(stats_terminal(result)) == ["bold", "bold"]
    assert list(stats_messages(result)) == []


def test_details_say_where_each_number_comes_from(path: Path) -> None:
    assert lines(detailed(path)) == [
        *ANSWER,
        "tool calls 14 0.1%",
        "user 6 0.0%",
        "assistant 5 0.0%",
        *NEXT,
        f"file {path} (8 lines, 16.4 kB)",
        "model claude-sonnet-4-6",
        "counted with chars/4 (estimate)",
        "last reported 18,410 tokens by the provider",
        "not in transcript inferred from the usage reported on lines 2 and 8",
        (
            "window 200,000 tokens (claude-sonnet-4-6, model in the transcript; assumed, could "
            "be 1,000,000)"
        ),
        "output reserve 64,000 tokens",
        "available input 136,000 tokens",
        "Claude Code compacts at 167,000",
        "for the answer 128,000 tokens left",
        "health check 2 steps large enough: too few to check the counts",
        "steps 4",
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
        "Reads Identical Tokens in older reads File",
        "─",
        "2 1 1,500 a.py",
        "",
        "12.1 kB (73.8%) of 16.4 kB on disk is text that the model reads",
        "",
        f"savings compactctl compact -n {quote(str(path))}",
    ]


@pytest.mark.parametrize(
    ("window", "first"),
    [
        (18_415, "18,416 of 18,415 tokens (100%): does not fit, 1 over"),
        (18_416, "18,416 of 18,416 tokens (100%): fits"),
        (18_417, "18,416 of 18,417 tokens (99%): fits"),
        (10_000_000, "18,416 of 10,000,000 tokens (<1%): fits"),
    ],
)
def test_the_first_line_says_whether_it_fits(path: Path, window: int, first: str) -> None:
    assert lines(measured(path, measure=replace(FAST, window=window)))[0] == first


def test_what_makes_the_size_doubtful_stands_below_the_answer(path: Path) -> None:
    result = measured(path)
    usual = UsualTokens(usual=35_500, least=17_800, most=43_100)
    size = ContextSize(counted=3_025, unreported="Codex", usual=usual)
    transcript = replace(result.transcript, opaque=(Opaque(line=3, n_bytes=1, damage="cut"),) * 2)
    found = lines(replace(result, size=size, transcript=transcript))
    assert found[0].startswith("at least ")
    assert found[2:5] == [
        "1 line not recognized, so not counted",
        "window assumed, could be 1,000,000 (use --window); counts are estimates",
        (
            "no usage recorded; Codex's system prompt and tools usually add 35,500 tokens "
            "(17,800 to 43,100 in 9 of 10 sessions)"
        ),
    ]
    guessed = replace(size, usual=None, doubt="odd", max_restored=900, unsure="a guess")
    assert lines(replace(result, size=guessed))[3:5] == [
        "recorded usage is not credible; Codex's system prompt and tools are not counted",
        "between 3,025 and 3,925: a guess",
    ]
    unread = replace(result.transcript, unread=Unread(fields={"secret": 9_000}, read=10))
    found = lines(replace(result, transcript=unread))
    assert found[0] == "at least 18,416 of 200,000 tokens (9%): unknown whether it fits"
    assert found[1] == "incomplete: 9 kB of text in `secret` was not read"
    assert not any("compacts at" in line for line in found)


@pytest.mark.parametrize(
    ("assumed", "said"),
    [
        (190_000, "assumes a window of 190,000"),
        (400_000, "assumes a window of 400,000: it compacts too late"),
    ],
)
def test_a_client_that_assumes_a_window_may_compact_too_late(
    path: Path, assumed: int, said: str
) -> None:
    result = measured(path)
    limits = result.measure.limits
    limits = limits_of(limits.budget, limits.client, assumed_window=assumed)
    found = lines(replace(result, measure=replace(result.measure, limits=limits)))
    assert f"Claude Code does not know this model and {said}" in found


def test_the_largest_of_several_conversations_is_shown_and_all_in_details(path: Path) -> None:
    result = detailed(path)
    several = replace(result, counts=replace(result.counts, conversations=12))
    found = lines(several)
    assert found[0] == "18,416 of 200,000 tokens (9%) in the largest of 12 conversations: fits"
    assert found[4].endswith(", 12 conversations, 8 messages in 2 turns, 3,025 tokens in all")
    start = found.index("All 12 conversations")
    assert found[start + 1 : start + 4] == ["Tokens Share", "─", "user 6 0.2%"]


def test_what_is_counted_beside_the_file_has_no_line(path: Path) -> None:
    result = detailed(path)
    added = LargeMessage(id=MessageId("--system"), line=-1, role="system", tools=(), tokens=9_000)
    breakdown = replace(result.breakdown, largest=(added,))
    assert "9,000 added system" in lines(replace(result, breakdown=breakdown))
    document = stats_document(replace(result, breakdown=breakdown))
    assert document["largestMessages"][0]["line"] is None
    own = stats_document(result)["largestMessages"]
    assert [each["line"] for each in own] == [each.line + 1 for each in result.breakdown.largest]
    none = replace(result.breakdown, largest=(), tools=(), rereads=())
    assert "Largest messages (5 of 8)" not in lines(replace(result, breakdown=none))
    plain = replace(result, options=replace(result.options, details=False))
    assert not [line for line in lines(replace(plain, breakdown=none)) if "Largest" in line]
    assert any(
        "added (system, 9,000)" in line for line in lines(replace(plain, breakdown=breakdown))
    )


def test_records_that_are_never_sent_are_counted_by_kind(path: Path) -> None:
    result = detailed(path)
    kinds = {f"kind {n}": RecordStats(count=n, n_bytes=1_000 * n) for n in range(1, 10)}
    opaque = tuple(Opaque(line=n, n_bytes=500, damage="not JSON") for n in (1, 1, 3, 4, 5, 6, 7, 8))
    transcript = replace(
        result.transcript, metadata=kinds, opaque=opaque, effective=result.transcript.messages[2:]
    )
    found = lines(replace(result, transcript=transcript))
    start = found.index("In the file, but never sent to the model")
    assert found[start + 1 : -4] == [
        "Records Bytes What",
        "─",
        "2 messages hidden, compacted or on other branches",
        *(f"{n} {n}.0 kB kind {n}" for n in range(9, 3, -1)),
        "6 6.0 kB of 3 other kinds",
        "8 4.0 kB not recognized, kept unchanged: lines 2, 4, 5, 6, 7 and 2 more",
    ]
    one = replace(transcript, metadata={}, opaque=opaque[:1], effective=transcript.messages)
    assert lines(replace(result, transcript=one))[-5] == (
        "1 500 B not recognized, kept unchanged: line 2"
    )


def test_tools_and_files_are_listed_up_to_a_number(path: Path) -> None:
    result = detailed(path)
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
        (18_415, "18,416 of 18,415 tokens (100%): does not fit, 1 over", True),
        (150_000, "18,416 of 150,000 tokens (12%): fits", False),
    ],
)
def test_a_full_context_is_over_in_the_document(
    path: Path, window: int, verdict: str, *, is_full: bool
) -> None:
    result = measured(path, measure=replace(FAST, window=window))
    assert verdict in lines(result)
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
        (66, 0, "Tokens Share", ""),
        (45, 3, "Reads Identical Tokens in older reads File", "Identical "),
        (47, 2, "Tool Calls Call tokens Result tokens Errors", "Call tokens "),
        (34, 2, "Tool Calls Result tokens Errors", " Errors"),
    ],
)
def test_on_a_narrow_terminal_columns_are_left_out(
    path: Path, width: int, table: int, before: str, after: str
) -> None:
    result = detailed(path)
    assert titles(stats_terminal(result), width)[table] == before
    assert titles(stats_terminal(result), width - 1)[table] == before.replace(after, "")


@pytest.mark.parametrize(
    ("window", "limits", "told"),
    [
        (18_000, (18_000,), "the window ends at 18k"),
        (10**9, (), "far below the window"),
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
