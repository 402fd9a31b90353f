"""Sets a client up to run compactctl beside its sessions, and takes that back to the byte.

What would be written is told before anything is. A settings file keeps every byte that is not ours,
and a copy of it as it was lies beside it until that is taken back.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from compactctl.commands.integrations.clients import ClientFiles, integration_of
from compactctl.commands.integrations.pieces import (
    InstallRequest,
    file_text,
    has_hooks_of_ours,
    is_written_here,
    with_ours,
    without_ours,
)
from compactctl.commands.integrations.settings_text import EMPTY
from compactctl.errors import ChangedError, NotUnderstoodError, UsageError
from compactctl.store.files.filesystem import FileSystem, make_folders
from compactctl.store.files.temp_file import TempFile
from compactctl.store.places import Machine

Action = Literal["print", "install", "uninstall"]

_ENCODING = ("utf-8", "surrogateescape")
_OURS = b"Written by compactctl integrate"
_BACKUP = ".before-compactctl"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """A file as it is and as it will be, None where there is none."""

    path: Path
    before: bytes | None
    after: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegrateResult:
    """What is written, or would be; ``notes`` say what is left to the person."""

    request: InstallRequest
    action: Action
    changes: tuple[FileChange, ...]
    notes: tuple[str, ...]


def integrate(request: InstallRequest, action: Action, machine: Machine) -> IntegrateResult:
    """Return what is to be written for a client. Nothing is written.

    Raises NotUnderstoodError for settings that are not JSON, or hold something else where ours
    belong; UsageError where a file of that name is somebody else's; OSError.
    """
    ours = integration_of(request.client).files(machine)
    changes = (*_own_files(request, action, ours), *_settings(request, action, ours))
    return IntegrateResult(
        request=request,
        action=action,
        changes=tuple(each for each in changes if each.before != each.after),
        notes=() if action == "uninstall" else ours.notes,
    )


def apply_changes(result: IntegrateResult) -> None:
    """Write what was told. Raises ChangedError where a file is not as it was; OSError."""
    fs = FileSystem()
    for change in result.changes:
        if _content(change.path) != change.before:
            raise ChangedError(f"{change.path}: changed meanwhile; run it again")
    for change in result.changes:
        if change.after is None:
            # What is linked there goes, and the link of the user stays.
            fs.unlink(change.path.resolve())
            _leave(fs, change.path.parent)
        else:
            _write(fs, change.path, change.after)


def _own_files(request: InstallRequest, action: Action, ours: ClientFiles) -> Iterator[FileChange]:
    for name, path in ours.files.items():
        before = _content(path)
        if before is not None and not is_written_here(before):
            if _OURS in before:
                raise UsageError(
                    f"{path}: was changed by hand; move it away or delete it, and run this again"
                )
            if action == "uninstall":
                continue
            raise UsageError(f"{path}: exists and is not compactctl's; move it away first")
        after = None if action == "uninstall" else file_text(name, request).encode(*_ENCODING)
        yield FileChange(path=path, before=before, after=after)


def _settings(request: InstallRequest, action: Action, ours: ClientFiles) -> Iterator[FileChange]:
    """Yield the copy of the settings and the settings themselves, or the other way round."""
    if ours.settings is None:
        return
    copy = ours.settings.with_name(ours.settings.name + _BACKUP)
    before, kept = _content(ours.settings), _content(copy)
    try:
        text = None if before is None else before.decode(*_ENCODING)
        is_set_up = text is not None and has_hooks_of_ours(text, request.client)
        if kept not in (None, before) and not is_set_up:
            raise UsageError(
                f"{copy}: was kept by an earlier install, and {ours.settings.name} is none that "
                "goes with it; delete it, or move it to its place, and run this again"
            )
        # Settings without a copy were made here, or their copy is gone.
        like = EMPTY if kept is None else kept.decode(*_ENCODING)
        if kept is None and not is_set_up:
            like = text or EMPTY
        if action == "uninstall":
            yield from _taken_back(request, ours.settings, before, like)
            yield FileChange(path=copy, before=kept, after=None)
            return
        new = with_ours(text or EMPTY, request, ours, like).encode(*_ENCODING)
    except NotUnderstoodError as error:
        raise NotUnderstoodError(
            f"{ours.settings}: {error}; mend it, or see what to add with --print elsewhere"
        ) from error
    if kept is None and new != before and (like != EMPTY or not is_set_up):
        yield FileChange(path=copy, before=None, after=before)
    yield FileChange(path=ours.settings, before=before, after=new)


def _taken_back(
    request: InstallRequest, settings: Path, before: bytes | None, like: str
) -> Iterator[FileChange]:
    """Yield the settings without what is ours; they go where they were made here."""
    if before is None:
        return
    bare = without_ours(before.decode(*_ENCODING), request.client, like)
    is_made_here = _content(settings.with_name(settings.name + _BACKUP)) is None and bare == EMPTY
    after = None if is_made_here and before != EMPTY.encode() else bare.encode(*_ENCODING)
    yield FileChange(path=settings, before=before, after=after)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _write(fs: FileSystem, path: Path, data: bytes) -> None:
    """Put a file in its place in one step; one that is linked there is written where it lies."""
    place = path.resolve()
    make_folders(fs, place.parent)
    with TempFile(fs, place) as draft:
        if place.exists():
            draft.take_attributes(place)
        draft.write(data)
        draft.sync()
        draft.publish()


def _leave(fs: FileSystem, folder: Path) -> None:
    """Remove the folder that a file of ours had for itself."""
    if folder.name == "compactctl" and not any(folder.iterdir()):
        fs.rmdir(folder)
