"""Finds the transcripts named by paths, folders and patterns, or one shard of them."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from glob import has_magic
from pathlib import Path, PurePosixPath

from compactctl.commands.reading.transcript import is_in_database
from compactctl.errors import NoInputError, UsageError
from compactctl.records import dataclass
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

    ``problem`` says why a folder could not be read.
    """

    below: str
    is_folder: bool = False
    problem: str | None = None


ROOT = FolderEntry("", is_folder=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderTree:
    """A folder without symlinked folders, archives and excluded entries.

    ``exclude`` holds shell patterns for names or paths below the root; ``*`` also matches slashes.
    """

    root: str
    exclude: tuple[str, ...] = ()

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
        path = Path(self.root, folder.below)
        prefix = f"{folder.below}/" if folder.below else ""
        try:
            with os.scandir(path) as items:
                entries = [
                    FolderEntry(f"{prefix}{item.name}", item.is_dir(follow_symlinks=False))
                    for item in items
                    if not _is_passed_by(item)
                ]
        except OSError as error:
            why = f"{path}: cannot be read ({error.strerror}); check its permissions"
            return [FolderEntry(folder.below, problem=why)]
        return [entry for entry in entries if not matches(entry.below, self.exclude)]


def matches(below: str, patterns: Sequence[str]) -> bool:
    """Return whether a path below a root, or its name alone, matches one of the shell patterns."""
    name = below.rpartition("/")[2]
    return any(_is_like(name, pattern) or _is_like(below, pattern) for pattern in patterns)


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


TRANSCRIPTS = ("*.jsonl", "*.json", "*.jsonl.gz", "*.json.gz", "*.jsonl.zst", "*.json.zst")
DATA_SETS = ("*.parquet",)
# Files that clients keep beside their transcripts: session lists, screens, statistics. From the
# stores of Claude Code, Codex, Cline and Roo Code.
BESIDE_TRANSCRIPTS = (
    "sessions-index.json", "session_index.jsonl", "ui_messages.json", "task_metadata.json",
    "history_item.json", "taskHistory.json", "_index.json", "*.compaction.json",
)  # fmt: skip
_SHARD = re.compile(r"(\d{1,6})/(\d{1,6})")
_COMPACTED = re.compile(r"\.compacted(?:\.\d+)?(?:\.[a-z]+)?(?:\.gz)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    """One file of a batch.

    Attributes:
        path: the file; with a ``problem``, a folder.
        below: its path below the searched folder or the fixed part of the pattern; its name if the
            user named the file itself.
        n_bytes: its size on disk, 0 if unknown.
        problem: why the folder could not be read, if so.
        is_named: whether the user named the file, and so says that it is a transcript.
    """

    path: str
    below: str
    n_bytes: int = 0
    problem: str | None = None
    is_named: bool = False


@dataclass(frozen=True, slots=True)
class Shard:
    """Part ``number`` (from 1) of the files, split into ``of`` parts for several machines."""

    number: int
    of: int

    def holds(self, file: InputFile) -> bool:
        """Whether a file is in this part, by a hash of its path below the searched folder."""
        digest = hashlib.sha256(file.below.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8]) % self.of == self.number - 1


def parse_shard(text: str) -> Shard:
    """Read ``2/8``. Raises UsageError for anything else."""
    match = _SHARD.fullmatch(text.strip())
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise UsageError(f"{text!r} is not a shard; write it as 2/8, the second of eight")
    return Shard(int(match[1]), int(match[2]))


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChoice:
    """The files to work on.

    Attributes:
        paths: files, folders and patterns.
        include: shell patterns for names, or paths below a folder, of the files to process; they
            replace the default of TRANSCRIPTS without BESIDE_TRANSCRIPTS.
        exclude: shell patterns for files and folders to skip.
        shard: the part of the files to process; None for all.
        skip_unknown: skip files that no format recognizes, even if named.
        column: the column of Parquet data sets with the conversations; None finds it by its name.
    """

    paths: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    shard: Shard | None = None
    skip_unknown: bool = False
    column: str | None = None


def discover(choice: FileChoice, *, data_sets: bool = False) -> tuple[InputFile, ...]:
    """Return the files to work on, each once, in the order of the paths and then of names.

    A named file is always included, even if missing. Folders are searched for TRANSCRIPTS,
    including hidden ones, without following links to folders. A path that does not exist and has
    wildcards is a pattern. Files written by compactctl are skipped. ``data_sets`` adds DATA_SETS
    that hold conversations.

    Raises NoInputError if a pattern, or all paths together, match nothing; UsageError for ``-``.
    """
    patterns = choice.include or (*TRANSCRIPTS, *(DATA_SETS if data_sets else ()))
    files: dict[str, InputFile] = {}
    for path in choice.paths:
        for file in _files(path, choice, patterns):
            real_path = os.path.realpath(file.path)
            if real_path not in files:
                files[real_path] = file
            elif file.is_named:
                files[real_path] = replace(files[real_path], is_named=True)
    if not files:
        raise NoInputError(
            f"{', '.join(choice.paths) or 'no path'}: no transcript found ({', '.join(patterns)}); "
            "name files, or use --include"
        )
    shard = choice.shard
    return tuple(file for file in files.values() if shard is None or shard.holds(file))


def _files(path: str, choice: FileChoice, patterns: Sequence[str]) -> Sequence[InputFile]:
    if not path:
        raise UsageError("empty path; name a file, a folder or a glob")
    if path == STANDARD_STREAM:
        raise UsageError(
            "standard input holds one transcript; name files, or use stats - or compact -"
        )
    if is_folder(path):
        files = FolderTree(root=path, exclude=choice.exclude).files()
        return _chosen(path, files, patterns)
    if os.path.lexists(path) or not has_magic(path):
        return [InputFile(path=path, below=Path(path).name, n_bytes=_size(path), is_named=True)]
    return _of_pattern(path, choice, patterns)


def is_compacted_name(name: str) -> bool:
    """Return whether a file name is one that compactctl gives to its output."""
    return bool(_COMPACTED.search(name))


def _of_pattern(pattern: str, choice: FileChoice, patterns: Sequence[str]) -> Sequence[InputFile]:
    parts = PurePosixPath(pattern).parts
    n_fixed = next(index for index, part in enumerate(parts) if has_magic(part))
    root = str(PurePosixPath(*parts[:n_fixed]))
    tree = FolderTree(root=root, exclude=choice.exclude)
    files: list[InputFile] = []
    for entry in tree.matching(parts[n_fixed:]):
        if entry.is_folder:
            files += _chosen(root, tree.files(entry), patterns)
        else:
            files += _chosen(root, [entry], choice.include or ("*",))
    if not files:
        raise NoInputError(f"{pattern}: no file matches; check the pattern and the folder")
    return sorted(files, key=_order)


def _chosen(root: str, entries: Iterable[FolderEntry], include: Sequence[str]) -> list[InputFile]:
    files = (_input(root, entry) for entry in entries if _is_wanted(entry, include))
    return sorted((item for item in files if _is_of_conversations(item)), key=_order)


def _is_wanted(entry: FolderEntry, include: Sequence[str]) -> bool:
    """Return whether to include a file; files beside transcripts need a pattern of the user's."""
    if entry.problem:
        return True
    name = entry.below.rpartition("/")[2]
    is_ours = is_compacted_name(name) or DRAFT.fullmatch(name)
    is_beside = TRANSCRIPTS[0] in include and matches(name, BESIDE_TRANSCRIPTS)
    return not (is_ours or is_beside) and matches(entry.below, include)


def _is_of_conversations(item: InputFile) -> bool:
    """Return whether a table found in a folder holds conversations; most hold other things."""
    return bool(item.problem) or not is_data_set(item.path) or holds_conversations(item.path)


def _input(root: str, entry: FolderEntry) -> InputFile:
    path = str(Path(root, entry.below))
    if path == STANDARD_STREAM:
        path = f"./{path}"
    return InputFile(path=path, below=entry.below, n_bytes=_size(path), problem=entry.problem)


def _order(item: InputFile) -> list[str]:
    return item.below.split("/")


def _size(path: str) -> int:
    """Return the size of an input file, and note its mode here, since workers read the file."""
    try:
        info = Path(path).stat()
    except OSError:
        if is_in_database(path):
            note_mode(PRIVATE_FILE)
        return 0
    note_mode(info.st_mode)
    return info.st_size


def listed_paths(source: str) -> tuple[str, ...]:
    """Read paths from a file, ``-`` for standard input: one per line, or separated by NUL bytes.

    Raises NoInputError for a list that cannot be read or is empty.
    """
    data = open_input(source, TEXT_LIMITS).data
    separator = b"\0" if b"\0" in data else b"\n"
    paths = tuple(os.fsdecode(path) for path in data.split(separator) if path.strip())
    if not paths:
        raise NoInputError(f"{source}: lists no paths; write one per line")
    return paths
