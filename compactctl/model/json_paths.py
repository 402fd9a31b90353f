"""What stands at a path in a JSON value, also in one that is written as a text."""

import json
from collections.abc import Mapping
from typing import Any

from compactctl.model.message import JsonPath


def value_at(value: Any, path: JsonPath) -> Any:  # noqa: ANN401 - JSON is any value
    """Return what stands at ``path``, None where that leads nowhere.

    A path leads through a text that holds JSON as if the value stood there itself.
    """
    for step in path:
        holder = json_in(value)
        if isinstance(holder, Mapping):
            value = holder.get(step)
        elif isinstance(holder, list) and isinstance(step, int) and step < len(holder):
            value = holder[step]
        else:
            value = None
    return value


def json_in(value: Any) -> Any:  # noqa: ANN401 - JSON is any value
    """Return the JSON that a text holds, or a text in it; other values and texts as they are."""
    while isinstance(value, str):
        try:
            value = json.loads(value, strict=False)
        except (ValueError, RecursionError):
            break
    return value
