"""New values of rewritten parts, in the shape in which their format stores them."""

from collections.abc import Callable

from compactctl.model.json_parser import parse_json
from compactctl.model.message import Part, ToolCallPart, is_replaceable


def rewrite_value(
    part: Part, current: object, text: str, new_content: Callable[[Part, object, str], object]
) -> object:
    """Return ``text`` as the new value of a part whose path holds ``current``.

    ``new_content`` shapes everything but the arguments of a call, which keep their JSON type.

    Raises:
        ValueError: the part cannot be rewritten, or see ``new_arguments``.
    """
    if not is_replaceable(part):
        raise ValueError(f"a {type(part).__name__} has no replaceable content")
    if isinstance(part, ToolCallPart):
        return new_arguments(part, current, text)
    return new_content(part, current, text)


def new_arguments(call: ToolCallPart, current: object, text: str) -> object:
    """Return the arguments in the JSON text ``text``: as text if ``current`` is one, else parsed.

    Raises:
        ValueError: the call is part of a text, or ``text`` has to be parsed and is not JSON.
    """
    if call.embedded:
        raise ValueError("a ToolCallPart inside a text has no replaceable content")
    return text if isinstance(current, str) else parse_json(text, strict=False)
