"""After a compaction messages stand in an order that their API takes."""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from file_commands import compact_file, load_file, rewind_file
from formats.content.block_kinds import words
from formats.content.one_stage_plans import STAGES
from stage_examples import EXAMPLES
from unit.commands.planning.planned import FAST, plan_of, with_fate

from compactctl import compact_messages
from compactctl.commands.planning.plan import PlanOptions
from compactctl.pipeline.layout import Layout
from compactctl.records import replace

Record = dict[str, Any]

TURNS = 6


def converse() -> Iterator[Record]:
    for turn in range(TURNS):
        named = {"toolUseId": f"t{turn}"}
        call = {**named, "name": "read_log", "input": {"path": f"{turn}.log"}}
        result = {**named, "content": [{"text": words(turn, 60)}]}
        yield {"role": "user", "content": [{"text": f"Look at part {turn}. {words(turn, 4)}"}]}
        yield {"role": "assistant", "content": [{"toolUse": call}]}
        yield {"role": "user", "content": [{"toolResult": result}]}
        yield {"role": "assistant", "content": [{"text": words(turn, 20)}]}
    yield {"role": "user", "content": [{"text": "And now?"}]}


def talk_with_reminders() -> Iterator[Record]:
    for turn in range(TURNS):
        call = {"type": "tool_use", "id": f"t{turn}", "name": "read_log", "input": {"part": turn}}
        result = {"type": "tool_result", "tool_use_id": f"t{turn}", "content": words(turn, 60)}
        yield {"role": "user", "content": f"Look at part {turn}. {words(turn, 4)}"}
        yield {"role": "system", "content": f"Reminder {turn}: keep the log short."}
        yield {"role": "assistant", "content": [call]}
        yield {"role": "user", "content": [result]}
        yield {"role": "system", "content": f"Reminder {turn}: never delete a manifest."}
        yield {"role": "assistant", "content": words(turn, 20)}
    yield {"role": "user", "content": "And now?"}


def contents() -> Iterator[Record]:
    for turn in range(TURNS):
        call = {"name": "read_log", "args": {"part": turn}}
        result = {"name": "read_log", "response": {"output": words(turn, 60)}}
        yield {"role": "user", "parts": [{"text": f"Look at part {turn}. {words(turn, 4)}"}]}
        for _ in range(2):
            yield {"role": "model", "parts": [{"functionCall": call}]}
            yield {"role": "user", "parts": [{"functionResponse": result}]}
        yield {"role": "model", "parts": [{"text": words(turn, 20)}]}
    yield {"role": "user", "parts": [{"text": "And now?"}]}


def mistral() -> Iterator[Record]:
    for turn in range(TURNS):
        function = {"name": "read_log", "arguments": f'{{"part": {turn}}}'}
        call = {"id": f"callnum0{turn}", "type": "function", "function": function}
        yield {"role": "user", "content": f"Look at part {turn}. {words(turn, 4)}"}
        yield {"role": "assistant", "content": "", "tool_calls": [call]}
        yield {"role": "tool", "tool_call_id": call["id"], "content": words(turn, 60)}
        yield {"role": "assistant", "content": words(turn, 20)}
    yield {"role": "user", "content": "And now?"}


def take_turns(first: Record, second: Record) -> bool:
    return bool(first["role"] != second["role"])


def systems_follow_the_user(first: Record, second: Record) -> bool:
    pair = (first["role"], second["role"])
    return "system" not in pair or pair in {("user", "system"), ("system", "assistant")}


def calls_follow_the_user(first: Record, second: Record) -> bool:
    calls = any("functionCall" in part for part in second["parts"])
    return not calls or first["role"] == "user"


def results_are_read(first: Record, second: Record) -> bool:
    return (first["role"], second["role"]) != ("tool", "user")


# A request, where its messages are in it, and which two of them may follow one another.
REQUESTS: Mapping[str, tuple[Record, str, Callable[[Record, Record], bool]]] = {
    "bedrock-converse": (
        {"modelId": "m", "system": [{"text": "Be brief."}], "messages": [*converse()]},
        "messages",
        take_turns,
    ),
    "anthropic-messages": (
        {"model": "claude-opus-4-8", "system": "Be brief.", "messages": [*talk_with_reminders()]},
        "messages",
        systems_follow_the_user,
    ),
    "openai-chat": (
        {"model": "mistral-large-latest", "messages": [*mistral()]},
        "messages",
        results_are_read,
    ),
    "gemini-api": ({"contents": [*contents()]}, "contents", calls_follow_the_user),
}
USUAL = ((), ("prioritize",), ("summarize",), ("recursive",))


@pytest.mark.parametrize("keep", [0.6, 0.2])
@pytest.mark.parametrize(
    "stages",
    [pytest.param(s, marks=() if s in USUAL else pytest.mark.long, id="+".join(s)) for s in STAGES],
)
@pytest.mark.parametrize("name", REQUESTS)
def test_messages_follow_one_another_as_the_api_takes_them(
    name: str, stages: tuple[str, ...], keep: float, tmp_path: Path
) -> None:
    request, members, may_follow = REQUESTS[name]
    path, out = tmp_path / "request.json", tmp_path / "out.json"
    path.write_text(json.dumps(request))
    _compact(path, out, stages, keep)
    messages = json.loads(out.read_text())[members]
    assert messages[0]["role"] == "user"
    assert all(may_follow(*both) for both in pairwise(messages))


@pytest.mark.parametrize("layout", ["split", "inline"])
def test_what_stands_between_messages_is_read_again_and_taken_back(
    layout: Layout, tmp_path: Path
) -> None:
    path, out, again = (tmp_path / name for name in ("request.json", "out.json", "again.json"))
    path.write_text(json.dumps(REQUESTS["bedrock-converse"][0]))
    _compact(path, out, ("distill",), 0.2, layout)
    roles = [message.role == "assistant" for message in load_file(out).transcript.effective[1:]]
    assert all(first != second for first, second in pairwise(roles))
    _compact(out, again, ("distill",), 1, layout)
    assert again.read_bytes() == out.read_bytes()
    rewind_file(out)
    assert out.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("keep", [0.35, 0.4, 0.7])
def test_what_stands_between_messages_fits_into_the_target(keep: float) -> None:
    messages = [*converse()]
    left = compact_messages(messages, format="bedrock-converse", keep=keep, stages="distill")
    assert left != messages
    assert left.fits


def test_a_plan_by_hand_keeps_the_order_too(tmp_path: Path) -> None:
    path, out = tmp_path / "request.json", tmp_path / "out.json"
    path.write_text(json.dumps(REQUESTS["bedrock-converse"][0]))
    _, plan = plan_of(path, "prune")
    # Behind the system prompt, a request, a call and its result.
    answer = with_fate(plan.messages[4], "hidden")
    rows = (*plan.messages[:4], answer, *plan.messages[5:])
    planned = replace(plan, messages=rows)
    compact_file(path, output=out, measure=FAST, plan_file=planned)
    messages = json.loads(out.read_text())["messages"]
    assert "left out" in json.dumps(messages[3])
    assert all(take_turns(*both) for both in pairwise(messages))


def test_a_summary_is_not_joined_to_an_answer_that_begins_with_thinking() -> None:
    messages: list[Record] = [{"role": "user", "content": "Look at all parts."}]
    for step in range(TURNS):
        thought = {"type": "thinking", "thinking": "It is low.", "signature": "EqQB"}
        call = {"type": "tool_use", "id": f"t{step}", "name": "read_log", "input": {"part": step}}
        result = {"type": "tool_result", "tool_use_id": f"t{step}", "content": words(step, 60)}
        messages += [
            {"role": "assistant", "content": [thought, call]},
            {"role": "user", "content": [result]},
        ]
    left = compact_messages(
        messages,
        format="anthropic-messages",
        keep=0.5,
        keep_turns=0,
        stages="recursive",
        stage_options={"recursive": EXAMPLES["recursive"]},
    )
    assert "Summarize" in left[0]["content"]
    assert all(first["role"] != second["role"] for first, second in pairwise(left))


def _compact(
    path: Path, out: Path, stages: tuple[str, ...], keep: float, layout: Layout = "split"
) -> None:
    plan = PlanOptions(stages=stages, keep=keep, settings=EXAMPLES)
    compact_file(path, output=out, layout=layout, plan=plan)
