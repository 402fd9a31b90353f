"""Arguments of tool calls without their long texts: the same JSON, with placeholders in it."""

import json
import re

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
    limit = max(over, len(placeholder))
    if call.embedded or len(call.arguments) <= limit or not _is_structured(call.arguments):
        return call.arguments
    short = json.dumps(placeholder, ensure_ascii=False)

    def shortened(found: re.Match[str]) -> str:
        is_key = found[2] is not None
        return found[0] if is_key or _length(found[1]) <= limit else short

    return _STRING.sub(shortened, call.arguments)


def _is_structured(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments, strict=False), dict | list)
    except (ValueError, RecursionError):
        return False


def _length(string: str) -> int:
    return len(json.loads(string, strict=False))
