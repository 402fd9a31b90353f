"""What of OpenCode's records is never sent: what the client shows, and its own state.

Each field is named with the object that has it: elsewhere, a field of this name may be sent.
"""

from collections.abc import Mapping
from typing import Any

from compactctl.clients.opencode.parts import (
    NextRequest,
    interrupted_output,
    is_sent,
    is_sent_as_text,
)
from compactctl.clients.opencode.record_kinds import PARTS
from compactctl.clients.records.json_values import list_or_empty, object_or_empty, text_or_empty
from compactctl.clients.records.unread import COMMON_UNSENT, UnsentFields

# A new part may have its text in ``metadata``; whose are not sent is listed below.
UNSENT = UnsentFields(keys=COMMON_UNSENT.keys, labels=COMMON_UNSENT.labels - {"metadata"})
"""The fields that no object of a record sends."""
# Of ``info``: what a prompt changed, the error of a request without an answer, and folders.
_INFO = frozenset({"summary", "error", "path"})
# Of these parts, the metadata are of the provider, and of the client in calls.
_WITH_METADATA = frozenset({"text", "reasoning", "tool"})
_STATE = frozenset({"metadata", "title"})
_SOURCE = frozenset({"path"})


def without_unsent(record: Mapping[str, Any], request: NextRequest) -> Mapping[str, Any]:
    """Return a record without what is never sent; all other values keep their paths."""
    info = object_or_empty(record.get("info"))
    return {
        **record,
        "info": _without(record.get("info"), _INFO),
        "parts": [_sent_fields(part, info, request) for part in list_or_empty(record.get("parts"))],
    }


def _sent_fields(part: object, info: Mapping[str, Any], request: NextRequest) -> object:
    if not isinstance(part, Mapping):
        return part
    kind = text_or_empty(part.get("type"))
    if kind in PARTS and PARTS[kind].effect == "never sent":
        return {}
    names = frozenset({"metadata"}) if kind in _WITH_METADATA else frozenset[str]()
    if not is_sent(part, info, request):
        names |= {"text"}
    if kind == "file" and is_sent_as_text(part):
        names |= {"url"}
    fields = object_or_empty(_without(part, names))
    if kind == "tool" and "state" in part:
        return {**fields, "state": _sent_state(part["state"])}
    if kind == "file" and "source" in part:
        return {**fields, "source": _without(part["source"], _SOURCE)}
    return fields


def _sent_state(state: object) -> object:
    output = interrupted_output(object_or_empty(state))
    if output is None:
        return _without(state, _STATE)
    fields = object_or_empty(_without(state, _STATE | {"error"}))
    return {**fields, "metadata": {"output": output}}


def _without(value: object, names: frozenset[str]) -> object:
    if not isinstance(value, Mapping):
        return value
    return {name: inner for name, inner in value.items() if name not in names}
