"""Finds the transcripts that paths, folders and patterns stand for, all or a part of them."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from glob import has_magic
from pathlib import Path, PurePosixPath

from compactctl.commands.reading.transcript import is_in_database
from compactctl.errors import NoInputError, UsageError
from compactctl.store.archive.names import SUFFIX, archive_files
from compactctl.store.files.filesystem import PRIVATE_FILE
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.modes import note_mode
from compactctl.store.files.parquet_dataset import holds_conversations, is_data_set
from compactctl.store.files.source import STANDARD_STREAM, open_input
from compactctl.store.files.stale_drafts import DRAFT


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
class FolderTree:
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


TRANSCRIPTS = ("*.jsonl", "*.json", "*.jsonl.gz", "*.json.gz", "*.jsonl.zst", "*.json.zst")
DATA_SETS = ("*.parquet",)
# What clients keep beside their transcripts, by its name: lists of sessions, screens, figures. From
# the stores of Claude Code, Codex, Cline and Roo Code.
BESIDE_TRANSCRIPTS = (
    "sessions-index.json", "session_index.jsonl", "ui_messages.json", "task_metadata.json",
    "history_item.json", "taskHistory.json", "_index.json", "*.compaction.json",
)  # fmt: skip
_SHARD = re.compile(r"(\d{1,6})/(\d{1,6})")
_COMPACTED = re.compile(r"\.compacted(?:\.\d+)?(?:\.[a-z]+)?(?:\.gz)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    """One file of a batch.

    ``below`` is its path below the folder, or below the fixed part of the pattern, that it was
    found with, and its name when it was named itself. ``n_bytes`` is its size on disk, 0 when
    that is not known. With a ``problem``, ``path`` is a folder that could not be looked into.
    ``is_named`` tells whether somebody named the file, who then means a transcript.
    """

    path: str
    below: str
    n_bytes: int = 0
    problem: str | None = None
    is_named: bool = False


@dataclass(frozen=True, slots=True)
class Shard:
    """The part of the files with this number, from 1, of so many; each machine works on one."""

    number: int
    of: int

    def holds(self, file: InputFile) -> bool:
        """Tell whether a file is of this part, by its path below the folder it was found in."""
        digest = hashlib.sha256(file.below.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8]) % self.of == self.number - 1


def parse_shard(text: str) -> Shard:
    """Read ``2/8``. Raises UsageError for anything else."""
    match = _SHARD.fullmatch(text.strip())
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise UsageError(f"{text!r} is not a part; write it as 2/8, for the second of eight")
    return Shard(int(match[1]), int(match[2]))


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChoice:
    """Which files to work on.

    ``paths`` are files, folders and patterns. In folders files are taken or left out by shell
    patterns for names or for paths below: ``include`` takes the place of TRANSCRIPTS without
    BESIDE_TRANSCRIPTS, ``exclude`` leaves out files and whole folders. Of all of these only those
    of ``shard`` are worked on, if there is one. A file that no format recognizes is skipped with
    ``skip_unknown`` also where it was named. ``column`` holds the conversations of Parquet data
    sets; None finds it by its name.
    """

    paths: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    shard: Shard | None = None
    skip_unknown: bool = False
    column: str | None = None


def discover(choice: FileChoice, *, data_sets: bool = False) -> tuple[InputFile, ...]:
    """Return the files to work on, each once, in the order of the paths and then of names.

    A file that is named is always taken, even a missing one. Folders are searched for
    TRANSCRIPTS, hidden ones included, without following links to folders. A path that does not
    exist and has wildcards is a pattern. What compactctl itself wrote is passed by. With
    ``data_sets`` DATA_SETS are taken as well: those that hold conversations.

    Raises NoInputError when a pattern or all paths together give nothing, UsageError for ``-``.
    """
    wanted = choice.include or (*TRANSCRIPTS, *(DATA_SETS if data_sets else ()))
    files: dict[str, InputFile] = {}
    for path in choice.paths:
        for file in _files(path, choice, wanted):
            place = os.path.realpath(file.path)
            if place not in files:
                files[place] = file
            elif file.is_named:
                files[place] = replace(files[place], is_named=True)
    if not files:
        raise NoInputError(
            f"{', '.join(choice.paths) or 'no path'}: no transcript found ({', '.join(wanted)}); "
            "name files, or other endings with --include"
        )
    shard = choice.shard
    return tuple(file for file in files.values() if shard is None or shard.holds(file))


def _files(path: str, choice: FileChoice, wanted: Sequence[str]) -> Sequence[InputFile]:
    if not path:
        raise UsageError("an empty path was given; name a file, a folder or a pattern")
    if path == STANDARD_STREAM:
        raise UsageError(
            "standard input is one transcript and no set; name files, or use stats - or compact -"
        )
    if is_folder(path):
        files = FolderTree(root=path, exclude=choice.exclude).files()
        return _chosen(path, files, wanted)
    if os.path.lexists(path) or not has_magic(path):
        return [InputFile(path=path, below=Path(path).name, n_bytes=_size(path), is_named=True)]
    return _of_pattern(path, choice, wanted)


def is_compacted_name(name: str) -> bool:
    """Tell whether a file is called as compactctl calls what it compacts."""
    return bool(_COMPACTED.search(name))


def _of_pattern(pattern: str, choice: FileChoice, wanted: Sequence[str]) -> Sequence[InputFile]:
    parts = PurePosixPath(pattern).parts
    n_fixed = next(index for index, part in enumerate(parts) if has_magic(part))
    root = str(PurePosixPath(*parts[:n_fixed]))
    tree = FolderTree(root=root, exclude=choice.exclude)
    found: list[InputFile] = []
    for entry in tree.matching(parts[n_fixed:]):
        if entry.is_folder:
            found += _chosen(root, tree.files(entry), wanted)
        else:
            found += _chosen(root, [entry], choice.include or ("*",))
    if not found:
        raise NoInputError(f"{pattern}: no file matches; check the pattern and the folder")
    return sorted(found, key=_order)


def _chosen(root: str, entries: Iterable[FolderEntry], include: Sequence[str]) -> list[InputFile]:
    found = (_input(root, each) for each in entries if _is_wanted(each, include))
    return sorted((item for item in found if _is_of_conversations(item)), key=_order)


def _is_wanted(entry: FolderEntry, include: Sequence[str]) -> bool:
    """Tell whether to take a file; what is kept beside transcripts has to be asked for."""
    if entry.problem:
        return True
    name = entry.below.rpartition("/")[2]
    is_ours = is_compacted_name(name) or DRAFT.fullmatch(name)
    is_beside = TRANSCRIPTS[0] in include and matches(name, BESIDE_TRANSCRIPTS)
    return not (is_ours or is_beside) and matches(entry.below, include)


def _is_of_conversations(item: InputFile) -> bool:
    """Tell whether a table that nobody named holds conversations; most tables hold other things."""
    return bool(item.problem) or not is_data_set(item.path) or holds_conversations(item.path)


def _input(root: str, entry: FolderEntry) -> InputFile:
    path = str(Path(root, entry.below))
    if path == STANDARD_STREAM:
        path = f"./{path}"
    return InputFile(path=path, below=entry.below, n_bytes=_size(path), problem=entry.problem)


def _order(item: InputFile) -> list[str]:
    return item.below.split("/")


def _size(path: str) -> int:
    """Return the size of a file that is an input; its mode is noted, as workers read the file."""
    try:
        info = Path(path).stat()
    except OSError:
        if is_in_database(path):
            note_mode(PRIVATE_FILE)
        return 0
    note_mode(info.st_mode)
    return info.st_size


def listed_paths(source: str) -> tuple[str, ...]:
    """Read paths from a file, ``-`` for standard input: a line each, or each ended by a NUL byte.

    Raises NoInputError for a list that cannot be read or names nothing.
    """
    data = open_input(source, TEXT_LIMITS).data
    separator = b"\0" if b"\0" in data else b"\n"
    paths = tuple(os.fsdecode(path) for path in data.split(separator) if path.strip())
    if not paths:
        raise NoInputError(f"{source}: lists no path; write one a line")
    return paths
