"""What a client is given as text: files of ours, and settings with our entries."""

import json
import re
import shlex
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
# The program as it was found by this or an earlier install: by name, by path, or as a module.
_OUR_PROGRAM = re.compile(
    r"(?:(?:/|[A-Za-z]:[\\/]).*[\\/])?(?:compactctl(?:\.exe)?|(?:python|pypy)[\w.]*\0-m\0compactctl)"
)
_OUR_ARGUMENTS = re.compile(r"statusline|hook\0[a-z-]+(?:\0--block-manual)?")


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
    """Tell whether a command is one that ``integrate`` writes, and nothing besides."""
    command = value.get("command") if isinstance(value, dict) else None
    if not isinstance(command, str):
        return False
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    # A shell sees more than words in a command that is written in any other way.
    if shlex.join(words) != command:
        return False
    return any(
        _OUR_PROGRAM.fullmatch("\0".join(words[:at]))
        and _OUR_ARGUMENTS.fullmatch("\0".join(words[at:]))
        for at in (1, 3)
    )
