"""What Anthropic's API cleared from a request, by the fields of request and response."""

from collections.abc import Mapping
from typing import Any

from compactctl.clients.records.json_values import (
    integer_or_none,
    list_or_empty,
    object_or_empty,
    text_or_empty,
)
from compactctl.model.message import Clearing

CONTEXT_EDITS = "context_management"
"""The key of the rules in a request, and of the edits that were applied in a response."""
# A date follows, as in ``clear_tool_uses_20250919``.
_CLEAR_TOOLS, _CLEAR_THINKING = "clear_tool_uses", "clear_thinking"
# How many of the newest tool results, and of the newest turns with reasoning, stay by default.
_KEPT_TOOL_USES, _KEPT_TURNS = 3, 1


def applied_edits(response: Mapping[str, Any]) -> list[Any]:
    """Return what the API did to the context before it wrote a response."""
    return list_or_empty(object_or_empty(response.get(CONTEXT_EDITS)).get("applied_edits"))


def clearing_of(response: Mapping[str, Any], request: Mapping[str, Any]) -> Clearing | None:
    """Return what the API cleared for a response by the rules of the request; None if nothing.

    Without its rule, the number of results is not enough to tell which were cleared::

        request   {"edits": [{"type": "clear_tool_uses_20250919", "keep": {"value": 3}}]}
        response  {"applied_edits": [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 7}]}
    """
    edits = applied_edits(response)
    rules = list_or_empty(object_or_empty(request.get(CONTEXT_EDITS)).get("edits"))
    if not (edits and rules):
        return None
    tool_rule, thinking_rule = _edit(rules, _CLEAR_TOOLS), _edit(rules, _CLEAR_THINKING)
    return Clearing(
        tool_uses=_count(tool_rule, _edit(edits, _CLEAR_TOOLS), "cleared_tool_uses"),
        kept_tool_uses=_count_to_keep(tool_rule, _KEPT_TOOL_USES),
        thinking_turns=_count(
            thinking_rule, _edit(edits, _CLEAR_THINKING), "cleared_thinking_turns"
        ),
        kept_turns=_count_to_keep(thinking_rule, _KEPT_TURNS),
        spared_tools=frozenset(map(text_or_empty, list_or_empty(tool_rule.get("exclude_tools")))),
        input_tools=_input_tools(tool_rule.get("clear_tool_inputs")),
    )


def _edit(edits: list[Any], kind: str) -> Mapping[str, Any]:
    edits_of_kind = (
        edit
        for edit in map(object_or_empty, edits)
        if text_or_empty(edit.get("type")).startswith(kind)
    )
    return next(edits_of_kind, {})


def _count(rule: Mapping[str, Any], edit: Mapping[str, Any], key: str) -> int:
    return max(0, integer_or_none(edit.get(key)) or 0) if rule else 0


def _count_to_keep(rule: Mapping[str, Any], default: int) -> int:
    value = integer_or_none(object_or_empty(rule.get("keep")).get("value"))
    return default if value is None else value


def _input_tools(value: object) -> frozenset[str] | None:
    """Return the tools whose arguments a rule clears: all, or those it lists."""
    return None if value is True else frozenset(map(text_or_empty, list_or_empty(value)))
