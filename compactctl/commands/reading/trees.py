"""The files below a folder, and the objects below a URL, as one kind of tree."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Self

from compactctl.clients.databases import is_in_database
from compactctl.records import Record
from compactctl.store.archive.names import ARCHIVE_NAME, SUFFIX, archive_files
from compactctl.store.files.filesystem import PRIVATE_FILE
from compactctl.store.files.modes import note_mode
from compactctl.store.files.objects import StoredObject, is_object, list_objects
from compactctl.store.files.source import STANDARD_STREAM


class InputFile(Record):
    """One file of a batch.

    Attributes:
        path: the file; with a ``problem``, a folder.
        below: its path below the searched folder or the fixed part of the pattern; its name if the
            user named the file itself.
        n_bytes: its size on disk, 0 if unknown.
        problem: why the folder could not be read, if so.
        is_named: whether the user named the file, and so says that it is a transcript.
        version: of an object in a store, what changes with its bytes; None for a file.
    """

    path: str
    below: str
    n_bytes: int = 0
    problem: str | None = None
    is_named: bool = False
    version: str | None = None


class FolderEntry(Record, kw_only=False):
    """A file or folder by its path below the root, "" for the root itself.

    ``problem`` says why a folder could not be read.
    """

    below: str
    is_folder: bool = False
    problem: str | None = None


ROOT = FolderEntry("", is_folder=True)


class ObjectListing(Record, kw_only=False):
    """The objects below a URL by their keys, in the folders that slashes in the keys make."""

    objects: Mapping[str, StoredObject]
    folders: Mapping[str, Iterable[FolderEntry]]

    @classmethod
    def of(cls, root: str) -> Self:
        """List objects, without those of archives. Raises as ``list_objects``."""
        objects = {item.below: item for item in list_objects(root)}
        archives = {_parent(key) for key in objects if _is_archive(key)}
        folders: dict[str, dict[FolderEntry, None]] = {}
        for key in objects:
            if _parent(key) in archives:
                continue
            entry = FolderEntry(key)
            while entry.below:
                parent = _parent(entry.below)
                folders.setdefault(parent, {})[entry] = None
                entry = FolderEntry(parent, is_folder=True)
        return cls(objects, folders)


class FolderTree(Record):
    """A folder without symlinked folders, archives and excluded entries.

    ``exclude`` holds the patterns of ``is_excluded``.
    ``objects`` are those of a store if ``root`` is their URL.
    """

    root: str
    exclude: tuple[str, ...] = ()
    objects: ObjectListing | None = None

    def files(self, start: FolderEntry = ROOT) -> Iterator[FolderEntry]:
        """Yield the files below a folder, and the folders that could not be read."""
        pending = [start]
        while pending:
            for entry in self._entries(pending.pop()):
                if entry.is_folder:
                    pending.append(entry)
                else:
                    yield entry

    def matching(self, pattern: Sequence[str]) -> Iterator[FolderEntry]:
        """Yield the entries that match a pattern, split into its parts; ``**`` matches any folders.

        Includes folders that could not be read. May yield an entry twice.
        """
        pending = [(ROOT, tuple(pattern))]
        while pending:
            entry, pattern_parts = pending.pop()
            if entry.problem or all(part == "**" for part in pattern_parts):
                yield entry
            elif pattern_parts[0] == "**":
                pending.append((entry, pattern_parts[1:]))
                pending += [
                    (child, pattern_parts) for child in self._entries(entry) if _opens(child)
                ]
            else:
                children = [child for child in self._entries(entry) if _fits(child, pattern_parts)]
                pending += [(child, pattern_parts[1:]) for child in children]

    def _entries(self, folder: FolderEntry) -> list[FolderEntry]:
        return [
            entry
            for entry in self._listed(folder.below)
            if entry.problem
            or not is_excluded(entry.below, self.exclude, root=self.root, is_folder=entry.is_folder)
        ]

    def _listed(self, below: str) -> Iterable[FolderEntry]:
        """Return what is in a folder, without archives, or why it could not be read."""
        if self.objects is not None:
            return self.objects.folders.get(below, ())
        path = Path(self.root, below)
        prefix = f"{below}/" if below else ""
        try:
            with os.scandir(path) as items:
                return [
                    FolderEntry(f"{prefix}{item.name}", item.is_dir(follow_symlinks=False))
                    for item in items
                    if not _is_passed_by(item)
                ]
        except OSError as error:
            why = f"{path}: cannot be read ({error.strerror}); check its permissions"
            return [FolderEntry(below, problem=why)]

    def input_at(self, entry: FolderEntry) -> InputFile:
        """Return a file of the tree as an input."""
        if self.objects is not None:
            return object_input(self.objects.objects[entry.below])
        path = str(Path(self.root, entry.below))
        if path == STANDARD_STREAM:
            path = f"./{path}"
        return InputFile(path=path, below=entry.below, n_bytes=size_of(path), problem=entry.problem)


def _parent(key: str) -> str:
    return key.rpartition("/")[0]


def _is_archive(key: str) -> bool:
    folder, _, name = key.rpartition("/")
    return folder.endswith(SUFFIX) and ARCHIVE_NAME.fullmatch(name) is not None


def tree_at(root: str, exclude: tuple[str, ...]) -> FolderTree:
    """Return the tree of a folder, or of the objects below a URL. Raises as ``list_objects``."""
    objects = ObjectListing.of(root) if is_object(root) else None
    return FolderTree(root=root, exclude=exclude, objects=objects)


def matches(below: str, patterns: Sequence[str]) -> bool:
    """Return whether a path below a root, or its name alone, matches one of the shell patterns."""
    name = below.rpartition("/")[2]
    return any(_is_like(name, pattern) or _is_like(below, pattern) for pattern in patterns)


def is_excluded(below: str, patterns: Sequence[str], *, root: str, is_folder: bool) -> bool:
    """Return whether one of the patterns excludes a file or folder, as a line of .gitignore would.

    ::

        draft*          a name anywhere, or the path below the root
        runs/old        also the path as the user would type it, with the root before it
        old/            folders only
        old/**, **/old  what is in old; old anywhere
        /old            only directly below the root

    Unlike in .gitignore, ``*`` also matches slashes.
    """
    name = below.rpartition("/")[2]
    names = (below, name, f"/{below}", f"{root.removeprefix('./').rstrip('/')}/{below}")
    return any(
        _is_like(name, spelling)
        for pattern in patterns
        if is_folder or not pattern.endswith(("/", "/**"))
        for spelling in _spellings(pattern)
        for name in names
    )


def _spellings(pattern: str) -> set[str]:
    """Return a pattern without the parts that may stand for nothing."""
    whole = pattern if pattern == "/" else pattern.rstrip("/")
    bare = whole.removesuffix("/**").removeprefix("./").removeprefix("**/")
    return {pattern, whole, bare, bare.replace("/**/", "/")}


def _is_like(name: str, pattern: str) -> bool:
    """Return whether a name matches a pattern, or equals it: run[1].jsonl is also a file name."""
    return name == pattern or fnmatchcase(name, pattern)


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Return whether a path leads to a folder; False if that cannot be checked."""
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def _is_passed_by(item: os.DirEntry[str]) -> bool:
    if item.is_symlink():
        return is_folder(item)
    return item.name.endswith(SUFFIX) and item.is_dir() and bool(archive_files(Path(item)))


def _opens(entry: FolderEntry) -> bool:
    return entry.is_folder or entry.problem is not None


def _fits(entry: FolderEntry, pattern_parts: Sequence[str]) -> bool:
    if entry.problem:
        return True
    is_last = all(part == "**" for part in pattern_parts[1:])
    name = entry.below.rpartition("/")[2]
    return _is_like(name, pattern_parts[0]) and (entry.is_folder or is_last)


def size_of(path: str) -> int:
    """Return the size of an input file, and note its mode here, since workers read the file."""
    try:
        info = Path(path).stat()
    except OSError:
        if is_in_database(path):
            note_mode(PRIVATE_FILE)
        return 0
    note_mode(info.st_mode)
    return info.st_size


def object_input(item: StoredObject, *, is_named: bool = False) -> InputFile:
    """Return an object as an input."""
    return InputFile(
        path=item.url,
        below=item.below,
        n_bytes=item.n_bytes,
        is_named=is_named,
        version=item.etag or item.version,
    )
