"""What a client is given as text: files of ours, and settings with our entries."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from compactctl.commands.integrations.clients import AFTER, BEFORE, STARTED, Pieces
from compactctl.commands.integrations.settings_text import (
    value_at,
    with_item,
    with_member,
    without_items,
    without_member,
)

_PROGRAM, _CLIENT = "@COMPACTCTL@", "@CLIENT@"
# Seconds after which a client goes on without a hook.
_TIMEOUT = 60
_STATUS_LINE = "statusLine"
_EVENTS = (BEFORE, AFTER, STARTED)
_OUR_COMMAND = re.compile(r"compactctl['\"]? (?:hook|statusline)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """Which client, the command that runs compactctl, and whether a hook refuses."""

    client: str
    program: str
    block_manual: bool = False


def file_text(name: str, wish: Wish) -> str:
    """Return a file of ours, as it is for a client."""
    text = (files("compactctl.commands.integrations") / "files" / name).read_text("utf-8")
    is_code = not name.endswith(".md")
    program = json.dumps(wish.program)[1:-1] if is_code else wish.program
    return text.replace(_PROGRAM, program).replace(_CLIENT, wish.client)


def with_ours(text: str, wish: Wish, pieces: Pieces) -> str:
    """Return settings with our entries. Raises NotUnderstoodError where these cannot stand."""
    for event, item in _items(wish):
        text = with_item(text, ("hooks", event), item)
    if pieces.has_status_line and value_at(text, _STATUS_LINE) is None:
        command = {"type": "command", "command": f"{wish.program} statusline"}
        text = with_member(text, (_STATUS_LINE,), command)
    return text


def without_ours(text: str) -> str:
    """Return settings without our entries. Raises NotUnderstoodError for what is not JSON."""
    for event in _EVENTS:
        text = without_items(text, ("hooks", event), _is_ours)
    if _is_our_command(value_at(text, _STATUS_LINE)):
        text = without_member(text, (_STATUS_LINE,))
    return text


def _items(wish: Wish) -> Iterator[tuple[str, dict[str, Any]]]:
    command = f"{wish.program} hook {wish.client}"
    if wish.block_manual:
        yield BEFORE, {"matcher": "manual", "hooks": [_hook(f"{command} --block-manual")]}
    yield AFTER, {"hooks": [_hook(command)]}
    yield STARTED, {"matcher": "compact", "hooks": [_hook(command)]}


def _hook(command: str) -> dict[str, Any]:
    return {"type": "command", "command": command, "timeout": _TIMEOUT}


def _is_ours(item: Any) -> bool:  # noqa: ANN401 - JSON
    hooks = item.get("hooks") if isinstance(item, dict) else None
    return isinstance(hooks, list) and bool(hooks) and all(map(_is_our_command, hooks))


def _is_our_command(value: Any) -> bool:  # noqa: ANN401 - JSON
    command = value.get("command") if isinstance(value, dict) else None
    return isinstance(command, str) and bool(_OUR_COMMAND.search(command))
