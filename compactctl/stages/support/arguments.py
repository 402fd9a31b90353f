"""Arguments of tool calls without their long texts: the same JSON, with placeholders in it."""

import json
import re
from collections.abc import Callable

from compactctl.model.message import ToolCallPart

# Codebuddy's, and the characters that it leaves alone.
ARGUMENT_PLACEHOLDER = "[args truncated]"
LONG_TEXT = 200

# A string in JSON that is known to be valid, and whether it is a key.
_STRING = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?', re.DOTALL)


def without_long_texts(call: ToolCallPart, over: int, placeholder: str) -> str:
    """Return a call's arguments with every text of more than ``over`` characters replaced.

    Keys, structure and all other values stay as they are written, so that it remains JSON of the
    same shape. The arguments are returned as they are when nothing in them is replaced: when they
    cannot be, are not an object or array, or no text in them is longer than the placeholder too.
    """
    return with_long_texts(call, max(over, len(placeholder)), lambda _: placeholder)


def with_long_texts(call: ToolCallPart, over: int, reword: Callable[[str], str]) -> str:
    """Return a call's arguments with every text of more than ``over`` characters reworded.

    As in ``without_long_texts`` all else stays as it is.
    """
    if call.embedded or len(call.arguments) <= over or not _structure(call.arguments):
        return call.arguments

    def reworded(found: re.Match[str]) -> str:
        if found[2] is not None:
            return found[0]
        text: str = json.loads(found[1], strict=False)
        return found[0] if len(text) <= over else json.dumps(reword(text), ensure_ascii=False)

    return _STRING.sub(reworded, call.arguments)


def is_alike(old: str, new: str) -> bool:
    """Whether arguments are JSON of the same kind as others: both an object, or both an array."""
    structure = _structure(old)
    return structure is not None and structure is _structure(new)


def _structure(arguments: str) -> type | None:
    try:
        value = json.loads(arguments, strict=False)
    except (ValueError, RecursionError):
        return None
    return type(value) if isinstance(value, dict | list) else None
