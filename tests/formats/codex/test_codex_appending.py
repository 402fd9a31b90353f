"""What is appended to a session of Codex, record by record."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from compactctl.clients.codex.format import Codex
from compactctl.clients.codex.native import CodexNativeAppend
from compactctl.commands.reading.proof import expected_messages
from compactctl.commands.reading.transcript import parse
from compactctl.errors import UsageError
from compactctl.history.stand_ins import base_id, edit_points

Record = dict[str, Any]
OPERATION = "0123456789ab"


def said(role: str, text: str) -> Record:
    kind = {"user": "input_text", "assistant": "output_text", "developer": "input_text"}[role]
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def item(role: str, text: str, **more: Any) -> Record:
    return {"type": "response_item", "payload": said(role, text), **more}


META = {"type": "session_meta", "payload": {"id": "s", "cwd": "/w", "instructions": "Be brief."}}
INJECTED = item("user", "<environment_context>today</environment_context>")
STATE = {"type": "world_state", "payload": {"full": True, "state": {"date": "today"}}}
DELTA = {"type": "world_state", "payload": {"full": False, "state": {"date": "tomorrow"}}}
CONTEXT = {"type": "turn_context", "payload": {"cwd": "/w", "model": "gpt-5.2-codex"}}
USAGE = {"input_tokens": 900, "output_tokens": 9, "total_tokens": 909}
INFO = {"last_token_usage": USAGE, "total_token_usage": USAGE}
COUNT = {"type": "event_msg", "payload": {"type": "token_count", "info": INFO}}
TALK = (item("user", "Why?"), item("assistant", "Because."), item("user", "And then?"))
SESSION = (META, INJECTED, STATE, CONTEXT, *TALK, COUNT)


def lines(*records: Record, numbered: bool = True) -> list[bytes]:
    numbers = ({"ordinal": at} if numbered else {} for at in range(len(records)))
    timed = ({"timestamp": f"t{at}", **record} for at, record in enumerate(records))
    pairs = zip(timed, numbers, strict=False)
    return [f"{json.dumps({**record, **number})}\n".encode() for record, number in pairs]


def says(session: Sequence[bytes]) -> list[bytes]:
    return [each.content for each in expected_messages(parse(session, Codex()).effective)]


def block(now: Sequence[bytes], wanted: Sequence[bytes]) -> list[Record]:
    return [
        json.loads(line) for line in CodexNativeAppend().lines_to_append(now, wanted, OPERATION)
    ]


def without(*gone: Record) -> list[bytes]:
    return lines(*(record for record in SESSION if record not in gone))


def test_it_is_the_history_the_surroundings_and_the_size() -> None:
    found = block(lines(*SESSION), without(TALK[1]))
    assert [each["type"] for each in found] == [
        "compacted", "world_state", "turn_context", "event_msg",
    ]  # fmt: skip
    history = found[0]["payload"]["replacement_history"]
    assert history == [each["payload"] for each in (INJECTED, TALK[0], TALK[2])]
    assert found[0]["payload"]["message"] == ""
    assert found[1]["payload"] == STATE["payload"]
    assert [each["ordinal"] for each in found] == [8, 9, 10, 11]
    assert {each["timestamp"] for each in found} == {"t7"}
    assert {each["compactctl"]["appended"] for each in found} == {OPERATION}


def test_what_the_surroundings_became_since_is_told_as_well() -> None:
    now = lines(*SESSION, DELTA)
    found = block(now, [line for line in now if b"Because" not in line])
    assert [each["payload"] for each in found[1:3]] == [STATE["payload"], DELTA["payload"]]


def test_surroundings_that_were_left_out_are_to_be_sent_again() -> None:
    found = block(lines(*SESSION), without(INJECTED, TALK[1]))
    assert [each["type"] for each in found] == ["compacted", "event_msg"]


def test_a_session_without_numbers_gets_none() -> None:
    now = lines(*SESSION, numbered=False)
    found = block(now, [line for line in now if b"Because" not in line])
    assert all("ordinal" not in each for each in found)


def test_tags_beside_an_item_go_into_it() -> None:
    summary = item(
        "user", "All of it.", condenseId="c1", compactctl={"op": OPERATION, "model": "m"}
    )
    [told, *_] = block(lines(*SESSION), lines(META, summary, COUNT))
    [only] = told["payload"]["replacement_history"]
    assert only == {**said("user", "All of it."), "condenseId": "c1",
                    "compactctl": {"op": OPERATION, "model": "m"}}  # fmt: skip


def test_a_summary_without_a_history_becomes_an_item() -> None:
    condensed = {"type": "compacted", "payload": {"message": "So far: nothing."}}
    now = lines(*SESSION, condensed, item("user", "Go on."))
    wanted = [line for line in now if b"Go on." not in line]
    told = CodexNativeAppend().lines_to_append(now, wanted, OPERATION)
    assert json.loads(told[0])["payload"]["replacement_history"][-1] == said(
        "user", "So far: nothing."
    )
    assert says([*now, *told]) == says(wanted)


def test_a_prompt_in_a_history_stays_as_a_later_compaction_has_cut_it() -> None:
    history = {"message": "", "replacement_history": [said("user", "Why? " * 20_000)]}
    condensed = {"type": "compacted", "payload": {"message": "So far: nothing."}}
    now = lines(META, {"type": "compacted", "payload": history}, condensed, item("user", "Go on."))
    wanted = [line for line in now if b"Go on." not in line]
    assert says([*now, *CodexNativeAppend().lines_to_append(now, wanted, OPERATION)]) == says(
        wanted
    )


def test_what_is_appended_after_a_rollback_counts_once_a_turn_begins() -> None:
    back = {"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 1}}
    begins = {"type": "event_msg", "payload": {"type": "task_started", "turn_id": "b"}}
    for between, counts in (((back,), False), ((back, begins), True)):
        now = lines(*SESSION, *between)
        wanted = [line for line in now if b"Because" not in line]
        told = CodexNativeAppend().lines_to_append(now, wanted, OPERATION)
        assert (says([*now, *told]) == says(wanted)) == counts


@pytest.mark.parametrize("payload", [None, 7, "x", [], True])
def test_records_with_other_payloads_are_none_of_the_surroundings(payload: object) -> None:
    odd = {"type": "world_state", "payload": payload}
    now = lines(*SESSION, odd)
    assert block(now, [line for line in now if b"Because" not in line])
    with pytest.raises(ValueError, match="changed by the client"):
        [
            *CodexNativeAppend().carry(
                [], lines({"type": "event_msg", "payload": payload}), OPERATION
            )
        ]


def test_items_are_taken_as_they_stand() -> None:
    odd = b'{"timestamp":"t","type":"response_item","payload":{"role":"user", "type":"message",\
"content":[{"type":"input_text","text":"\\u00e9 1.10"}],"n":1.10,"big":123456789012345678901}}\n'
    now = [*lines(*SESSION, numbered=False), odd]
    told = CodexNativeAppend().lines_to_append(
        now, [line for line in now if b"Because" not in line], OPERATION
    )
    assert odd[odd.index(b'{"role"') : odd.rindex(b"}")] in told[0]


def test_nothing_is_appended_where_it_reads_so_already() -> None:
    now = lines(*SESSION)
    assert block(now, now) == []
    again = [*now, *CodexNativeAppend().lines_to_append(now, without(TALK[1]), OPERATION)]
    assert block(again, without(TALK[1])) == []


def test_an_item_that_is_not_known_is_not_left_out() -> None:
    unknown = {"type": "response_item", "payload": {"type": "hologram", "id": "h"}}
    now = lines(*SESSION, unknown)
    with pytest.raises(UsageError, match="an item of an unknown type"):
        block(now, [line for line in now if b"Because" not in line])


def test_it_is_no_compaction_by_the_client() -> None:
    now = lines(*SESSION)
    read = parse(
        [*now, *CodexNativeAppend().lines_to_append(now, without(TALK[1]), OPERATION)], Codex()
    )
    assert read.compactions.lines == ()
    assert read.compactions.own_history_lines == (len(SESSION),)
    assert not read.compactions.by_client


def test_the_newest_message_is_found_among_items_of_equal_content() -> None:
    """Records have times, which the items in a history have not."""
    go_on = item("user", "Continue.")
    now = lines(META, go_on, item("assistant", "One."), go_on, item("assistant", "Two."), go_on)
    newest = parse(now, Codex()).effective[-1]
    summary = item(
        "user",
        "Two parts are done.",
        condenseId="c1",
        compactctl={"op": OPERATION, "through": base_id(newest.id)},
    )
    told = CodexNativeAppend().lines_to_append(now, [now[0], *lines(summary), *now[1:]], OPERATION)
    more = [item("assistant", "Three."), go_on]
    messages = parse([*now, *told, *lines(*more)], Codex()).effective
    [place] = [place for place in edit_points(messages).values() if place is not None]
    assert place == len(messages) - 1 - len(more)
