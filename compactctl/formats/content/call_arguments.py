"""New arguments for a tool call, in the shape in which its format stores them."""

import json
from typing import Any

from compactctl.model.message import ToolCallPart


def new_arguments(call: ToolCallPart, current: object, text: str) -> Any:  # noqa: ANN401 - JSON is any value
    """Return the JSON text ``text`` as it stands at the call's path: as text, or as its value.

    Raises:
        ValueError: the call is written inside a text, or ``text`` is no JSON where a value stands.
    """
    if call.embedded:
        raise ValueError("a ToolCallPart inside a text has no replaceable content")
    return text if isinstance(current, str) else json.loads(text, strict=False)
