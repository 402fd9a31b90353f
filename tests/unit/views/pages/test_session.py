"""A session as a page: what it draws and lists of a small one, and what it leaves out."""

from pathlib import Path
from typing import Any

import pytest
from formats.claude_code.sessions import boundary, response_line, summarized, user
from unit.commands.conversations import FAST, saved, turns
from unit.views.pages.outline import outline, part
from unit.views.small_session import PRICES, TALK, answer, measured, said

from compactctl.commands.inspect.stats import StatsResult
from compactctl.commands.page_choice import PageChoice
from compactctl.commands.reading.transcript import InputOptions
from compactctl.records import replace
from compactctl.views.pages import session
from compactctl.views.pages.session import stats_page

FACTS = (
    "claude-code, 8 lines, 16.4 kB · 8 messages and 2 turns in the context · "
    "counted with chars/4 (estimate) · model claude-sonnet-4-6"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return saved(tmp_path / "run.jsonl", TALK)


def timed(path: Path, **changes: Any) -> StatsResult:
    return measured(path, timeline=True, **changes)


def lines(result: StatsResult, *, redact: bool = False) -> list[str]:
    return outline(stats_page(result, PageChoice(path="p.html", redact=redact)))


def test_the_next_request_is_drawn_by_kind_and_by_size(path: Path) -> None:
    page = lines(timed(path))
    assert part(page, "Next request", "Requests") == [
        "Next request",
        "18,416 of 200,000 tokens (9%): fits",
        "Claude Code compacts at 167,000: in 148,584 tokens",
        "window assumed, could be 1,000,000 (use --window)",
        "[c-system-prompt-and-tools 0.0% 7.179%] system prompt and tools: 15,004",
        "[c-file-reads 7.179% 1.435%] file reads: 3,000",
        "[c-message-overhead 8.614% 0.581%] message overhead: 1,215",
        "[c-tool-calls 9.195% 0.007%] tool calls: 14",
        "[c-user 9.202% 0.003%] user: 6",
        "[c-assistant 9.205% 0.002%] assistant: 5",
        "[limit-tick dashed 83.5% 0]",
        "By category",
        "system prompt and tools 15,004 78.0%",
        "[c-system-prompt-and-tools 100.0%]",
        "file reads 3,000 15.6%",
        "[c-file-reads 19.995%]",
        "message overhead 1,215 6.3%",
        "[c-message-overhead 8.098%]",
        "tool calls 14 0.1%",
        "[c-tool-calls 0.093%]",
        "user 6 0.0%",
        "[c-user 0.04%]",
        "assistant 5 0.0%",
        "[c-assistant 0.033%]",
        "unexplained -828",
        "[c-unexplained 0.0%]",
        (
            "Not in the transcript (system prompt and tools, and what is striped): inferred from "
            "the usage reported on lines 2 and 8."
        ),
    ]


def test_every_request_is_drawn_and_a_row(path: Path) -> None:
    page = lines(timed(path, prices=PRICES))
    assert part(page, "Requests", "Messages") == [
        "Requests",
        "requests in 2 turns 4",
        "input tokens of all requests 68,340",
        "of them read from the cache 48.7%",
        "tokens of cache misses, at most 16,630",
        "compactions by the client 0",
        "cost (estimate) $0.2262",
        "Above the chart: window 200,000, Claude Code compacts at 167,000.",
        "[c-file-reads M0 1000H0V285H1V213H2V141H4V1000Z]",
        "[c-tool-calls M0 1000H0V285H2V284H4V1000Z]",
        "[c-assistant M0 1000H0V285H4V1000Z]",
        "[c-user M0 1000H0V285H4V1000Z]",
        "[c-system-prompt-and-tools M0 1000H0V285H4V1000Z]",
        "[grid 0 76.18%]",
        "5k",
        "[grid 0 52.35%]",
        "10k",
        "[grid 0 28.53%]",
        "15k",
        "[c-not-in-the-transcript 100%] not in the transcript",
        "[c-file-reads 100%] file reads",
        "[c-tool-calls 100%] tool calls",
        "[c-assistant 100%] assistant",
        "[c-user 100%] user",
        "[c-system-prompt-and-tools 100%] system prompt and tools",
        "Prompt cache",
        "[c-cache-miss M0 1000H0V285H1V209H2V128H3V123H4V1000Z]",
        "[c-new M0 1000H0V285H1V209H2V919H3V123H4V1000Z]",
        "[c-cache-read M0 1000H1V285H2V1000H3V128H4V1000Z]",
        "[grid 0 52.35%]",
        "10k",
        "[c-cache-read 100%] cache read",
        "[c-new 100%] new",
        "[c-cache-miss 100%] cache miss",
        "Cost of each request (estimate), at most $0.1145",
        "[c-cost M0 1000H0V280H1V864H2V123H3V1000H4V1000Z]",
        "[grid 0 61.69%]",
        "$0.05",
        "[grid 0 23.39%]",
        "$0.1 Request",
        "Show as a table",
        (
            "Request Turn Time Context New Cache read Cache miss Output Cost $ Marks "
            "system prompt and tools user assistant tool calls file reads not in the transcript"
        ),
        "(#m2) 1 1.1 2026-01-02 03:04:05 15,010 15,010 0 0 7 0.0940 15,004 4 0 0 0 2",
        "(#m4) 2 1.2 2026-01-02 03:05:05 16,610 1,600 15,000 10 7 0.0177 15,004 4 0 7 1,500 95",
        (
            "(#m6) 3 1.3 2026-01-02 03:30:05 18,310 1,700 0 16,610 3 0.1145 cache miss, idle "
            "before 15,004 4 0 14 3,000 288"
        ),
        (
            "(#m8) 4 2.1 2026-01-02 03:31:05 18,410 100 18,300 10 2 now claude-sonnet-4-6 15,004 "
            "6 3 14 3,000 383"
        ),
        "What fills the next request",
        "By tool",
        "Calls and results.",
        "Read 3,014 2 calls",
        "[c-tool-results 100.0%]",
        "By file",
        "File reads in the next request.",
        "(#m5) a.py 3,000 2 reads",
        "[c-file-reads 100.0%]",
        "By message",
        "(#m3) line 3 · tool, Read 1,500",
        "[c-file-reads 100.0%]",
        "(#m5) line 5 · tool, Read 1,500",
        "[c-file-reads 100.0%]",
        "(#m2) line 2 · assistant, Read 7",
        "[c-tool-calls 0.467%]",
        "(#m4) line 4 · assistant, Read 7",
        "[c-tool-calls 0.467%]",
        "(#m1) line 1 · user 4",
        "[c-user 0.267%]",
        "(#m6) line 6 · assistant 3",
        "[c-assistant 0.2%]",
        "(#m7) line 7 · user 2",
        "[c-user 0.133%]",
        "(#m8) line 8 · assistant 2",
        "[c-assistant 0.133%]",
        "Files read more than once",
        (
            "Each dot is a read, from the first request on the left to the next one on the right. "
            "Hollow: repeated by a later read."
        ),
        "a.py 2 reads, 1 repeated later",
        "[line 0 50%]",
        "[covered 25.0%]",
        "[circle 50.0%]",
    ]


def test_messages_are_listed_with_their_texts(path: Path) -> None:
    page = lines(timed(path))
    messages = page[page.index("Messages") + 1 :]
    assert messages[:3] == [
        "All messages.",
        "[c-user 0.267%] line 1 user Look into a.py. 4",
        "Look into a.py.",
    ]
    assert messages[-2:] == ["[c-assistant 0.133%] line 8 assistant Done. 2", "Done."]
    assert page[:2] == [
        "Look into a.py.",
        f"{path} · {FACTS}",
    ]


def test_a_redacted_page_names_nothing(path: Path) -> None:
    page = lines(replace(timed(path), warnings=("run.jsonl is odd",)), redact=True)
    assert page[:3] == [
        "claude-code session",
        FACTS.replace("4-6", "4.6"),
        "Next request",
    ]
    assert "(#m5) file 1 (.py) 3,000 2 reads" in page
    assert page[page.index("Messages") + 2] == "[c-user 0.267%] line 1 user 4"


def test_warnings_and_the_full_history_are_told(path: Path) -> None:
    page = lines(replace(timed(path, scope="full"), warnings=("run.jsonl is odd",)))
    assert "8 messages and 2 turns in the full history" in page[1]
    assert page[2] == "run.jsonl is odd"


def test_standard_input_is_no_path(path: Path) -> None:
    result = timed(path)
    piped = replace(result, title="", options=replace(result.options, input=InputOptions(path="-")))
    assert lines(piped)[:2] == [
        "standard input",
        FACTS,
    ]


def test_what_does_not_fit_is_drawn_beyond_the_window(path: Path) -> None:
    page = lines(timed(path, measure=replace(FAST, window=10_000)))
    assert page[3] == "18,416 of 10,000 tokens (184%): does not fit, 8,416 over"
    assert page[10:12] == [
        "[c-assistant 99.974% 0.026%] assistant: 5",
        "[limit-tick 54.301% -4]",
    ]
    # A limit that is near enough is a line in the chart.
    drawn = page.index("window 10,000")
    assert page[drawn - 1] == "[line 0 52.35%]"
    assert not any(line.startswith("Above the chart") for line in page)


def test_compactions_are_marks_in_the_chart(tmp_path: Path) -> None:
    records = [*TALK, boundary("i", "h"), summarized("j", "i", "They looked into a.py.")]
    records += [answer(32, "k", said("On."), read=0, written=15_100)]
    page = lines(timed(saved(tmp_path / "run.jsonl", records)))
    assert "[line 80.0% 0]" in page
    assert page[page.index("[line 80.0% 0]") - 1] == "compacted by the client"
    assert page[page.index("[line 80.0% 0]") + 1] == "compacted by the client"
    assert "compactions by the client 1" in page
    counts = [line for line in page if line.startswith("All messages")]
    assert counts[0].startswith("All messages; the 8 in gray are no longer sent")


def test_what_was_not_reported_is_counted(tmp_path: Path) -> None:
    page = lines(timed(saved(tmp_path / "run.jsonl", turns(0, 1)), prices=PRICES))
    assert part(page, "Requests", "What fills the next request")[1:5] == [
        "requests in 2 turns 4",
        "input tokens of all requests 656",
        (
            "No usage is recorded: sizes are counted from the messages before each answer that are "
            "still in the context."
        ),
        "Above the chart: window 128,000.",
    ]
    assert not any("Cost" in line or "cache" in line for line in page)


def test_a_page_takes_a_timeline(path: Path) -> None:
    with pytest.raises(ValueError, match="timeline"):
        lines(measured(path))


def test_many_requests_share_columns_that_show_the_largest(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = timed(path, prices=PRICES)
    monkeypatch.setattr(session, "_MAX_COLUMNS", 3)
    page = lines(result)
    assert "Each column shows the largest of 2 consecutive requests." in page
    first, second = page[page.index("What fills the next request") - 2 :][:2]
    assert first.startswith("(#m4) 2 1.2 2026-01-02 03:05:05 16,610 1,600 15,000 10 7 0.0177")
    marks = "cache miss, idle before, now claude-sonnet-4-6"
    assert second.startswith(f"(#m8) 4 2.1 2026-01-02 03:31:05 18,410 100 18,300 10 2 {marks}")
    monkeypatch.setattr(session, "_MAX_COLUMNS", 4)
    assert not any(line.startswith("Each column") for line in lines(result))


def test_a_request_without_a_report_of_the_cache_leaves_its_cells_empty(tmp_path: Path) -> None:
    bare = response_line(
        "h", "g", said("Done."), "", inner={"usage": {"input_tokens": 18_410, "output_tokens": 5}}
    )
    page = lines(timed(saved(tmp_path / "run.jsonl", [*TALK[:-1], bare]), prices=PRICES))
    assert "Prompt cache" in page
    last = page[page.index("What fills the next request") - 1]
    assert last.startswith("(#m8) 4 2.1 18,410 100 2 ")


def test_a_request_that_does_not_fit_colors_its_verdict(path: Path) -> None:
    def card(window: int) -> bool:
        result = timed(path, measure=replace(FAST, window=window))
        return '<span class="wrong">does not fit' in stats_page(result, PageChoice(path="p.html"))

    assert card(18_415)
    assert not card(60_000)


def test_tools_and_limits_near_the_chart_are_drawn(tmp_path: Path) -> None:
    run = {"type": "tool_use", "id": "c3", "name": "Bash", "input": {"command": "ls"}}
    failed = {"type": "tool_result", "tool_use_id": "c3", "content": "no", "is_error": True}
    more = [answer(32, "i", run, read=18_300, written=110), user("j", "i", [failed])]
    page = lines(
        timed(saved(tmp_path / "run.jsonl", [*TALK, *more]), measure=replace(FAST, window=40_000))
    )
    tools = page[page.index("By tool") + 2 : page.index("By file")]
    assert tools[:3] == ["Read 3,014 2 calls", "[c-tool-results 100.0%]", "Bash 6 1 call, 1 error"]
    assert "window 40,000" in page
    assert not any(line.startswith("Above the chart") for line in page)
