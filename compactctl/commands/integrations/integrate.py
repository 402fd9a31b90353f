"""Sets up a client to run compactctl, and reverts that byte for byte.

Changes are shown before they are made. In a settings file every byte that is not ours stays, and
a copy of the original is kept beside it until the change is reverted.
"""

import hashlib
import json
import re
import shlex
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from compactctl.asks import GATES, WRITES, flag
from compactctl.clients.integration import ClientFiles
from compactctl.clients.integrations import integration_of
from compactctl.commands.integrations.settings_text import (
    EMPTY,
    has,
    value_at,
    with_item,
    with_member,
    without,
)
from compactctl.errors import ChangedError, NotUnderstoodError, UsageError
from compactctl.records import Record
from compactctl.store.client_folders import UserEnvironment
from compactctl.store.files.filesystem import FileSystem, make_folders
from compactctl.store.files.temp_file import TempFile

# Events as Claude Code calls them, and Codex as well; what is written for others says the same.
BEFORE, AFTER, STARTED = "PreCompact", "PostCompact", "SessionStart"
_PROGRAM, _CLIENT, _DIGEST = "@COMPACTCTL@", "@CLIENT@", "@DIGEST@"
# Both names of the command: an earlier version installed the files.
_SIGNED = re.compile(rb"Written by compactctl (?:client )?integrate, sha256 ([0-9a-f]{16})")
# Seconds after which a client continues without the hook's answer.
_TIMEOUT = 60
_STATUS_LINE = "statusLine"
_GROUP = "client"
_STATUS_LINE_WORDS = [_GROUP, "statusline"]
_EVENTS = (BEFORE, AFTER, STARTED)
# The program as it was found by this or an earlier install: by name, by path, or as a module.
_OUR_PROGRAM = re.compile(
    r"(?:(?:/|[A-Za-z]:[\\/]).*[\\/])?(?:compactctl(?:\.exe)?|(?:python|pypy)[\w.]*\0-m\0compactctl)"
)
_Place = tuple[str | int, ...]
Action = Literal["print", "install", "uninstall"]
_ENCODING = ("utf-8", "surrogateescape")
_SIGNATURE = b"Written by compactctl "
_BACKUP = ".before-compactctl"


class InstallRequest(Record):
    """The client, and the command that runs compactctl."""

    client: str
    program: str
    block_manual: bool = flag("Also block manual compactions (Claude Code, Codex).", GATES, WRITES)


class FileChange(Record):
    """A file before and after, None if it does not exist."""

    path: Path
    before: bytes | None
    after: bytes | None


class IntegrateResult(Record):
    """The changes made, or to be made; ``notes`` say what the user has to do."""

    request: InstallRequest
    action: Action
    changes: tuple[FileChange, ...]
    notes: tuple[str, ...]


def integrate(request: InstallRequest, action: Action, machine: UserEnvironment) -> IntegrateResult:
    """Return the changes for a client. Nothing is written.

    Raises NotUnderstoodError for settings that are not JSON, or that hold something else where our
    entries belong; UsageError if a file of that name is not ours; OSError.
    """
    client_files = integration_of(request.client).files(machine)
    changes = (
        *_own_files(request, action, client_files),
        *_settings(request, action, client_files),
    )
    return IntegrateResult(
        request=request,
        action=action,
        changes=tuple(change for change in changes if change.before != change.after),
        notes=() if action == "uninstall" else client_files.notes,
    )


def apply_changes(result: IntegrateResult) -> None:
    """Write the changes. Raises ChangedError if a file has changed since; OSError."""
    fs = FileSystem()
    for change in result.changes:
        if _content(change.path) != change.before:
            raise ChangedError(
                f"{change.path}: changed while compactctl was running; run the command again"
            )
    for change in result.changes:
        if change.after is None:
            # Delete what a symbolic link points to; the link is the user's.
            fs.unlink(change.path.resolve())
            _leave(fs, change.path.parent)
        else:
            _write(fs, change.path, change.after)


def _own_files(
    request: InstallRequest, action: Action, client_files: ClientFiles
) -> Iterator[FileChange]:
    for template, path in client_files.files.items():
        before = _content(path)
        if before is not None and not _is_written_here(before):
            if _SIGNATURE in before:
                raise UsageError(
                    f"{path}: edited by hand; move or delete it, then run the command again"
                )
            if action == "uninstall":
                continue
            raise UsageError(
                f"{path}: exists and was not written by compactctl; move it away first"
            )
        after = None if action == "uninstall" else _file_text(template, request).encode(*_ENCODING)
        yield FileChange(path=path, before=before, after=after)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _is_written_here(content: bytes) -> bool:
    """Return whether a file is ours, of any version, and unedited.

    Line breaks may have become those of Windows.
    """
    text = content.replace(b"\r\n", b"\n")
    match = _SIGNED.search(text)
    if match is None:
        return False
    unsigned = text[: match.start(1)] + _DIGEST.encode() + text[match.end(1) :]
    return match[1].decode() == _digest(unsigned)


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]


def _file_text(template: str, request: InstallRequest) -> str:
    """Return one of our files with the values for a client filled in."""
    text = (files("compactctl.clients") / template).read_text("utf-8")
    is_code = not template.endswith(".md")
    program = json.dumps(request.program)[1:-1] if is_code else request.program
    text = text.replace(_PROGRAM, program).replace(_CLIENT, request.client)
    return text.replace(_DIGEST, _digest(text.encode("utf-8", "surrogateescape")))


def _settings(
    request: InstallRequest, action: Action, client_files: ClientFiles
) -> Iterator[FileChange]:
    """Yield the changes to the settings and to their copy."""
    if client_files.settings is None:
        return
    copy = client_files.settings.with_name(client_files.settings.name + _BACKUP)
    before, copy_content = _content(client_files.settings), _content(copy)
    try:
        text = None if before is None else before.decode(*_ENCODING)
        is_set_up = text is not None and _has_hooks_of_ours(text, request.client)
        if copy_content not in (None, before) and not is_set_up:
            raise UsageError(
                f"{copy}: backup of an earlier install, but {client_files.settings.name} does "
                "not match it; delete it or move it back, then run the command again"
            )
        # Settings without a copy were created here, or their copy was deleted.
        like = EMPTY if copy_content is None else copy_content.decode(*_ENCODING)
        if copy_content is None and not is_set_up:
            like = text or EMPTY
        if action == "uninstall":
            yield from _taken_back(request, client_files.settings, before, like)
            yield FileChange(path=copy, before=copy_content, after=None)
            return
        new = _with_ours(text or EMPTY, request, client_files, like).encode(*_ENCODING)
    except NotUnderstoodError as error:
        raise NotUnderstoodError(
            f"{client_files.settings}: {error}; fix it, or add by hand what --print shows"
        ) from error
    if copy_content is None and new != before and (like != EMPTY or not is_set_up):
        yield FileChange(path=copy, before=None, after=before)
    yield FileChange(path=client_files.settings, before=before, after=new)


def _has_hooks_of_ours(text: str, client: str) -> bool:
    """Whether our hooks are installed. Raises NotUnderstoodError for text that is not JSON."""
    return bool(_our_hooks(text, client))


def _our_hooks(text: str, client: str) -> list[tuple[str, _Place]]:
    """Return the event and path of each of our hooks, in the order of the text within an event."""
    return [
        (event, ("hooks", event, index, "hooks", hook_index))
        for event in _EVENTS
        for index, item in enumerate(_list(value_at(text, "hooks", event)))
        for hook_index, hook in enumerate(
            _list(item.get("hooks") if isinstance(item, dict) else None)
        )
        if _is_command(
            hook, [*_hook_words(client), *(["--block-manual"] if event == BEFORE else [])]
        )
    ]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_command(value: object, arguments: list[str]) -> bool:
    """Return whether a command is exactly one that ``integrate`` writes, or wrote before.

    ``arguments`` start with the name of the group, which an earlier version did not write.
    """
    command = value.get("command") if isinstance(value, dict) else None
    if not isinstance(command, str):
        return False
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    if shlex.join(words) != command:
        # Only this spelling is surely a list of words; any other may contain shell syntax.
        return False
    spellings = (arguments, arguments[1:])
    return any(
        words[-len(spelling) :] == spelling
        and _OUR_PROGRAM.fullmatch("\0".join(words[: -len(spelling)]))
        for spelling in spellings
    )


def _hook_words(client: str) -> list[str]:
    return [_GROUP, "hook", client]


def _taken_back(
    request: InstallRequest, settings: Path, before: bytes | None, like: str
) -> Iterator[FileChange]:
    """Yield the settings without our entries; the file is deleted if it was created here."""
    if before is None:
        return
    bare = _without_ours(before.decode(*_ENCODING), request.client, like)
    is_made_here = _content(settings.with_name(settings.name + _BACKUP)) is None and bare == EMPTY
    after = None if is_made_here and before != EMPTY.encode() else bare.encode(*_ENCODING)
    yield FileChange(path=settings, before=before, after=after)


def _without_ours(text: str, client: str, like: str) -> str:
    """Remove our entries from settings. Raises NotUnderstoodError for text that is not JSON.

    ``like`` are the settings before ours were added: a status line in them is the user's, and so
    are the objects and arrays.
    """
    for _, place in reversed(_our_hooks(text, client)):
        text = _without_hook(text, place, like)
    return _without_status_line(text, like)


def _without_hook(text: str, place: _Place, like: str) -> str:
    """Remove a hook from settings, and its item if that holds no other hook."""
    *item, _, _ = place
    is_only_hook = len(value_at(text, *place[:-1])) == 1
    return without(text, item if is_only_hook else place, like)


def _without_status_line(text: str, like: str) -> str:
    is_ours = _is_command(value_at(text, _STATUS_LINE), _STATUS_LINE_WORDS)
    return without(text, (_STATUS_LINE,), like) if is_ours and not has(like, _STATUS_LINE) else text


def _with_ours(text: str, request: InstallRequest, client_files: ClientFiles, like: str) -> str:
    """Add our entries to settings; those already present stay as they are.

    Raises NotUnderstoodError if they cannot be added. ``like`` is as in ``_without_ours``.
    """
    items = tuple(_items(request))
    commands = {(event, item["hooks"][0]["command"]) for event, item in items}
    for event, place in reversed(_our_hooks(text, request.client)):
        if (event, value_at(text, *place, "command")) not in commands:
            text = _without_hook(text, place, like)
    present = {
        (event, value_at(text, *path, "command"))
        for event, path in _our_hooks(text, request.client)
    }
    for event, item in items:
        if (event, item["hooks"][0]["command"]) not in present:
            text = with_item(text, ("hooks", event), item)
    command = f"{request.program} {shlex.join(_STATUS_LINE_WORDS)}"
    if value_at(text, _STATUS_LINE, "command") != command:
        text = _without_status_line(text, like)
    if client_files.has_status_line and not has(text, _STATUS_LINE):
        text = with_member(text, (_STATUS_LINE,), {"type": "command", "command": command})
    return text


def _items(request: InstallRequest) -> Iterator[tuple[str, dict[str, Any]]]:
    command = f"{request.program} {shlex.join(_hook_words(request.client))}"
    if request.block_manual:
        yield BEFORE, {"matcher": "manual", "hooks": [_hook(f"{command} --block-manual")]}
    yield AFTER, {"hooks": [_hook(command)]}
    yield STARTED, {"matcher": "compact", "hooks": [_hook(command)]}


def _hook(command: str) -> dict[str, Any]:
    return {"type": "command", "command": command, "timeout": _TIMEOUT}


def _leave(fs: FileSystem, folder: Path) -> None:
    """Remove the folder that only our file was in."""
    if folder.name == "compactctl" and not any(folder.iterdir()):
        fs.rmdir(folder)


def _write(fs: FileSystem, path: Path, data: bytes) -> None:
    """Write a file in one step; if it is a symbolic link, write its target."""
    target = path.resolve()
    make_folders(fs, target.parent)
    with TempFile(fs, target) as draft:
        if target.exists():
            draft.copy_attributes(target)
        draft.write(data)
        draft.sync()
        draft.publish()
