"""Parse the tool definitions of a request."""

from collections.abc import Mapping
from typing import Any

from compactctl.clients.records.json_values import json_text
from compactctl.model.json_paths import json_in
from compactctl.model.message import JsonPath, ToolDefinitionPart


def tool_definitions(value: object, path: JsonPath) -> tuple[ToolDefinitionPart, ...]:
    """Return one part per tool of a list; text that holds no list is a single part."""
    tools = json_in(value)
    if isinstance(value, str) and isinstance(tools, str | Mapping) and value.strip():
        return (ToolDefinitionPart(name="", text=value, path=path),)
    return tuple(_definition(tool, (*path, index)) for index, tool in enumerate(tool_list(tools)))


def tool_list(value: object) -> list[Any]:
    """Return the tools of a list; data sets store the list, or each tool, as JSON text."""
    tools = json_in(value)
    return [json_in(tool) for tool in tools] if isinstance(tools, list) else []


def _definition(tool: Any, path: JsonPath) -> ToolDefinitionPart:  # noqa: ANN401 - JSON is any value
    inner = tool.get("function", tool) if isinstance(tool, Mapping) else tool
    name = inner.get("name") if isinstance(inner, Mapping) else None
    if not isinstance(name, str):
        return ToolDefinitionPart(name="", text=json_text(tool), path=path)
    definition = {key: value for key, value in inner.items() if key != "name"}
    return ToolDefinitionPart(name=name, text=json_text(definition), path=path)
