"""A compaction as a page: its drawings, the fate of each message, and what is left out."""

from pathlib import Path
from typing import Any

import pytest
from unit.commands.conversations import FAST, saved, squeeze, turns
from unit.views.pages.outline import outline, part

from compactctl.commands.compact.result import CompactResult
from compactctl.commands.page_choice import PageChoice
from compactctl.commands.planning.plan import PlanOptions
from compactctl.commands.reading.transcript import InputOptions
from compactctl.records import replace
from compactctl.tokens.budget import TargetSize
from compactctl.views.pages import compaction
from compactctl.views.pages.compaction import compact_page


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return saved(tmp_path / "run.jsonl", turns(0, 1, 2))


def squeezed(path: Path, *stages: str, **changes: Any) -> CompactResult:
    options = {"output": None, "in_place": False, "compare": True, **changes}
    return squeeze(path, *(stages or ("summarize", "prune")), **options)


def lines(result: CompactResult, *, redact: bool = False) -> list[str]:
    return outline(compact_page(result, PageChoice(path="p.html", redact=redact)))


def test_both_requests_are_drawn_on_one_scale(path: Path) -> None:
    page = lines(squeezed(path, measure=replace(FAST, window=1_000)))
    assert part(page, "Before and after", "Stages") == [
        "Before and after",
        "492 → 212 tokens in the next request (57% saved)",
        "before: 492",
        "[c-user 0.0% 15.6%] user: 156",
        "[c-assistant 15.6% 15.6%] assistant: 156",
        "[c-tool-calls 31.2% 2.4%] tool calls: 24",
        "[c-file-reads 33.6% 15.6%] file reads: 156",
        "[limit-tick dashed 65.0% 0]",
        "after: 212",
        "[c-assistant 0.0% 5.2%] assistant: 52",
        "[c-tool-calls 5.2% 0.8%] tool calls: 8",
        "[c-tool-results 6.0% 0.6%] tool results: 6",
        "[c-summaries 6.6% 14.6%] summaries: 146",
        "[limit-tick dashed 65.0% 0]",
        "[c-user 100%] user",
        "[c-assistant 100%] assistant",
        "[c-tool-calls 100%] tool calls",
        "[c-file-reads 100%] file reads",
        "[c-not-in-the-transcript 100%] not in the transcript",
        "[c-tool-results 100%] tool results",
        "[c-summaries 100%] summaries",
        "Dashed: the available input, 650. Solid: the window, 1,000.",
    ]


def test_stages_fates_and_losses_are_listed(path: Path) -> None:
    page = lines(squeezed(path))
    assert part(
        page,
        "Stages",
        "Messages",
    ) == [
        "Stages",
        "Stage Tokens before After Saved Changes",
        "summarize 492 258 234 9 messages summarized, 146 tokens in the summary",
        "prune 258 212 46 1 tool result cleared",
        "What happened to each message",
        "kept: 60 tokens → 60 2",
        "rewritten: 52 tokens → 6 1",
        "written: 0 tokens → 146 1",
        "hidden: 380 tokens → 0 9",
        "Before",
        "[c-hidden M0 1000H1V688H2V952H3V688H6V952H7V688H10V952H11V688H13V1000Z]",
        "[c-rewritten M0 1000H10V952H11V688H13V1000Z]",
        "[c-kept M0 1000H10V952H11V1000H12V688H13V1000Z]",
        "[grid 0 69.96%]",
        "50",
        "[grid 0 39.92%]",
        "100",
        "After",
        "[c-written M0 1000H0V123H1V1000H10V952H11V964H12V688H13V1000Z]",
        "[c-rewritten M0 1000H10V952H11V964H12V688H13V1000Z]",
        "[c-kept M0 1000H10V952H11V1000H12V688H13V1000Z]",
        "[grid 0 69.96%]",
        "50",
        "[grid 0 39.92%]",
        "100",
        "[c-kept 100%] kept",
        "[c-rewritten 100%] rewritten",
        "[c-written 100%] written",
        "[c-hidden 100%] hidden Message",
        "What the summary lost",
        "read lost [L6] f1.py",
        "read lost [L2] f0.py",
    ]


def test_each_message_has_its_fate_its_sizes_and_its_texts(path: Path) -> None:
    page = lines(squeezed(path))
    at = page.index("Messages")
    assert page[at + 1 : at + 4] == [
        "[c-before 0.0%]",
        (
            "[c-written 100.0%] line 1 written user: [Previous conversation summary]: 9 earlier "
            "messages in few words, without a model (format… 0 → 146"
        ),
        "written by summarize: summary",
    ]
    called = page.index(
        '[c-hidden 0.0%] line 2 hidden assistant: → read_file {"path": "f0.py"} 8 → 0'
    )
    assert page[called - 1] == "[c-before 5.479%]"
    assert page[called + 1] == "hidden by summarize: older than the messages kept"
    rewritten = page.index("now:")
    assert page[rewritten - 2] == (
        "rewritten by prune: older than the newest 0 tokens of tool results"
    )
    assert page[rewritten + 1] == "← read_file: [Tool result cleared]"
    assert page[-2] == "kept: the newest message"
    assert page[-3].endswith(" 52")


def test_a_page_says_what_was_compacted_and_how(path: Path) -> None:
    result = squeezed(path, "dedup")
    assert lines(result)[:2] == [
        "run.jsonl (compacted)",
        (
            f"{path} · openai-chat · 12 messages before, 12 after · profile default · "
            "counted with chars/4 (estimate) · no model is recorded; name it with --model"
        ),
    ]
    done = squeezed(path)
    assert lines(done)[1].endswith(f" · operation {done.change.operation}")
    piped = replace(done, options=replace(done.options, input=InputOptions(path="-")))
    assert lines(piped)[0] == "standard input (compacted)"
    assert lines(piped)[1].startswith("openai-chat · 12 messages before, 4 after")


def test_a_dry_run_says_what_would_be_done(path: Path) -> None:
    page = lines(squeezed(path, dry_run=True))
    assert page[2] == "Dry run"
    assert "operation" not in page[1]


def test_a_target_is_a_line_of_its_own(path: Path) -> None:
    target = TargetSize(value=300, unit="tokens")
    plan = PlanOptions(stages=("dedup",), target=target)
    assert (
        "492 tokens in the next request: nothing was changed: 192 over the target of 300"
        in lines(squeezed(path, plan=plan))
    )
    plan = PlanOptions(stages=("truncate",), target=target)
    assert "Dashed: the target, 300. Solid: the window, 128,000." in lines(
        squeezed(path, plan=plan)
    )


def test_a_redacted_page_has_no_text_and_no_reason(path: Path) -> None:
    result = replace(squeezed(path), warnings=("run.jsonl is odd",))
    assert "run.jsonl is odd" in lines(result)
    page = lines(result, redact=True)
    assert page[:2] == [
        "openai-chat session (compacted)",
        (
            "openai-chat · 12 messages before, 4 after · counted with chars/4 (estimate) · "
            f"another model · operation {result.change.operation}"
        ),
    ]
    assert "run.jsonl is odd" not in page
    assert part(
        page,
        "What the summary lost",
        "Messages",
    )[1:] == [
        "read lost [L6]",
        "read lost [L2]",
    ]
    assert page[page.index("Stages") + 4] == "What happened to each message"
    assert page[-2:] == ["[c-kept 35.616%] line 12 kept assistant: 52", "kept"]


def test_a_page_takes_compared_messages(path: Path) -> None:
    with pytest.raises(ValueError, match="compared messages"):
        lines(squeezed(path, compare=False))


def test_many_messages_share_columns_and_the_smallest_are_not_listed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = squeezed(path)
    monkeypatch.setattr(compaction, "_MAX_COLUMNS", 5)
    page = compact_page(result, PageChoice(path="p.html"))
    assert "Each column shows 3 consecutive messages." in outline(page)
    # The largest of each: the summary, messages 4, 8, 10 and 13.
    assert 'data-strip="m1 m4 m8 m10 m13"' in page
    monkeypatch.setattr(compaction, "MAX_MESSAGES", 13)
    assert "smallest messages are not listed" not in compact_page(result, PageChoice(path="p"))
    monkeypatch.setattr(compaction, "MAX_MESSAGES", 10)
    shorter = compact_page(result, PageChoice(path="p.html"))
    assert "The 3 smallest messages are not listed." in shorter
    listed = [line for line in outline(shorter) if line.startswith("[c-before")]
    assert len(listed) == 10
