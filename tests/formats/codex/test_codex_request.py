"""What Codex sends of outputs, and of what other agents say, is what is read."""

import json
from pathlib import Path

import pytest
from file_commands import stats_of_file
from formats.codex.rollouts import call, item, message, output, record
from formats.jsonl import raw_lines, read, texts

from compactctl.clients.codex.native import CodexNativeAppend
from compactctl.clients.codex.record_kinds import EVENTS, ITEMS, RECORDS
from compactctl.clients.codex.truncation import TextBudget, cut_output, cut_text, model_budget
from compactctl.model.transcript import Transcript
from compactctl.views.results.stats import stats_terminal

COMMUNICATION = {"author": "/root/one", "recipient": "/root", "trigger_turn": False}


def codex(*records: object) -> Transcript:
    return read("codex", *records)


def results(transcript: Transcript) -> list[str]:
    return [result.text for message in transcript.effective for result in message.results]


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (TextBudget(limit=12, in_tokens=False), "a" * 12),
        (TextBudget(limit=5, in_tokens=False), "aa…7 chars truncated…aaa"),
        (TextBudget(limit=2), "aaaa…1 tokens truncated…aaaa"),
        (TextBudget(limit=0), "…3 tokens truncated…"),
    ],
)
def test_the_middle_of_a_text_is_cut(budget: TextBudget, expected: str) -> None:
    assert "".join(cut_text("a" * 12, budget)) == expected


@pytest.mark.parametrize("character", ["é", "水", "🚢", "\ud800"])
@pytest.mark.parametrize("limit", range(1, 30))
def test_no_character_is_cut(character: str, limit: int) -> None:
    text = character * 10
    budget = TextBudget(limit=limit, in_tokens=False)
    head, mark, tail = cut_text(text, budget)
    assert text.startswith(head)
    assert text.endswith(tail)
    cut = len(text) - len(head) - len(tail)
    assert mark == (f"…{cut} chars truncated…" if cut else "")
    assert len((head + tail).encode("utf-8", "surrogatepass")) <= max(limit, budget.n_bytes)


def test_texts_behind_the_one_that_is_cut_are_left_out() -> None:
    given = [{"type": "input_text", "text": text} for text in ("aaaa", "bbbb", "c", "d")]
    picture = {"type": "input_image", "image_url": "data:,"}
    found = cut_output([*given, picture], TextBudget(limit=6, in_tokens=False))
    assert found == [
        given[0],
        {"type": "input_text", "text": "b…2 chars truncated…b"},
        picture,
        {"type": "input_text", "text": "[omitted 2 text items ...]"},
    ]
    assert cut_output({"content": "x" * 99}, TextBudget(limit=6)) == {"content": "x" * 99}


@pytest.mark.parametrize(
    ("model", "in_tokens"),
    [("gpt-5.5", True), ("gpt-5.3-codex-spark", True), ("some/gpt-6-sol", True),
     ("a/b/gpt-5.5", False), ("gpt-5.2", False), ("gpt-6", False)],
)  # fmt: skip
def test_outputs_of_a_listed_model_are_counted_in_tokens(*, model: str, in_tokens: bool) -> None:
    assert model_budget(model) == TextBudget(limit=12_000, in_tokens=in_tokens)


def test_an_output_is_sent_as_far_as_its_budget_goes() -> None:
    whole = "x" * 100_000
    own = {**output("b", whole), "metadata": {"fallback_token_limit_override": 1_000}}
    said = [message("user", "go"), call("a"), output("a", whole), call("b"), own]
    found = codex(record("turn_context", model="gpt-5.5"), *said)

    assert [len(text) for text in results(found)] == [48_024, 4_024]
    assert [len(part.text) for each in found.messages for part in each.results] == [100_000] * 2
    assert [(each.noun, each.detail) for each in found.omissions] == [
        ("part", "in the middle of long results")
    ] * 2
    # Nobody knows the budget of a model that is not named.
    assert [len(text) for text in results(codex(*said))] == [100_000, 4_024]


def test_stats_names_the_client_that_leaves_something_out(tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl"
    said = [message("user", "go"), call("a"), output("a", "x" * 100_000)]
    path.write_bytes(b"".join(raw_lines(record("turn_context", model="gpt-5.5"), *said)))
    lines = [str(item) for item in stats_terminal(stats_of_file(path))]

    assert "Codex leaves out 1 part in the middle of long results" in lines


def test_a_history_holds_outputs_as_they_were_sent() -> None:
    records = [
        record("session_meta", id="s", cwd="/w"),
        record("turn_context", model="gpt-5.5"),
        message("user", "go"),
        call("a"),
        output("a", "x" * 100_000),
        record("inter_agent_communication", **COMMUNICATION, content="done"),
        record("inter_agent_communication", **COMMUNICATION, content="", encrypted_content="e"),
    ]
    lines = [json.dumps(each).encode() + b"\n" for each in records]
    appended = CodexNativeAppend().lines_to_append(lines[:3], lines, "op")
    history = json.loads(appended[0])["payload"]["replacement_history"]

    assert [each["type"] for each in history[1:]] == [
        "function_call",
        "function_call_output",
        "agent_message",
        "agent_message",
    ]
    assert len(history[2]["output"]) == 48_024
    assert history[3]["content"] == [{"type": "input_text", "text": "done"}]
    assert history[4]["content"][1] == {"type": "encrypted_content", "encrypted_content": "e"}
    sent = codex(*records[:1], json.loads(appended[0]))
    assert texts(sent.effective) == texts(codex(*records).effective)


def test_an_output_of_another_type_than_its_call_is_left_out() -> None:
    found = codex(
        message("user", "go"),
        call("a"),
        item("custom_tool_call_output", call_id="a", output="x"),
        output("b", "y"),
    )

    assert results(found) == []
    assert [call.added for each in found.effective for call in each.calls] == ["aborted"]
    assert {(each.noun, each.detail) for each in found.omissions} == {
        ("result", "without a matching call")
    }
    assert len(found.history) == 4


def test_what_an_agent_says_is_not_typed() -> None:
    found = codex(
        message("user", "go"),
        record("event_msg", type="user_message", message="go"),
        record("inter_agent_communication", **COMMUNICATION, content="done"),
    )

    agent = found.effective[1]
    assert texts((agent,)) == ["done"]
    assert agent.origin.is_injected
    assert agent.parts[0].path == ("payload", "content")
    assert not agent.locks.immutable_reason


def test_long_prompts_are_shortened_by_a_compaction_without_a_history() -> None:
    found = codex(
        message("user", "lost"),
        message("user", "a" * 60_000),
        message("user", "b" * 40_000),
        record("compacted", message="so far"),
        message("user", "on"),
    )

    first, *others = texts(found.effective)
    assert first == f"{'a' * 20_000}…5000 tokens truncated…{'a' * 20_000}"
    assert others == ["b" * 40_000, "so far", "on"]


def test_a_rollback_does_not_bring_a_shortened_prompt_back() -> None:
    found = codex(
        message("user", "a" * 100_000),
        message("user", "on"),
        record("compacted", message="so far"),
        record("event_msg", type="thread_rolled_back", num_turns=1),
    )

    [cut, on] = texts(found.effective)
    assert "truncated" in cut
    assert on == "on"


@pytest.mark.parametrize("kind", [name for name, kind in RECORDS.items() if kind.unmodeled])
def test_a_record_that_is_not_followed_is_named_once(kind: str) -> None:
    found = codex(message("user", "go"), record(kind), record(kind))

    [warning] = found.warnings
    assert warning.startswith(f"line 2: {kind}: ")


def test_a_session_that_goes_on_from_another_file_is_said_to() -> None:
    base = {"thread_id": "t", "end_ordinal_exclusive": 25, "end_byte_offset": 41_650}
    found = codex(record("session_meta", id="t", history_base=base), message("user", "go"))

    [warning] = found.warnings
    assert warning.startswith("line 1: session_meta: the client sends the beginning of another")
    assert not codex(record("session_meta", id="t"), message("user", "go")).warnings


@pytest.mark.parametrize(
    "unsent",
    [record(name) for name, kind in RECORDS.items() if kind.effect in ("never sent", "state")]
    + [item(name) for name, kind in ITEMS.items() if kind.effect == "never sent"]
    + [record("event_msg", type=name) for name in EVENTS],
)
def test_what_is_never_sent_is_neither_sent_nor_missed(unsent: dict[str, object]) -> None:
    found = codex(message("user", "go"), unsent)

    assert texts(found.effective) == ["go"]
    assert not found.opaque
