"""What authors of harnesses are shown: verdicts on errors, chunks, and budgets of files."""

from typing import Any

import pytest
from unit.views.measurements import BUDGET, measured
from unit.views.results.screens import shown, styles, titles, words

from compactctl.commands.harness.chunks import (
    ChunkRow,
    ChunksOptions,
    ChunksResult,
    ConversationChunks,
)
from compactctl.commands.harness.file_budget import FileBudgetOptions, FileBudgetResult
from compactctl.commands.harness.prompt import PromptOptions, PromptResult, WrittenPrompt
from compactctl.commands.reading.transcript import InputOptions
from compactctl.profiles.overflow import Overflow
from compactctl.records import replace
from compactctl.tokens.file_budget import FileAllocation, FileSize
from compactctl.views.results.harness import (
    chunks_document,
    chunks_terminal,
    file_budget_document,
    file_budget_terminal,
    overflow_document,
    overflow_terminal,
    prompt_terminal,
)

OVER = "overflow: the context exceeds the model's window"
RATE = "no overflow: a rate limit or quota, not the request"


@pytest.mark.parametrize(
    ("result", "lines"),
    [
        (
            Overflow(kind="overflow", provider="anthropic", actual=210_000, limit=200_000),
            [
                OVER,
                "provider anthropic",
                "sent 210,000 tokens",
                "allowed 200,000 tokens",
                "over by 10,000 tokens",
                "try again not known from this error",
            ],
        ),
        (
            Overflow(kind="overflow", retryable=False, pattern="too long", note="shorten it"),
            [
                OVER,
                "provider not named",
                "try again the same request will fail again",
                'matched "too long"',
                "note shorten it",
            ],
        ),
        (
            Overflow(kind="rate", retryable=True),
            [RATE, "try again wait: the same request can succeed later"],
        ),
    ],
)
def test_an_error_is_judged(result: Overflow, lines: list[str]) -> None:
    assert words(overflow_terminal(result)) == lines
    document = overflow_document(result)
    assert (document["overflow"], document["gap"]) == (result.overflow, result.gap)


CHUNK = ChunkRow(first_line=1, last_line=1_200, messages=40, left_out=1, tokens=9_000)
CHUNKS = ConversationChunks(chunks=(CHUNK, CHUNK), limit=10_000, n_kept=1, reason="")
NO_CHUNKS = replace(CHUNKS, chunks=(), reason="only 2 messages")
MEASURED = [
    "counted with o200k_base (exact); model gpt-4.1",
    "window 200,000 tokens (as named)",
    "output reserve 64,000 tokens",
    "available input 136,000 tokens",
]


def chunks(*conversations: ConversationChunks) -> ChunksResult:
    return ChunksResult(
        options=ChunksOptions(input=InputOptions(path="a")),
        format="codex",
        measure=measured(),
        conversations=conversations,
    )


def test_chunks_are_rows_with_their_lines() -> None:
    assert words(chunks_terminal(chunks(CHUNKS))) == [
        "2 chunks of at most 10,000 tokens; 1 message kept as is",
        "Chunk Lines Messages Skipped Tokens",
        "─",
        "1 1 to 1,200 40 1 9,000",
        "2 1 to 1,200 40 1 9,000",
        "",
        *MEASURED,
    ]


def test_conversations_have_chunks_of_their_own() -> None:
    lines = words(chunks_terminal(chunks(NO_CHUNKS, CHUNKS)))
    assert lines[:4] == ["Conversation 1", "no chunks: only 2 messages", "", "Conversation 2"]
    assert lines[9:] == ["", *MEASURED]
    one, two = chunks_document(chunks(NO_CHUNKS, CHUNKS))["conversations"]
    assert one == {
        "limitTokens": 10_000, "keptMessages": 1, "reason": "only 2 messages", "chunks": [],
    }  # fmt: skip
    assert two["reason"] is None
    assert two["chunks"][0]["firstLine"] == 1


def allocation(outcome: Any, tokens: int, max_chars: int | None = None) -> FileAllocation:
    file = FileSize(name="a/b.csv", size=2_500, kind="csv")
    return FileAllocation(
        file=file, outcome=outcome, tokens=tokens, full_tokens=1_200, max_chars=max_chars
    )


FILES = FileBudgetResult(
    options=FileBudgetOptions(paths=("a/b.csv",)),
    budget=BUDGET,
    used=6_000,
    share=0.6,
    tokens=78_000,
    verdicts=(
        allocation("whole", 1_200),
        allocation("truncated", 600, 2_400),
        allocation("preview", 100, 1_000),
        allocation("excluded", 0),
    ),
)


def test_of_each_file_it_is_said_what_fits() -> None:
    notices = [verdict.notice for verdict in FILES.verdicts if verdict.notice]
    assert words(file_budget_terminal(FILES)) == [
        "Tokens What fits Whole Type Size File",
        "─",
        "1,200 all of it 1,200 csv 2.5 kB a/b.csv",
        "600 2,400 characters 1,200 csv 2.5 kB a/b.csv",
        "100 1,000 characters 1,200 csv 2.5 kB a/b.csv",
        "0 nothing 1,200 csv 2.5 kB a/b.csv",
        "",
        "window 200,000 tokens (as named)",
        "output reserve 64,000 tokens",
        "used 6,000 tokens",
        "for files 78,000 tokens, 60.0% of the remaining space",
        "needed 1,900 tokens (estimated from sizes)",
        *(" ".join(notice.split()) for notice in FILES.notices),
    ]
    assert list(FILES.notices) == notices
    assert styles(file_budget_terminal(FILES)).count("yellow") == len(notices)
    assert len(shown(file_budget_terminal(replace(FILES, verdicts=FILES.verdicts[:1])))) == 9


def test_a_document_tells_whether_a_file_is_cut() -> None:
    document = file_budget_document(FILES)
    assert [
        (each["outcome"], each["shouldTruncate"], each["maxChars"], each["previewMode"])
        for each in document["files"]
    ] == [
        ("whole", False, None, False),
        ("truncated", True, 2_400, False),
        ("preview", True, 1_000, True),
        ("excluded", False, None, False),
    ]
    assert (document["included"], document["excluded"]) == (["a/b.csv"] * 3, ["a/b.csv"])
    assert (document["estimatedTokens"], document["fileBudgetTokens"]) == (1_900, 78_000)


@pytest.mark.parametrize(
    ("width", "shown_titles"),
    [
        (53, ["Tokens What fits Type Size File"]),
        (46, ["Tokens What fits Size File"]),
        (40, ["Tokens What fits File"]),
    ],
)
def test_on_a_narrow_terminal_columns_are_left_out(width: int, shown_titles: list[str]) -> None:
    assert titles(file_budget_terminal(FILES), width) == shown_titles
    assert titles(file_budget_terminal(FILES), width + 1) != shown_titles


@pytest.mark.parametrize(
    ("texts", "lines"),
    [
        (("Sum it up.",), ["Sum it up."]),
        (("One.", "Two."), ["══ prompt 1 of 2", "One.", "══ prompt 2 of 2", "Two."]),
    ],
)
def test_a_line_stands_before_each_of_several_prompts(
    texts: tuple[str, ...], lines: list[str]
) -> None:
    prompts = tuple(
        WrittenPrompt(text=text, tokens=2, messages=1, summary_tokens=9) for text in texts
    )
    options = PromptOptions(input=InputOptions(path="run.jsonl"))
    result = PromptResult(options=options, measure=measured(), prompts=prompts, reasons=())
    assert shown(prompt_terminal(result)) == lines
