from pathlib import Path

import pytest
from formats.copilot_cli.sessions import Record, called, event, found, prompt, said
from formats.jsonl import file_lines
from formats.written import load

from compactctl.model.message import ReportedUsage
from compactctl.model.transcript import ClientTokenCounts


def test_usage_belongs_to_the_response_it_names_or_follows() -> None:
    transcript = found(
        prompt("hi"),
        event("assistant.usage", apiCallId="r1", inputTokens=100, outputTokens=7),
        said("one", apiCallId="r1"),
        said("two", messageId="m2"),
        event("assistant.usage", inputTokens=120, cacheReadTokens=100),
        said("three"),
        event("assistant.usage", inputTokens=0),
        said(""),
        event("assistant.usage", inputTokens=130),
    )

    assert [message.usage for message in transcript.effective] == [
        None,
        ReportedUsage(context=100, output=7),
        ReportedUsage(context=120, cache_read=100),
        ReportedUsage(context=0),
        ReportedUsage(context=130),
    ]


@pytest.mark.parametrize(
    ("facts", "model", "window"),
    [
        ([event("session.start", selectedModel="a")], "a", None),
        ([event("session.model_change", newModel="b")], "b", None),
        ([event("session.start", selectedModel="a"), called("c", model="d")], "d", None),
        ([event("session.compaction_start", tokenLimit=128_000)], None, 128_000),
        ([event("session.usage_info", tokenLimit=0)], None, None),
        ([event("session.usage_info", tokenLimit="many")], None, None),
    ],
)
def test_facts_come_from_any_event(
    facts: list[Record], model: str | None, window: int | None
) -> None:
    transcript = found(*facts)

    assert (transcript.session.model, transcript.session.window) == (model, window)


SHUTDOWN = event(
    "session.shutdown",
    systemTokens=3,
    conversationTokens=2,
    toolDefinitionsTokens=5,
    currentTokens=10,
)


def test_the_clients_own_split_is_kept() -> None:
    split = ClientTokenCounts(system=3, conversation=2, tool_definitions=5, total=10)

    assert found(prompt("hi"), SHUTDOWN).session.client_counts == split
    assert found(prompt("hi"), SHUTDOWN, event("session.resume")).session.client_counts == split


@pytest.mark.parametrize(
    "events",
    [
        [prompt("hi"), SHUTDOWN, prompt("more")],
        [prompt("hi"), SHUTDOWN, event("session.context_cleared")],
        [prompt("hi"), event("session.shutdown", systemTokens=3, currentTokens=10)],
        [prompt("hi"), SHUTDOWN | {"data": SHUTDOWN["data"] | {"currentTokens": 0}}],
        [prompt("hi") | {"compactctl": {"op": "o"}, "condenseId": "g"}, SHUTDOWN],
    ],
    ids=["more was said", "cleared", "older client", "nothing counted", "edited since"],
)
def test_a_split_of_something_else_is_not_kept(events: list[Record]) -> None:
    assert found(*events).session.client_counts is None


def test_real_sessions_carry_the_clients_split(real_transcripts: Path) -> None:
    splits = {
        name: load(file_lines(real_transcripts / f"copilot-cli/{name}.jsonl")).session.client_counts
        for name in ("copilot-cli-1.0.20", "copilot-cli-1.0.64", "copilot-cli-small")
    }

    assert splits == {
        "copilot-cli-1.0.20": ClientTokenCounts(
            system=7_780, conversation=549, tool_definitions=12_290, total=20_623
        ),
        "copilot-cli-1.0.64": None,
        "copilot-cli-small": ClientTokenCounts(
            system=11_340, conversation=89, tool_definitions=4_481, total=15_913
        ),
    }
