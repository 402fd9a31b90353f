"""NeuroLink's token estimates and budget, figure by figure.

T numbers are those of NeuroLink's own tests. A case that encodes a defect of NeuroLink, or that
the safe rule answers differently, stands in a table of deviations with its reason, and what
compactctl does is asserted.
"""

import json
from pathlib import Path

import pytest
from builders import conversation, definition, system
from golden.trying import Deviation, chat

from compactctl.__main__ import run
from compactctl.history.breakdown import break_down
from compactctl.tokens.budget import Budget, utilization
from compactctl.tokens.counters.estimates import NEUROLINK_MULTIPLIERS, NeuroLinkCounter
from compactctl.tokens.counters.selection import parse_counter
from compactctl.tokens.meter import Meter


@pytest.mark.parametrize(
    ("text", "provider", "tokens"),
    [
        ("", "", 0), ("", "anthropic", 0), ("a", "", 2),
        ("Hello, world!", "", 5), ("Hello, world!", "anthropic", 6),
        ("Hello, world!", "vertex", 6), ("Hello, world!", "mistral", 6),
        ("x" * 100, "openai", 29), ("x" * 100, "anthropic", 36),
        ("x" * 100, "mistral", 37), ("x" * 100, "google-ai", 34),
        ("x" * 5_000, "openai", 1_438), ("x" * 160_000, "openai", 46_000),
        ("😀😀😀", "", 3),
        ("[Tool result cleared]", "", 7), ("[Tool result cleared]", "anthropic", 9),
    ],
)  # fmt: skip
def test_t1_texts(text: str, provider: str, tokens: int) -> None:
    assert NeuroLinkCounter(provider).count_many([text]) == [tokens]


def test_t2_multipliers() -> None:
    names = ("anthropic", "google-ai", "vertex", "mistral", "openai")
    assert [NEUROLINK_MULTIPLIERS[name] for name in names] == [1.23, 1.18, 1.18, 1.26, 1]
    unknown = NeuroLinkCounter("of nobody")
    assert unknown.count_many(["x" * 100]) == NeuroLinkCounter().count_many(["x" * 100])


@pytest.mark.parametrize(
    ("count", "chars", "provider", "tokens"),
    [
        (0, 0, "openai", 0), (1, 0, "openai", 28), (2, 100, "openai", 90),
        (20, 500, "openai", 2_984), (400, 1_000, "openai", 116_824),
        (500, 1_000, "anthropic", 179_024),
    ],
)  # fmt: skip
def test_t3_conversations(count: int, chars: int, provider: str, tokens: int) -> None:
    assert NeuroLinkCounter(provider).conversation(["x" * chars] * count) == tokens


LATER_FACTORS = {
    "100 x, openai": Deviation(
        27, 29, "the later margin of 0.05 is added, the first is times 1.15"
    ),
    "20 messages of 500": Deviation(2_744, 2_984, "the same"),
    "100 x of code": Deviation(40, 29, "no caller of NeuroLink says that a text is code"),
}


def test_figures_that_no_caller_or_only_later_versions_give() -> None:
    counter = NeuroLinkCounter("openai")
    ours = [counter.count_many(["x" * 100])[0], counter.conversation(["x" * 500] * 20)]
    assert [case.ours for case in LATER_FACTORS.values()] == [*ours, ours[0]]


def test_budget_example() -> None:
    counter, letters = NeuroLinkCounter("openai"), parse_counter("chars/4")
    prompt = [size + 4 for size in counter.count_many(["System prompt", "New question"])]
    history = counter.conversation(["Previous message", "Previous response"])
    (tools,) = letters.count_many(['{"name":"tool1"}'])
    (files,) = counter.count_many(["file content"])
    parts = (prompt[0], history, prompt[1], tools, files)
    assert (parts, sum(parts)) == ((9, 43, 8, 4, 4), 68)
    assert Budget(window=128_000, output_reserve=44_800, source="gpt-4o").available == 83_200


def test_the_budget_example_by_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    said = ({"role": "user", "content": "Previous message"},
            {"role": "assistant", "content": "Previous response"})  # fmt: skip
    history = "\n".join(json.dumps({"id": f"m{n}", **each}) for n, each in enumerate(said))
    files = {
        "h.jsonl": history,
        "s": "System prompt",
        "t": '[{"name":"tool1"}]',
        "f": "file content",
    }
    for name, text in files.items():
        Path(name).write_text(text)
    named = ("--format", "neurolink", "--counter", "neurolink", "--model", "gpt-4o")
    extras = ("--system", "s", "--tools", "t", "--prompt", "New question", "--attach", "f")
    assert run(["check", "h.jsonl", *named, *extras, "--profile", "neurolink", "--json"]) == 0
    found = json.loads(capfd.readouterr().out)["as"]["neurolink"]
    assert found["breakdown"] == {
        "systemPrompt": 9, "conversationHistory": 43, "currentPrompt": 8,
        "toolDefinitions": 4, "fileAttachments": 4,
    }  # fmt: skip
    assert (found["estimatedInputTokens"], found["availableInputTokens"]) == (68, 83_200)


def test_t8_a_short_prompt_is_within_the_budget() -> None:
    usage = utilization(NeuroLinkCounter("anthropic").conversation(["Hello, world!"]), 136_000)
    assert (usage.level, usage.ratio < 0.01) == ("none", True)


def test_t9_five_hundred_long_messages_are_to_be_compacted() -> None:
    usage = utilization(NeuroLinkCounter("anthropic").conversation(["x" * 1_000] * 500), 136_000)
    assert (usage.level, usage.ratio >= 0.8) == ("over", True)


def test_t10_to_t13_the_categories_add_up() -> None:
    meter = Meter(parse_counter("neurolink/openai"))
    bare = break_down(chat(4, 100), meter)
    messages = conversation(
        system("You help." * 9),
        *(definition(f"tool{n}", '{"type":"object"}') for n in range(20)),
        *chat(4, 100),
    )
    full = break_down(messages, meter)
    names = [f"tool{n}" for n in range(20)]
    plain = Meter(parse_counter("chars/4"))
    tools = sum(plain.text(name) + plain.text('{"type":"object"}') for name in names)
    assert bare.categories["system prompt"] == 0 < full.categories["system prompt"]
    assert full.categories["tool definitions"] == tools
    assert full.total == sum(full.categories.values()) > bare.total


def test_t14_and_t15_a_threshold_and_nothing_at_all() -> None:
    available = 8_192 - 2_868
    ratio = utilization(NeuroLinkCounter("openai").conversation(["x" * 500] * 100), available).ratio
    assert ratio >= 0.99
    nothing = utilization(NeuroLinkCounter().conversation([]), available)
    assert (nothing.tokens, nothing.ratio, nothing.level) == (0, 0, "none")
