"""Parse the tool definitions of a request."""

from collections.abc import Mapping
from typing import Any

from compactctl.formats.records.json_values import json_text, list_or_empty
from compactctl.model.message import JsonPath, ToolDefinitionPart


def tool_definitions(value: object, path: JsonPath) -> tuple[ToolDefinitionPart, ...]:
    """Return one part per tool of a list; a list that is stored as JSON text is a single part."""
    if isinstance(value, str) and value.strip() not in ("", "[]"):
        return (ToolDefinitionPart(name="", text=value, path=path),)
    return tuple(
        _definition(tool, (*path, index)) for index, tool in enumerate(list_or_empty(value))
    )


def _definition(tool: Any, path: JsonPath) -> ToolDefinitionPart:  # noqa: ANN401 - JSON is any value
    inner = tool.get("function", tool) if isinstance(tool, Mapping) else tool
    name = inner.get("name") if isinstance(inner, Mapping) else None
    if not isinstance(name, str):
        return ToolDefinitionPart(name="", text=json_text(tool), path=path)
    definition = {key: value for key, value in inner.items() if key != "name"}
    return ToolDefinitionPart(name=name, text=json_text(definition), path=path)
