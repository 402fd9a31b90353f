"""What stands in the place of a part that is rewritten, in the shape its format stores it in."""

import json
from collections.abc import Callable

from compactctl.model.message import Part, ToolCallPart, is_replaceable


def rewrite_value(
    part: Part, current: object, text: str, new_content: Callable[[Part, object, str], object]
) -> object:
    """Return what stands in the place of ``current`` once a part's content is ``text``.

    ``new_content`` gives that for all but a call's arguments, of which an object stays one.

    Raises:
        ValueError: the part cannot be rewritten, or ``new_arguments`` refuses.
    """
    if not is_replaceable(part):
        raise ValueError(f"a {type(part).__name__} has no replaceable content")
    if isinstance(part, ToolCallPart):
        return new_arguments(part, current, text)
    return new_content(part, current, text)


def new_arguments(call: ToolCallPart, current: object, text: str) -> object:
    """Return the JSON text ``text`` as it stands at the call's path: as text, or as its value.

    Raises:
        ValueError: the call is written inside a text, or ``text`` is no JSON where a value stands.
    """
    if call.embedded:
        raise ValueError("a ToolCallPart inside a text has no replaceable content")
    return text if isinstance(current, str) else json.loads(text, strict=False)
