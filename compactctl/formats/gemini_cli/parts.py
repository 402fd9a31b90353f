"""The parts of Gemini CLI's messages, as the client sends them to the model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from compactctl.formats.content import gemini
from compactctl.formats.records.json_values import object_or_empty, text_or_empty
from compactctl.model.message import CallId, JsonPath, Part, ToolCallPart, ToolResultPart


def content_parts(content: object, path: JsonPath) -> tuple[Part, ...]:
    """Return what is sent of a message's content, which is a text, a part, or a list of them.

    Thoughts are stored and not sent again.
    """
    return tuple(map(_identified, gemini.content_parts(content, path, thoughts=False)))


def tool_parts(
    tools: Sequence[Any], path: JsonPath, *, are_called: bool
) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Return the calls of a message's ``toolCalls``, and their results.

    ``are_called`` says that the calls stand in the content, which is sent as it is then.
    """
    calls: list[Part] = []
    results: list[Part] = []
    for index, value in enumerate(tools):
        found, at = object_or_empty(value), (*path, index)
        tool = {**found, "id": text_or_empty(found.get("id")) or _named(at)}
        if not are_called:
            calls.append(gemini.call_part(tool, at))
        results += _results(tool, at)
    return tuple(calls), tuple(results)


def _results(tool: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
    result, at = tool.get("result"), (*path, "result")
    if isinstance(result, str) and result:
        yield ToolResultPart(
            call_id=CallId(tool["id"]),
            tool=text_or_empty(tool.get("name")),
            text=result,
            is_error=tool.get("status") == "error",
            path=at,
        )
    else:
        yield from content_parts(result or [], at)


def _identified(part: Part) -> Part:
    """Return a call or a result with an id of its own where the client wrote none."""
    if isinstance(part, ToolCallPart | ToolResultPart) and not part.call_id:
        return replace(part, call_id=CallId(_named(part.path)))
    return part


def _named(path: JsonPath) -> str:
    return "call-" + ".".join(map(str, path))
