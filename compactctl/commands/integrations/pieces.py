"""What a client is given as text: files of ours, and settings with our entries."""

import hashlib
import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from compactctl.commands.integrations.clients import AFTER, BEFORE, STARTED, ClientFiles
from compactctl.commands.integrations.settings_text import (
    has,
    value_at,
    with_item,
    with_member,
    without,
)

_PROGRAM, _CLIENT, _DIGEST = "@COMPACTCTL@", "@CLIENT@", "@DIGEST@"
_SIGNED = re.compile(rb"Written by compactctl integrate, sha256 ([0-9a-f]{16})")
# Seconds after which a client goes on without a hook.
_TIMEOUT = 60
_STATUS_LINE = "statusLine"
_EVENTS = (BEFORE, AFTER, STARTED)
# The program as it was found by this or an earlier install: by name, by path, or as a module.
_OUR_PROGRAM = re.compile(
    r"(?:(?:/|[A-Za-z]:[\\/]).*[\\/])?(?:compactctl(?:\.exe)?|(?:python|pypy)[\w.]*\0-m\0compactctl)"
)
_Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallRequest:
    """Which client, the command that runs compactctl, and whether a hook refuses."""

    client: str
    program: str
    block_manual: bool = False


def file_text(name: str, request: InstallRequest) -> str:
    """Return a file of ours, as it is for a client."""
    text = (files("compactctl.commands.integrations") / "files" / name).read_text("utf-8")
    is_code = not name.endswith(".md")
    program = json.dumps(request.program)[1:-1] if is_code else request.program
    text = text.replace(_PROGRAM, program).replace(_CLIENT, request.client)
    return text.replace(_DIGEST, _digest(text.encode("utf-8", "surrogateescape")))


def is_written_here(content: bytes) -> bool:
    """Tell whether a file is one of ours, of whatever version, as it was written.

    Line breaks may have become those of Windows.
    """
    text = content.replace(b"\r\n", b"\n")
    found = _SIGNED.search(text)
    if found is None:
        return False
    unsigned = text[: found.start(1)] + _DIGEST.encode() + text[found.end(1) :]
    return found[1].decode() == _digest(unsigned)


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]


def with_ours(text: str, request: InstallRequest, client_files: ClientFiles, like: str) -> str:
    """Return settings with our entries; those that are there already stay as they are.

    Raises NotUnderstoodError where these cannot stand. ``like`` is as in ``without_ours``.
    """
    wanted = tuple(_items(request))
    commands = {(event, item["hooks"][0]["command"]) for event, item in wanted}
    for event, place in reversed(_our_hooks(text, request.client)):
        if (event, value_at(text, *place, "command")) not in commands:
            text = _without_hook(text, place, like)
    there = {
        (event, value_at(text, *at, "command")) for event, at in _our_hooks(text, request.client)
    }
    for event, item in wanted:
        if (event, item["hooks"][0]["command"]) not in there:
            text = with_item(text, ("hooks", event), item)
    command = f"{request.program} statusline"
    if value_at(text, _STATUS_LINE, "command") != command:
        text = _without_status_line(text, like)
    if client_files.has_status_line and not has(text, _STATUS_LINE):
        text = with_member(text, (_STATUS_LINE,), {"type": "command", "command": command})
    return text


def without_ours(text: str, client: str, like: str) -> str:
    """Return settings without our entries. Raises NotUnderstoodError for what is not JSON.

    ``like`` are the settings before ours were put in: a status line that it has is the user's, as
    are the objects and arrays in it.
    """
    for _, place in reversed(_our_hooks(text, client)):
        text = _without_hook(text, place, like)
    return _without_status_line(text, like)


def has_hooks_of_ours(text: str, client: str) -> bool:
    """Tell whether ours were put in. Raises NotUnderstoodError for what is not JSON."""
    return bool(_our_hooks(text, client))


def _items(request: InstallRequest) -> Iterator[tuple[str, dict[str, Any]]]:
    command = f"{request.program} hook {request.client}"
    if request.block_manual:
        yield BEFORE, {"matcher": "manual", "hooks": [_hook(f"{command} --block-manual")]}
    yield AFTER, {"hooks": [_hook(command)]}
    yield STARTED, {"matcher": "compact", "hooks": [_hook(command)]}


def _hook(command: str) -> dict[str, Any]:
    return {"type": "command", "command": command, "timeout": _TIMEOUT}


def _our_hooks(text: str, client: str) -> list[tuple[str, _Place]]:
    """Return the events and places of our hooks, in the order of the text within an event."""
    return [
        (event, ("hooks", event, at, "hooks", number))
        for event in _EVENTS
        for at, item in enumerate(_list(value_at(text, "hooks", event)))
        for number, hook in enumerate(_list(item.get("hooks") if isinstance(item, dict) else None))
        if _is_command(hook, _hook_arguments(event, client))
    ]


def _list(value: Any) -> list[Any]:  # noqa: ANN401 - JSON
    return value if isinstance(value, list) else []


def _without_hook(text: str, place: _Place, like: str) -> str:
    """Return settings without a hook, and without the item that held no other."""
    *item, _, _ = place
    is_alone = len(value_at(text, *place[:-1])) == 1
    return without(text, item if is_alone else place, like)


def _hook_arguments(event: str, client: str) -> list[str]:
    return ["hook", client, "--block-manual"] if event == BEFORE else ["hook", client]


def _without_status_line(text: str, like: str) -> str:
    is_ours = _is_command(value_at(text, _STATUS_LINE), ["statusline"])
    return without(text, (_STATUS_LINE,), like) if is_ours and not has(like, _STATUS_LINE) else text


def _is_command(value: Any, arguments: list[str]) -> bool:  # noqa: ANN401 - JSON
    """Tell whether a command is one that ``integrate`` writes, and nothing besides."""
    command = value.get("command") if isinstance(value, dict) else None
    if not isinstance(command, str):
        return False
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    program = words[: -len(arguments)]
    # A shell sees more than words in a command that is written in any other way.
    return (
        shlex.join(words) == command
        and words[len(program) :] == arguments
        and bool(_OUR_PROGRAM.fullmatch("\0".join(program)))
    )
