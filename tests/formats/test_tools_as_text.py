"""Tools that a data set stores as JSON text are the tools that they would be as a list."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from compactctl.clients.content.tool_definitions import tool_definitions
from compactctl.commands.reading.transcript import parse, split
from compactctl.model.message import ToolDefinitionPart

SCHEMA = {"type": "object", "properties": {"harbor": {"type": "string", "description": 'A "name"'}}}
WORDS = "Looks up the timetable of a harbor and returns all departures. " * 9
ASKED = [{"role": "user", "content": "When does the ferry leave?"}]
ANSWERED = [*ASKED, {"role": "assistant", "content": "At nine."}]
CONVERSE = [{"role": "user", "content": [{"text": "When does the ferry leave?"}]}]
CONTENTS = [{"role": "user", "parts": [{"text": "When does the ferry leave?"}]}]


def functions(key: str) -> list[dict[str, Any]]:
    return [{"name": f"tool_{n}", "description": WORDS, key: SCHEMA} for n in range(3)]


# For each API, its tools and a request with them.
REQUESTS: Mapping[str, tuple[list[Any], Callable[[Any], dict[str, Any]]]] = {
    "openai-chat": (
        [{"type": "function", "function": f} for f in functions("parameters")],
        lambda tools: {"messages": ANSWERED, "tools": tools},
    ),
    "openai-chat functions": (
        functions("parameters"),
        lambda tools: {"messages": ANSWERED, "functions": tools},
    ),
    "anthropic-messages": (
        functions("input_schema"),
        lambda tools: {
            "model": "claude-sonnet-4-5", "max_tokens": 9, "system": "Be brief.",
            "messages": ASKED, "tools": tools},
    ),
    "openai-responses": (
        [{"type": "function", **f} for f in functions("parameters")],
        lambda tools: {"model": "gpt-5", "input": ASKED, "tools": tools},
    ),
    "bedrock-converse": (
        [{"toolSpec": f} for f in functions("inputSchema")],
        lambda tools: {"messages": CONVERSE, "toolConfig": {"tools": tools}},
    ),
    "gemini-api": (
        [{"functionDeclarations": functions("parameters")}],
        lambda tools: {"contents": CONTENTS, "tools": tools},
    ),
}  # fmt: skip
SPELLINGS: Mapping[str, Callable[[list[Any]], Any]] = {
    "text": json.dumps,
    "indented text": lambda tools: json.dumps(tools, indent=2),
    "text in text": lambda tools: json.dumps(json.dumps(tools)),
    "list of texts": lambda tools: [json.dumps(tool) for tool in tools],
}


def definitions(request: dict[str, Any]) -> list[tuple[str, str]]:
    transcript = parse(*split([json.dumps(request).encode()], "test", None))
    assert not transcript.unread.fields
    parts = [part for message in transcript.effective for part in message.parts]
    return [(part.name, part.text) for part in parts if isinstance(part, ToolDefinitionPart)]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("api", REQUESTS)
def test_tools_as_text_are_the_same_tools(api: str, spelling: str) -> None:
    tools, request = REQUESTS[api]
    expected = definitions(request(tools))
    assert [name for name, _ in expected] == ["tool_0", "tool_1", "tool_2"]
    assert definitions(request(SPELLINGS[spelling](tools))) == expected


@pytest.mark.parametrize("value", [None, "", " ", "[]", "null", [], {}, 7])
def test_no_tools_are_no_definitions(value: object) -> None:
    assert tool_definitions(value, ("tools",)) == ()


@pytest.mark.parametrize("value", ["look_up(harbor)", '{"look_up": {"harbor": "string"}}'])
def test_other_text_is_a_single_definition(value: str) -> None:
    (part,) = tool_definitions(value, ("tools",))
    assert (part.name, part.text, part.path) == ("", value, ("tools",))
