"""Where the parts of a logged request stand in the row that a gateway, SDK or proxy wrote."""

from collections.abc import Mapping
from typing import Any

from compactctl.formats.records.chat_log import LogRow, value_at
from compactctl.model.message import JsonPath

# What APIs call the messages of a request.
_MEMBERS = ("messages", "contents")
# An answer is logged beside the request, or its fields among those of the request.
_ANSWERS: tuple[JsonPath, ...] = (("response",), ())


def row_of(value: Mapping[str, Any]) -> LogRow | None:
    """Return where things stand in an object that holds a request, None where it holds none."""
    members = next((name for name in _MEMBERS if isinstance(value.get(name), list)), None)
    if members is None:
        return None
    answers = (path for path in _ANSWERS if isinstance(value_at(value, path), Mapping))
    return LogRow((), (members,), next(answers, None))
