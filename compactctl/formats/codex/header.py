"""What a Codex session header says the model is sent before everything else."""

from collections.abc import Mapping
from typing import Any

from compactctl.formats.content.tool_definitions import tool_definitions
from compactctl.model.message import JsonPath, Part, TextPart, ToolDefinitionPart


def header_parts(payload: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    """Return the base instructions and the client's own tools; () when there are none."""
    return (*_instructions(payload, path), *_tools(payload, path))


def _instructions(payload: Mapping[str, Any], path: JsonPath) -> tuple[TextPart, ...]:
    base = payload.get("base_instructions")
    if isinstance(base, Mapping):
        return _text(base.get("text"), (*path, "base_instructions", "text"))
    if isinstance(base, str):
        return _text(base, (*path, "base_instructions"))
    return _text(payload.get("instructions"), (*path, "instructions"))


def _text(value: object, path: JsonPath) -> tuple[TextPart, ...]:
    return (TextPart(text=value, path=path),) if isinstance(value, str) and value else ()


def _tools(payload: Mapping[str, Any], path: JsonPath) -> tuple[ToolDefinitionPart, ...]:
    """Return the dynamic tools, but for those the model is only told of when it searches."""
    tools = payload.get("dynamic_tools")
    parts = tool_definitions(tools, (*path, "dynamic_tools"))
    if not isinstance(tools, list):
        return ()
    return tuple(part for part, tool in zip(parts, tools, strict=True) if not _is_deferred(tool))


def _is_deferred(tool: object) -> bool:
    return isinstance(tool, Mapping) and tool.get("deferLoading") is True
