"""Trajectories of mini-SWE-agent: commands and their outputs are text, usage is beside it."""

from typing import Any

import pytest
from formats.jsonl import detected, read

from compactctl.model.message import TextPart, ToolCallPart, ToolResultPart
from compactctl.model.transcript import Transcript

TASK = "The parser drops the last line."
ANSWER = "THOUGHT: look first.\n\n```bash\nls -la\n```"
OUTPUT = "<returncode>0</returncode>\n<output>\nparser.py tests\n</output>"
FAILURE = "<returncode>2</returncode>\n<output>\nno such file\n</output>"
USAGE = {"prompt_tokens": 1234, "completion_tokens": 30, "total_tokens": 1264}


def said(text: str) -> dict[str, Any]:
    response = {"id": "r1", "usage": USAGE}
    return {"role": "assistant", "content": text, "extra": {"response": response}}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def document(*messages: dict[str, Any]) -> dict[str, Any]:
    return {
        "info": {"config": {"model": {"model_name": "anthropic/claude-sonnet-4-5"}}},
        "messages": [user(TASK), *messages],
        "trajectory_format": "mini-swe-agent-1",
    }


def trajectory(*messages: dict[str, Any]) -> Transcript:
    return read("mini-swe-agent", document(*messages))


def test_documents_are_known_by_their_version_and_arrays_by_a_command_with_its_output() -> None:
    assert detected(document()) == "mini-swe-agent"
    assert detected([user(TASK), said(ANSWER), user(OUTPUT)]) == "mini-swe-agent"
    assert detected([user(TASK), said("Done."), user(OUTPUT)]) == "openai-chat"
    assert detected([user(TASK), said(ANSWER), user("Thanks.")]) == "openai-chat"


def test_an_array_without_commands_is_known_by_the_prompt_that_asks_for_them() -> None:
    asked = {"role": "system", "content": "Answer so:\n```mswea_bash_command\nls\n```"}
    assert detected([asked, user(TASK), said("Done.")]) == "mini-swe-agent"
    asked = {"role": "system", "content": "Answer so:\n```bash\nls\n```"}
    assert detected([asked, user(TASK), said("Done.")]) == "openai-chat"


@pytest.mark.parametrize("fence", ["bash", "mswea_bash_command"])
def test_a_command_and_the_message_after_it_are_a_pair(fence: str) -> None:
    answer = said(ANSWER.replace("bash", fence))
    task, call, result = trajectory(answer, user(OUTPUT)).messages
    assert (task.role, task.results) == ("user", ())
    assert [type(part) for part in call.parts] == [TextPart, ToolCallPart]
    assert call.calls[0].arguments == '{"command":"ls -la"}'
    assert (result.role, result.results[0].text) == ("tool", OUTPUT)
    assert result.results[0].call_id == call.calls[0].call_id
    assert not result.results[0].has_failed


def test_a_command_that_fails_is_an_error() -> None:
    assert trajectory(said(ANSWER), user(FAILURE)).messages[-1].results[0].has_failed


def test_an_answer_without_exactly_one_command_gets_no_output() -> None:
    for answer in ("I am done.", f"{ANSWER}\n{ANSWER}"):
        complaint = trajectory(said(answer), user("Please send ONE command.")).messages[-1]
        assert (complaint.role, complaint.results) == ("user", ())


def test_model_and_usage_are_those_of_the_answer() -> None:
    transcript = trajectory(said(ANSWER), user(OUTPUT))
    assert transcript.session.model == "anthropic/claude-sonnet-4-5"
    usage = transcript.messages[1].usage
    assert usage is not None
    assert (usage.context, usage.output) == (1234, 30)


def test_tool_calls_of_version_2_are_joined_by_id() -> None:
    function = {"name": "bash", "arguments": '{"command": "ls"}'}
    calls = [{"id": "c1", "type": "function", "function": function}]
    call = {"role": "assistant", "content": "Look.", "tool_calls": calls}
    result = {"role": "tool", "tool_call_id": "c1", "content": OUTPUT}
    answer = trajectory(call, result).messages[-1]
    assert isinstance(answer.parts[0], ToolResultPart)
    assert answer.results[0].call_id == "c1"


def test_how_a_run_ended_is_not_sent() -> None:
    transcript = trajectory(said("Done."), {"role": "exit", "content": "Submitted"})
    assert len(transcript.messages) == 2
    assert transcript.metadata["end of the run"].count == 1
    assert transcript.opaque == ()
