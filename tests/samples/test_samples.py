"""The sample transcripts are reproducible and sound."""

import json
from collections import Counter
from contextlib import suppress
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from samples import generate

CLAUDE = "claude-code-session.jsonl"
SOUND = [sample.name for sample in generate.SAMPLES if sample.name != "damaged.jsonl"]


@cache
def files() -> dict[str, bytes]:
    """Return every file of the folder as the generator writes it."""
    return generate.folder()


def records(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in files()[name].splitlines()]


def blocks(messages: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [
        block
        for message in messages
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == kind
    ]


def claude_messages() -> list[dict[str, Any]]:
    return [record["message"] for record in records(CLAUDE) if "message" in record]


def test_committed_files_are_what_the_generator_writes() -> None:
    assert generate.stale(files()) == [], (
        "sample_transcripts differs from what writes it: python tests/samples/generate.py"
    )


def test_folder_holds_nothing_else() -> None:
    assert {path.name for path in generate.FOLDER.iterdir()} == set(files()), (
        "sample_transcripts holds what tests/samples/generate.py writes, and nothing else"
    )


def test_generating_twice_gives_the_same_bytes() -> None:
    assert generate.folder() == files()


def test_folder_stays_below_three_megabytes() -> None:
    assert sum(map(len, files().values())) < 3_000_000


@pytest.mark.parametrize("name", SOUND)
def test_every_line_is_one_json_object(name: str) -> None:
    assert files()[name].endswith(b"\n")
    assert all(isinstance(record, dict) for record in records(name))


def test_uuids_are_unique_and_parents_stand_before_their_children() -> None:
    seen: set[str] = set()
    for record in records(CLAUDE):
        if "uuid" not in record:
            continue
        assert record["uuid"] not in seen
        assert record["parentUuid"] is None or record["parentUuid"] in seen
        seen.add(record["uuid"])


def test_only_the_main_chain_and_the_subagent_have_roots() -> None:
    roots = [record for record in records(CLAUDE) if record.get("parentUuid", "") is None]
    assert [record["isSidechain"] for record in roots] == [False, True]


def test_parallel_calls_make_a_comb() -> None:
    chained = {record["uuid"]: record for record in records(CLAUDE) if "uuid" in record}
    for record in chained.values():
        if "sourceToolAssistantUUID" in record:
            assert record["parentUuid"] == record["sourceToolAssistantUUID"]
            assert chained[record["parentUuid"]]["type"] == "assistant"


def test_claude_calls_and_results_pair_up() -> None:
    calls = Counter(block["id"] for block in blocks(claude_messages(), "tool_use"))
    results = Counter(block["tool_use_id"] for block in blocks(claude_messages(), "tool_result"))
    assert calls == results
    assert set(calls.values()) == {1}


def test_claude_usage_is_one_per_response_and_fits_the_window() -> None:
    inputs: dict[str, set[int]] = {}
    for message in claude_messages():
        if message["role"] == "assistant":
            usage = message["usage"]
            fields = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
            inputs.setdefault(message["id"], set()).add(sum(usage[field] for field in fields))
    assert all(len(sizes) == 1 for sizes in inputs.values())
    assert all(size < 200_000 for sizes in inputs.values() for size in sizes)


def test_claude_session_ends_with_results_that_no_request_has_sent_yet() -> None:
    last = [record for record in records(CLAUDE) if "message" in record][-1]
    assert last["message"]["content"][0]["type"] == "tool_result"


def test_claude_session_reads_files_again_without_a_change() -> None:
    texts = Counter(
        block["content"]
        for block in blocks(claude_messages(), "tool_result")
        if block["content"].startswith("     1→")
    )
    assert sum(count - 1 for count in texts.values()) >= 4


def test_claude_session_is_long_enough_to_compact() -> None:
    main = [r["message"] for r in records(CLAUDE) if "message" in r and not r["isSidechain"]]
    results = sum(len(block["content"]) for block in blocks(main, "tool_result"))
    # Results alone; at their 3.2 characters per token that is about 157,000 of the tokens.
    assert results > 500_000


def test_codex_calls_and_results_pair_up() -> None:
    items = [r["payload"] for r in records("codex-session.jsonl") if r["type"] == "response_item"]
    asked = Counter(item["call_id"] for item in items if item["type"].endswith("_call"))
    answered = Counter(item["call_id"] for item in items if item["type"].endswith("_output"))
    assert asked == answered
    assert set(asked.values()) == {1}


def test_codex_requests_add_up_to_the_total() -> None:
    events = [r["payload"] for r in records("codex-session.jsonl") if r["type"] == "event_msg"]
    infos = [event["info"] for event in events if event["type"] == "token_count"]
    totals, added = [], 0
    for info in infos:
        total = info["total_token_usage"]["total_tokens"]
        if total not in totals:
            totals.append(total)
            added += info["last_token_usage"]["total_tokens"]
    assert added == totals[-1]
    assert len(totals) < len(infos)


def test_codex_session_was_compacted_once() -> None:
    kinds = Counter(record["type"] for record in records("codex-session.jsonl"))
    assert kinds["compacted"] == 1


def test_openai_results_follow_their_calls_in_order() -> None:
    dialogs = [row["messages"] for row in records("openai-chat-conversations.jsonl")]
    for messages in [*dialogs, records("openai-chat.jsonl")]:
        waiting: list[str] = []
        for message in messages:
            if message["role"] == "tool":
                assert message["tool_call_id"] == waiting.pop(0)
            else:
                assert waiting == []
                waiting += [call["id"] for call in message.get("tool_calls", ())]
        assert waiting == []


def test_there_are_twelve_dialogs() -> None:
    assert len(records("openai-chat-conversations.jsonl")) == 12


def test_anthropic_roles_alternate_and_results_answer_the_message_before() -> None:
    messages = records("anthropic-messages.jsonl")
    for before, after in pairwise(messages):
        assert {before["role"], after["role"]} == {"user", "assistant"}
        calls = [block["id"] for block in blocks([before], "tool_use")]
        assert [block["tool_use_id"] for block in blocks([after], "tool_result")] == calls


def test_neurolink_has_one_condensed_group_with_its_summary() -> None:
    messages = records("neurolink.jsonl")
    parents = {message["condenseParent"] for message in messages if "condenseParent" in message}
    assert parents == {message["condenseId"] for message in messages if "condenseId" in message}
    assert len(parents) == 1


@pytest.mark.parametrize(
    "damage",
    [
        b"\r\n",
        b"}" + b"\0" * 64 + b"\n",
        b"\n" + b"\0" * 256 + b"\n",
        b"-- journal rotated",
        b"\xfc\xdf",
        rb"\ud83d",
        b'"version":"2.1.80","version":"2.1.81"',
        b"12345678901234567890123",
        b"1.10,",
        b"1e5",
        b'"type" :\t"assistant"',
        b"\n\n",
    ],
)
def test_damaged_file_has_its_damage(damage: bytes) -> None:
    assert damage in files()["damaged.jsonl"]


def test_damaged_file_holds_a_torn_record_glued_to_a_whole_one() -> None:
    glued = [
        line for line in files()["damaged.jsonl"].split(b"\n") if line.count(b"parentUuid") == 2
    ]
    (line,) = glued
    with pytest.raises(json.JSONDecodeError):
        json.loads(line)
    assert json.loads(line[line.rindex(b'{"parentUuid"') :])["type"] == "assistant"


def test_damaged_lines_that_parse_follow_their_parents() -> None:
    chained = []
    for line in files()["damaged.jsonl"].split(b"\n"):
        with suppress(ValueError):
            chained.append(json.loads(line.rstrip(b"\0")))
    assert chained[0]["parentUuid"] is None
    assert chained[1]["parentUuid"] == chained[0]["uuid"]
    assert chained[2]["parentUuid"] == chained[1]["uuid"]
    assert len(chained) == 9


def test_damaged_file_ends_in_the_middle_of_a_record() -> None:
    assert not files()["damaged.jsonl"].endswith((b"\n", b"}"))
