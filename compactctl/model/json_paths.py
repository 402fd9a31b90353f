"""Look up a path in a JSON value, also through strings that hold JSON themselves."""

from collections.abc import Mapping
from typing import Any

from compactctl.model.json_parser import parse_json
from compactctl.model.message import JsonPath


def value_at(value: Any, path: JsonPath) -> Any:  # noqa: ANN401 - JSON is any value
    """Return the value at ``path``, None if there is none.

    A string that holds JSON counts as the value in it::

        value_at({"arguments": '{"path": "a.py"}'}, ("arguments", "path"))  ->  "a.py"
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
    """Decode a string as JSON for as long as the result is one; return anything else unchanged."""
    text = None
    # The text of a huge number is that number.
    while isinstance(value, str) and value != text:
        text = value
        try:
            value = parse_json(text, strict=False)
        except ValueError:
            break
    return value
