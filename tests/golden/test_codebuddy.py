"""Codebuddy's figures: those of its documentation, of its code when run, and of its own tests.

Where its own answer harms a user, the case stands in a table of deviations with its reason, and
what compactctl does is asserted.
"""

import json
import re
from collections.abc import Callable
from fractions import Fraction

import pytest
from builders import assistant, call, conversation, result, user
from golden.trying import Deviation, chat, compacted, tried

from compactctl.errors import UsageError
from compactctl.history.conversation_view import ConversationView
from compactctl.model.message import Message, TextPart
from compactctl.model.summary import Summary, SummaryRequest
from compactctl.pipeline.run import PipelineRun, StageStep, run
from compactctl.profiles.registry import builtin_profile
from compactctl.records import replace
from compactctl.stages.registry import ALL_STAGES, stage_named
from compactctl.stages.support.chunking import ChunkRule
from compactctl.tokens.budget import Budget, utilization
from compactctl.tokens.counters.selection import parse_counter
from compactctl.tokens.meter import Meter
from compactctl.tokens.models.lookup import resolve_model
from compactctl.tokens.models.token_sizes import parse_window
from compactctl.tokens.trigger import TriggerInput

TESTS_COUNTER = "chars/4"
TIERS = tuple(
    s.name for s in sorted(ALL_STAGES, key=lambda s: s.codebuddy_tier) if s.codebuddy_tier
)
MARGIN = Fraction(5, 6)


def available(window: int, system: int, reserve: int) -> int:
    """The effective budget: what is left of a window with a system prompt of that size."""
    left = Budget(window=window - system, output_reserve=reserve, source="", usable=MARGIN)
    return left.available


# --- budgets and windows


@pytest.mark.parametrize(
    ("window", "budget", "percent"),
    [
        (8_000, 1_586, 20),
        (16_000, 8_253, 52),
        (32_000, 21_586, 67),
        (128_000, 101_586, 79),
        (200_000, 161_586, 81),
        (1_048_576, 868_733, 83),
    ],
)
def test_the_effective_budget(window: int, budget: int, percent: int) -> None:
    assert available(window, 2_000, 4_096) == budget
    assert round(budget / window * 100) == percent


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("4k", 4_000), ("128k", 128_000), ("16K", 16_000), ("32768", 32_768), ("200k ", 200_000)],
)
def test_windows_are_written_in_thousands(text: str, tokens: int) -> None:
    assert parse_window(text) == tokens


SIZES = {
    "banana": Deviation(16_000, None, "a slip of the pen must not shrink the context to 16k"),
    "": Deviation(16_000, None, "the same"),
    "-5": Deviation(-5, None, "there is no negative window"),
    "128 k": Deviation(128, None, "128 tokens are never meant"),
    "1.5k": Deviation(1, 1_500, "1.5 thousand is 1,500"),
}


@pytest.mark.parametrize("text", SIZES)
def test_sizes_that_codebuddy_misreads(text: str) -> None:
    if SIZES[text].ours is None:
        with pytest.raises(UsageError):
            parse_window(text)
    else:
        assert parse_window(text) == SIZES[text].ours


@pytest.mark.parametrize(
    ("name", "window"), [("gpt-4o", 128_000), ("claude-sonnet-4", 200_000), ("gpt-4", 8_192)]
)
def test_models_have_their_window(name: str, window: int) -> None:
    assert resolve_model(name).window == window


@pytest.mark.parametrize(
    ("tokens", "level"), [(79_999, "none"), (83_500, "warning"), (92_000, "critical")]
)
def test_the_levels_by_share(tokens: int, level: str) -> None:
    # compactctl has one more level between none and warning.
    found = utilization(tokens, 100_000).level
    assert found == level or (level, found) == ("none", "info")


@pytest.mark.parametrize(
    ("tokens", "level", "due"),
    [
        (4_900, "none", False),
        (7_999, "none", False),
        (8_000, "warning", False),
        (9_000, "warning", False),
        (9_001, "critical", True),
        (10_000, "critical", True),
    ],
)
@pytest.mark.parametrize("times", [1, 100])
def test_it_compacts_above_ninety_percent_of_any_window(
    tokens: int, level: str, *, due: bool, times: int
) -> None:
    profile, window = builtin_profile("codebuddy"), 10_000 * times
    available = window - profile.budget.reserve_for(window)
    now = TriggerInput(
        tokens=tokens * times, available=available, turns=1, messages=2, window=window
    )
    assert available == window
    assert profile.level_at(now).name == level
    assert bool(profile.effective_trigger.matched_condition(now)) == due


def test_its_code_starts_at_half_of_a_small_window() -> None:
    profile = builtin_profile("codebuddy@code")
    left = Budget(
        window=10_000, output_reserve=4_096, source="", usable=profile.budget.usable_share
    )
    now = TriggerInput(tokens=4_921, available=left.available, turns=1, messages=2, window=10_000)
    assert profile.effective_trigger.matched_condition(now)
    assert not profile.effective_trigger.matched_condition(replace(now, tokens=4_920))
    assert profile.level_at(now).name == "none"
    assert [s.name for s in profile.stages] == [s.name for s in builtin_profile("codebuddy").stages]


# --- tier 1


def test_the_strip_tier() -> None:
    messages = conversation(
        user("go"),
        call("a", "Write", path="a.py", content="x" * 201), result("a", "y" * 200),
        call("b", "Bash", command="ls"), result("b", "z" * 201),
        user("1"), assistant("2"), user("3"), assistant("4"),
    )  # fmt: skip
    found = tried("strip", messages, counter=TESTS_COUNTER)
    assert found.rewritten["m4"] == "[Tool result truncated — originally 201 chars]"
    assert json.loads(found.rewritten["m1"]) == {"path": "a.py", "content": "[args truncated]"}
    assert set(found.rewritten) == {"m1", "m4"}


def test_nothing_is_stripped_from_four_messages_or_fewer() -> None:
    messages = conversation(call("a", "Bash"), result("a", "x" * 999), user("1"), user("2"))
    assert tried("strip", messages, counter=TESTS_COUNTER).rewritten == {}


# --- tier 2


@pytest.mark.parametrize(
    ("window", "average", "limit"),
    [
        (16_000, 100, 7_904),
        (128_000, 100, 47_104),
        (200_000, 100, 75_904),
        (1_000_000, 100, 395_904),
        (128_000, 12_000, 18_304),
    ],
)
def test_the_chunks_that_its_code_makes(window: int, average: int, limit: int) -> None:
    assert ChunkRule(formula="code").tokens(window, Fraction(average)) == limit


@pytest.mark.parametrize(("window", "limit"), [(16_000, 6_400), (128_000, 12_000)])
def test_the_chunks_of_its_documentation(window: int, limit: int) -> None:
    assert ChunkRule(formula="doc").tokens(window, Fraction(100)) == limit


class Scripted:
    """A summarizer that answers with the given texts in turn."""

    def __init__(self, *answers: str) -> None:
        self._answers = list(answers)
        self.asked: list[SummaryRequest] = []

    def __call__(self, request: SummaryRequest, count: Callable[[str], int]) -> Summary:  # noqa: ARG002
        self.asked.append(request)
        return Summary(text=self._answers[min(len(self.asked), len(self._answers)) - 1], writer="m")


def tiered(
    messages: tuple[Message, ...], summarizer: Scripted, window: int, reserve: int = 4_096
) -> PipelineRun:
    """Run the tiers down to the effective budget, as its code makes chunks."""
    chosen = [stage_named(name) for name in TIERS]
    rules = {"chunk": {"formula": "code"}}
    steps = [StageStep(stage=s, options=s.options(**rules.get(s.name, {}))) for s in chosen]
    target = max(1, available(window, 0, reserve))
    of = ConversationView(messages=messages, window=window, target=target, summarizer=summarizer)
    return run(of, steps, Meter(parse_counter(TESTS_COUNTER)))


def applied(found: PipelineRun) -> list[str]:
    return [record.name for record in found.stages if record.outcome == "applied"]


def first_text(found: PipelineRun) -> str:
    (part,) = found.view.messages[0].parts
    assert isinstance(part, TextPart)
    return part.text


def test_four_hundred_messages_take_five_chunks_and_a_merge() -> None:
    summarizer = Scripted("short")
    found = tiered(chat(400, 2_000), summarizer, 128_000)
    assert applied(found) == ["chunk"]
    assert len(summarizer.asked) == 6
    assert first_text(found) == ("[Conversation Summary — 396 earlier messages compacted]\n\nshort")
    assert len(found.view.messages) == 5
    assert found.stages[-1].tokens_after < 2_037


def test_a_chunk_that_fails_leads_to_the_partial_tier() -> None:
    summarizer = Scripted("", "half of it")
    found = tiered(chat(16, 400), summarizer, 1_600, reserve=0)
    assert applied(found) == ["partial"]
    assert len(found.view.messages) == 11
    assert (
        first_text(found) == "[Earlier conversation summary — 6 messages compacted]\n\nhalf of it"
    )


def test_twenty_messages_are_compacted_and_the_newest_four_are_kept() -> None:
    messages = chat(20, 200)
    found = tiered(messages, Scripted("short"), 600, reserve=0)
    assert "Summary" in first_text(found)
    assert found.view.messages[1:] == messages[-4:]


def test_five_messages_are_never_summarized_in_chunks() -> None:
    found = tiered(chat(5, 4_000), Scripted("short"), 1_000, reserve=0)
    assert not {"chunk", "partial"} & set(applied(found))


# --- tier 4


def talk() -> tuple[Message, ...]:
    """Twelve messages with a result of 150 characters and a line of 120."""
    return conversation(
        user("Fix the login\nIt fails since Monday."), assistant("a" * 400),
        user("b" * 120), call("c1", "Bash", command="grep"), result("c1", "r" * 150),
        user("Add a test"), assistant("c" * 900), user("Run it"),
        assistant("d" * 500), user("e" * 400), assistant("f" * 400), user("g" * 400),
    )  # fmt: skip


def test_the_plain_tier() -> None:
    found = compacted(talk(), "plain", target=1, counter=TESTS_COUNTER)
    assert len(found.view.messages) == 5
    lines = first_text(found).split("\n")
    assert lines[:7] == [
        "[Conversation context — 8 earlier messages removed to fit context window]",
        "User messages: 4, Assistant responses: 3, Tool calls: 1",
        "Topics discussed:",
        "- Fix the login",
        "- " + "b" * 77 + "...",
        "- Add a test",
        "- Run it",
    ]
    # With hardly any room, the first request and the rules, and a mark for the others.
    assert lines[7:] == [
        "Requests of the user:",
        "- [L1] Fix the login",
        "  It fails since Monday.",
        "- [L3] …",
        "[end, 4 messages follow]",
    ]


def test_the_plain_tier_may_end_over_budget_and_that_shows() -> None:
    messages = conversation(*(user("x" * 1_600) for _ in range(8)))
    found = compacted(messages, "plain", target=1_250, counter=TESTS_COUNTER)
    assert found.stages[-1].tokens_after == 1_726


@pytest.mark.parametrize("messages", [(), chat(1, 9_000), chat(12, 0)])
def test_empty_and_single_messages_stay(messages: tuple[Message, ...]) -> None:
    assert compacted(messages, *TIERS, target=None, counter=TESTS_COUNTER).edits == ()


# --- what compactctl does otherwise

# By the test of it.
DEVIATIONS = {
    "test_a_budget_is_never_negative": Deviation(
        -1_747, 0, "4k with a system prompt of 2,000: a negative budget skips every check"
    ),
    "test_the_newest_four_stay_and_no_summary_is_empty": Deviation(
        "an empty summary, and one of the four newest messages left",
        "counts and topics, and the newest four as they are",
        "an empty summary tells nothing, and the newest messages are promised to stay",
    ),
    "test_a_note_says_how_large_a_message_was": Deviation("~0K", "~200", "0K says nothing"),
    "test_orphaned_results_among_the_newest_stay": Deviation(
        "removed", "kept", "only the repair stage touches orphans"
    ),
    "test_the_plain_tier": Deviation(
        "counts and topics",
        "counts, topics and the user's words",
        "what users said survives every compaction",
    ),
    "test_the_strip_tier": Deviation(
        "[args truncated]", "JSON with that text in it", "clients parse the arguments"
    ),
}


def test_a_budget_is_never_negative() -> None:
    assert available(4_000, 2_000, 4_096) == 0


def test_the_newest_four_stay_and_no_summary_is_empty() -> None:
    messages = chat(20, 200)
    found = tiered(messages, Scripted(""), 600)
    assert applied(found) == ["plain"]
    assert found.view.messages[1:] == messages[-4:]
    assert len(first_text(found).split("\n")) > 3


def test_a_note_says_how_large_a_message_was() -> None:
    messages = (*chat(3, 800), *chat(12, 40))
    numbered = conversation(*(user(m.parts[0].text) for m in messages))  # type: ignore[union-attr]
    found = tiered(numbered, Scripted("short"), 470, reserve=0)
    assert applied(found) == ["chunk"]
    assert re.findall(r"\(~(.*?) tokens\)", first_text(found)) == ["200"] * 3


def test_orphaned_results_among_the_newest_stay() -> None:
    messages = conversation(*(user("y" * 400) for _ in range(9)), result("ghost", "x"), user("z"))
    for stage in ("partial", "plain"):
        found = compacted(messages, stage, target=None, counter=TESTS_COUNTER)
        assert applied(found) == [stage]
        assert found.view.messages[-2:] == messages[-2:]
