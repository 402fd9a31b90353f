"""A disk that loses power: what was not synced may be lost, kept in part, or kept out of order."""

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from store.faults import Watched


@dataclass(slots=True, eq=False)
class File:
    """A file: what is safe of it, and what it may also hold after a power cut."""

    safe: bytes = b""
    now: bytes = b""
    unsafe: list[bytes] = field(default_factory=list)

    def possible(self) -> list[bytes]:
        """Return all that may be found."""
        return list(dict.fromkeys((self.safe, *self.unsafe)))


Names = dict[Path, File | None]
"""Files by their path, None for folders."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the names in a folder that was not synced since."""

    folder: Path
    apply: Callable[[Names], object]


State = dict[Path, bytes | None]
"""What stands where; None for a folder."""


class Killed(BaseException):
    """The process is gone."""


class Powerless(Watched):
    """The real disk, with a record of what is durable on it.

    ``states`` are those that a power cut may leave before or after any call: each change that was
    not synced may have taken place or not. From call ``kill_at`` on nothing reaches the disk, as
    when the process is killed; ``revive`` starts the next one.
    """

    def __init__(self, root: Path, kill_at: int = 0) -> None:
        super().__init__()
        self.root = root
        self.kill_at = kill_at
        self.states: dict[frozenset[tuple[Path, bytes | int | None]], State] = {}
        self.names: Names = {root: None}
        for path in sorted(root.rglob("*")):
            content = path.read_bytes() if path.is_file() else None
            self.names[path] = None if content is None else File(safe=content, now=content)
        self.durable = dict(self.names)
        self.pending: list[Change] = []
        self.open: dict[int, File] = {}
        self.folders: dict[int, Path] = {}
        self.descriptors: set[int] = set()

    def before(self, name: str, call: Callable[..., Any], arguments: tuple[Any, ...]) -> None:  # noqa: ARG002
        self.note()
        if self.kill_at and len(self.log) >= self.kill_at and name != "close":
            raise Killed

    def note(self) -> None:
        """Note what a power cut may leave now."""
        for state in self._now():
            self.states.setdefault(self._key(state), state)

    def _key(self, state: State) -> frozenset[tuple[Path, bytes | int | None]]:
        """Return what tells states apart; archives of the same size differ in their time only."""
        return frozenset(
            (
                path.relative_to(self.root),
                len(content) if content and ".archive" in str(path) else content,
            )
            for path, content in state.items()
        )

    def revive(self) -> None:
        """Let go of what the killed process had open, and go on."""
        self.kill_at = 0
        for fd in self.descriptors:
            with suppress(OSError):
                os.close(fd)

    def _now(self) -> Iterator[State]:
        for kept in itertools.product((False, True), repeat=len(self.pending)):
            names = dict(self.durable)
            for change in itertools.compress(self.pending, kept):
                change.apply(names)
            reachable = {path: file for path, file in names.items() if _is_reachable(path, names)}
            yield from _contents(reachable)

    def create(self, path: Path) -> int:
        fd = super().create(path)
        self.descriptors.add(fd)
        self.open[fd] = self._new(path.absolute())
        return fd

    def open_lock(self, path: Path) -> int:
        known = path.exists()
        fd = super().open_lock(path)
        self.descriptors.add(fd)
        if not known:
            self._new(path.absolute())
        return fd

    def open_folder(self, path: Path) -> int:
        fd = super().open_folder(path)
        self.folders[fd] = path.absolute()
        return fd

    def close(self, fd: int) -> None:
        super().close(fd)
        self.descriptors.discard(fd)

    def write(self, fd: int, data: bytes) -> None:
        super().write(fd, data)
        file = self.open[fd]
        half = file.now + data[: len(data) // 2]
        file.now += data
        file.unsafe += [half, file.now]

    def fsync(self, fd: int) -> None:
        super().fsync(fd)
        file = self.open[fd]
        file.safe, file.unsafe = file.now, []

    def fsync_folder(self, fd: int) -> None:
        super().fsync_folder(fd)
        folder = self.folders[fd]
        for change in self.pending:
            if change.folder == folder:
                change.apply(self.durable)
        self.pending = [change for change in self.pending if change.folder != folder]

    def rename(self, old: Path, new: Path) -> None:
        super().rename(old, new)
        self._move(old.absolute(), new.absolute())

    def _move(self, old: Path, new: Path) -> None:
        file = self.names[old]

        def move(names: Names) -> None:
            names.pop(old, None)
            names[new] = file

        self._change(new.parent, move)

    def rename_new(self, old: Path, new: Path) -> None:
        super().rename_new(old, new)
        self._move(old.absolute(), new.absolute())

    def exchange(self, one: Path, other: Path) -> None:
        super().exchange(one, other)
        one, other = one.absolute(), other.absolute()
        files = {one: self.names[other], other: self.names[one]}
        self._change(other.parent, lambda names: names.update(files))

    def link(self, existing: Path, name: Path) -> None:
        super().link(existing, name)
        self._add(name.absolute(), self.names[existing.absolute()])

    def mkdir(self, path: Path, mode: int = 0o700) -> None:
        super().mkdir(path, mode)
        self._add(path.absolute(), None)

    def unlink(self, path: Path) -> None:
        super().unlink(path)
        self._remove(path.absolute())

    def rmdir(self, path: Path) -> None:
        super().rmdir(path)
        self._remove(path.absolute())

    def _new(self, path: Path) -> File:
        file = File()
        self._add(path, file)
        return file

    def _add(self, path: Path, file: File | None) -> None:
        self._change(path.parent, lambda names: names.update({path: file}))

    def _remove(self, path: Path) -> None:
        self._change(path.parent, lambda names: names.pop(path, None))

    def _change(self, folder: Path, apply: Callable[[Names], object]) -> None:
        apply(self.names)
        self.pending.append(Change(folder, apply))


def materialised(state: State, root: Path, place: Path) -> None:
    """Write a state of the folder ``root`` to ``place``, which does not exist."""
    for path, content in sorted(state.items()):
        target = place / path.relative_to(root)
        if content is None:
            target.mkdir(mode=0o700)
        else:
            target.write_bytes(content)


def _is_reachable(path: Path, names: Names) -> bool:
    return all(parent in names for parent in path.parents if _is_inside(parent, names))


def _is_inside(path: Path, names: Names) -> bool:
    root = next(iter(names))
    return path == root or path.is_relative_to(root)


def _contents(names: Names) -> Iterator[State]:
    files = [file for file in dict.fromkeys(names.values()) if file is not None]
    for choice in itertools.product(*(file.possible() for file in files)):
        found = dict(zip(files, choice, strict=True))
        yield {path: None if file is None else found[file] for path, file in names.items()}
