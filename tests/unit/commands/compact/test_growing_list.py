"""Compactions of a growing list give the same with what earlier ones computed as without it."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from examples import tries
from hypothesis import given
from hypothesis import strategies as st

from compactctl.commands.compact.in_memory import CompactedLines, compact_lines
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.commands.reading.transcript import InputOptions
from compactctl.tokens.budget import TargetSize
from compactctl.tokens.meter import Meter

Message = dict[str, Any]
# What a step adds: the kind of its call, and which file or words it is about.
STEPS = st.lists(
    st.tuples(st.sampled_from(("read", "edit", "run", "fail", "ask")), st.integers(0, 4)),
    min_size=8,
    max_size=24,
)
STAGES = {"default": (), "digest": ("distill",), "summary": ("summarize",)}
SETTINGS = {"digest": {"distill": {"form": "digest"}}}


def steps_in_openai(steps: Sequence[tuple[str, int]]) -> Iterator[Message]:
    yield {"role": "user", "content": "Port the quay to v2. Never touch the tests."}
    for number, (kind, subject) in enumerate(steps):
        if kind == "ask":
            yield {"role": "user", "content": f"Also moor berth_{subject} before {number} o'clock."}
            continue
        arguments, output = work(kind, subject, number)
        tool = "shell" if kind in {"run", "fail"} else f"{kind}_file"
        function = {"name": tool, "arguments": json.dumps(arguments)}
        calls = [{"id": f"c{number}", "type": "function", "function": function}]
        yield {"role": "assistant", "content": f"Now {kind} {number}.", "tool_calls": calls}
        yield {"role": "tool", "tool_call_id": f"c{number}", "content": output}


def work(kind: str, subject: int, number: int) -> tuple[dict[str, str], str]:
    """Return the arguments of a call, and what it shows."""
    path, lines = f"src/quay_{subject}.py", [f"berth_{subject}_{n} = moor({n})" for n in range(9)]
    match kind:
        case "read":
            return {"path": path}, "\n".join(f"{n}\t{line}" for n, line in enumerate(lines, 1))
        case "edit":
            edit = {"old_string": lines[2], "new_string": f"berth_{subject}_2 = leave({number})"}
            return {"path": path, **edit}, "The file was updated."
        case "run":
            return {"command": f"pytest -k quay_{subject}"}, f"{number} passed in 1.2s"
        case _:
            return {
                "command": f"make quay_{subject}"
            }, f"OSError: pier_{number} is full\nexit code 1"


def in_anthropic(messages: Sequence[Message]) -> Iterator[Message]:
    for message in messages:
        match message:
            case {"tool_calls": [{"id": name, "function": function}]}:
                call = {"type": "tool_use", "id": name, "name": function["name"]}
                text = {"type": "text", "text": message["content"]}
                content = [text, {**call, "input": json.loads(function["arguments"])}]
                yield {"role": "assistant", "content": content}
            case {"tool_call_id": name, "content": output}:
                result = {"type": "tool_result", "tool_use_id": name, "content": output}
                yield {"role": "user", "content": [result]}
            case _:
                yield message


def compacted(
    messages: Sequence[Message], format_name: str, way: str, share: int, meter: Meter | None
) -> CompactedLines:
    lines = [json.dumps(message).encode() + b"\n" for message in messages]
    target = TargetSize(value=max(1, len(b"".join(lines)) * share // 400), unit="tokens")
    recipe = Recipe(
        measure=MeasureOptions(counter="o200k_base"),
        plan=PlanOptions(stages=STAGES[way], settings=SETTINGS.get(way, {}), target=target),
    )
    return compact_lines(lines, InputOptions(path="m", format=format_name), recipe, meter=meter)


@pytest.mark.parametrize("way", STAGES)
@pytest.mark.parametrize("format_name", ["openai-chat", "anthropic-messages"])
@tries(20)
@given(steps=STEPS, share=st.integers(20, 70), cuts=st.integers(2, 4))
def test_what_is_remembered_changes_nothing(
    format_name: str, way: str, steps: list[tuple[str, int]], share: int, cuts: int
) -> None:
    messages = list(steps_in_openai(steps))
    if format_name != "openai-chat":
        messages = list(in_anthropic(messages))
    meter: Meter | None = None
    for cut in range(1, cuts + 1):
        start = messages[: len(messages) * cut // cuts]
        alone = compacted(start, format_name, way, share, None)
        later = compacted(start, format_name, way, share, meter)
        assert [line.data for line in later.lines] == [line.data for line in alone.lines]
        assert later.run.outcome == alone.run.outcome
        meter = later.measured.meter


def test_a_list_that_has_begun_anew_finds_nothing_of_the_other() -> None:
    first, second = (
        list(steps_in_openai([("read", n), ("edit", n), ("ask", n), ("fail", n)] * 4))
        for n in (0, 3)
    )
    meter = compacted(first, "openai-chat", "default", 40, None).measured.meter
    alone = compacted(second, "openai-chat", "default", 40, None)
    assert compacted(second, "openai-chat", "default", 40, meter).lines == alone.lines
