"""Looks into folders: what is below one, and what a pattern matches below it."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from compactctl.store.archive.names import SUFFIX, archive_files


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """A file or folder by its path below the root, "" for the root itself.

    ``problem`` says why a folder could not be looked into.
    """

    below: str
    is_folder: bool = False
    problem: str | None = None


ROOT = FolderEntry("", is_folder=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A folder without links to folders, without archives and without what is excluded.

    ``exclude`` holds shell patterns for names or paths below the root; ``*`` stands for slashes
    too.
    """

    root: str
    exclude: tuple[str, ...] = ()

    def files(self, start: FolderEntry = ROOT) -> Iterator[FolderEntry]:
        """Yield the files below a folder, and the folders that could not be looked into."""
        waiting = [start]
        while waiting:
            for entry in self._entries(waiting.pop()):
                if entry.is_folder:
                    waiting.append(entry)
                else:
                    yield entry

    def matching(self, pattern: Sequence[str]) -> Iterator[FolderEntry]:
        """Yield what matches a pattern, given by its parts; ``**`` stands for any folders.

        Some entries may come twice. Folders that could not be looked into are among them.
        """
        waiting = [(ROOT, tuple(pattern))]
        while waiting:
            entry, rest = waiting.pop()
            if entry.problem or all(part == "**" for part in rest):
                yield entry
            elif rest[0] == "**":
                waiting.append((entry, rest[1:]))
                waiting += [(sub, rest) for sub in self._entries(entry) if _opens(sub)]
            else:
                subs = [sub for sub in self._entries(entry) if _fits(sub, rest)]
                waiting += [(sub, rest[1:]) for sub in subs]

    def _entries(self, folder: FolderEntry) -> list[FolderEntry]:
        place = Path(self.root, folder.below)
        prefix = f"{folder.below}/" if folder.below else ""
        try:
            with os.scandir(place) as found:
                entries = [
                    FolderEntry(f"{prefix}{item.name}", item.is_dir(follow_symlinks=False))
                    for item in found
                    if not _is_passed_by(item)
                ]
        except OSError as error:
            why = f"{place}: cannot be looked into ({error.strerror}); change its mode"
            return [FolderEntry(folder.below, problem=why)]
        return [entry for entry in entries if not matches(entry.below, self.exclude)]


def matches(below: str, patterns: Sequence[str]) -> bool:
    """Tell whether a path below a root, or its name alone, fits one of the shell patterns."""
    name = below.rpartition("/")[2]
    return any(_is_like(name, each) or _is_like(below, each) for each in patterns)


def _is_like(name: str, pattern: str) -> bool:
    """Tell whether a name fits a pattern, or is spelled like one: run[1].jsonl is both."""
    return name == pattern or fnmatchcase(name, pattern)


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path leads to a folder that can be reached."""
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


def _fits(entry: FolderEntry, rest: Sequence[str]) -> bool:
    if entry.problem:
        return True
    is_last = all(part == "**" for part in rest[1:])
    name = entry.below.rpartition("/")[2]
    return _is_like(name, rest[0]) and (entry.is_folder or is_last)
