"""Reasoning in chat messages, which each provider stores under a different key."""

from collections.abc import Callable, Mapping
from typing import Any

from compactctl.clients.content.anthropic import content_parts
from compactctl.clients.records.json_values import list_or_empty, text_or_empty
from compactctl.model.message import JsonPath, Part, ReasoningPart


def reasoning_parts(record: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    """Return the reasoning of a message from the first field that has any; others repeat it."""
    for name, read in _FIELDS.items():
        parts = read(record.get(name), (*path, name))
        if parts:
            return parts
    return ()


def _plain(value: object, path: JsonPath) -> tuple[Part, ...]:
    return (ReasoningPart(text=value, path=path),) if isinstance(value, str) and value else ()


def _details(value: object, path: JsonPath) -> tuple[Part, ...]:
    return tuple(
        _detail(item, (*path, index))
        for index, item in enumerate(list_or_empty(value))
        if isinstance(item, Mapping)
    )


def _detail(item: Mapping[str, Any], path: JsonPath) -> ReasoningPart:
    for key in ("text", "summary"):
        if isinstance(item.get(key), str):
            return ReasoningPart(text=item[key], path=(*path, key))
    sealed = len(text_or_empty(item.get("data")))
    return ReasoningPart(text="", opaque=True, sealed=sealed, path=(*path, "data"))


# DeepSeek and LiteLLM; OpenRouter; Ollama; LiteLLM with Anthropic models; OpenRouter with
# signatures.
_FIELDS: Mapping[str, Callable[[object, JsonPath], tuple[Part, ...]]] = {
    "reasoning_content": _plain,
    "reasoning": _plain,
    "thinking": _plain,
    "thinking_blocks": content_parts,
    "reasoning_details": _details,
}
