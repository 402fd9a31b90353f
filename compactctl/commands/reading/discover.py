"""Finds the transcripts named by paths, folders and patterns, or one shard of them."""

import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from glob import has_magic
from pathlib import Path, PurePath, PurePosixPath

from compactctl.asks import INPUT, ONE_RUN, READS, ask, flag
from compactctl.commands.reading.trees import (
    FolderEntry,
    FolderTree,
    InputFile,
    is_excluded,
    is_folder,
    matches,
    object_input,
    size_of,
    tree_at,
)
from compactctl.errors import NoInputError, UsageError
from compactctl.records import Record, replace
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.objects import SCHEMES, find_object, is_object, real_place
from compactctl.store.files.parquet_dataset import holds_conversations, is_data_set
from compactctl.store.files.source import STANDARD_STREAM, open_input
from compactctl.store.files.stale_drafts import DRAFT

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


class Shard(Record, kw_only=False):
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


class FileChoice(Record):
    """The files to work on: ``paths`` are files, folders and patterns.

    The shell patterns in ``include`` are for names, or paths below a folder; those in ``exclude``
    are as in .gitignore, see ``is_excluded``. Those to include replace the default of TRANSCRIPTS
    without BESIDE_TRANSCRIPTS.
    """

    paths: tuple[str, ...] = ()
    files_from: str | None = ask(
        None,
        "Also process the paths in this file, one per line; - is standard input.",
        INPUT,
        READS,
        path="settings",
        metavar="FILE",
    )
    shard: Shard | None = ask(
        None,
        "Process shard I of N, e.g. 2/8; run the others on other machines.",
        INPUT,
        ONE_RUN,
        metavar="I/N",
        parse=parse_shard,
    )
    include: tuple[str, ...] = ask(
        (),
        "In folders, process only files matching GLOB (repeatable). [default: *.jsonl, *.json, "
        "also with .gz and .zst, and *.parquet that hold conversations]",
        INPUT,
        READS,
        metavar="GLOB",
    )
    exclude: tuple[str, ...] = ask(
        (), "Skip files and folders matching GLOB (repeatable).", INPUT, READS, metavar="GLOB"
    )
    skip_unknown: bool = flag(
        "Skip a named file in an unknown format instead of failing.", INPUT, READS
    )
    column: str | None = ask(
        None,
        "Column of a Parquet data set that holds the conversations. [default: messages, "
        "conversations or another usual name]",
        INPUT,
        READS,
        metavar="NAME",
    )

    def with_listed(self) -> "FileChoice":
        """Return the same choice with the paths that ``files_from`` lists among the others.

        Raises NoInputError for a list that cannot be read or is empty.
        """
        listed = () if self.files_from is None else _listed_paths(self.files_from)
        return replace(self, paths=(*self.paths, *listed), files_from=None)


def discover(choice: FileChoice, *, data_sets: bool = False) -> tuple[InputFile, ...]:
    """Return the files to work on, each once, in the order of the paths and then of names.

    A named file is included even if missing, unless it is excluded. Folders are searched for
    TRANSCRIPTS, including hidden ones, without following links to folders. A path that does not
    exist and has wildcards is a pattern. Files written by compactctl are skipped. ``data_sets``
    adds DATA_SETS that hold conversations.

    Raises NoInputError if a pattern, or all paths together, match nothing; UsageError for ``-``.
    """
    paths = choice.with_listed().paths
    patterns = choice.include or (*TRANSCRIPTS, *(DATA_SETS if data_sets else ()))
    files: dict[str, InputFile] = {}
    for path in paths:
        for file in _files(path, choice, patterns):
            place = real_place(file.path)
            if place not in files:
                files[place] = file
            elif file.is_named:
                files[place] = replace(files[place], is_named=True)
    if not files:
        raise NoInputError(
            f"{', '.join(paths) or 'no path'}: no transcript found ({', '.join(patterns)}); "
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
    if is_object(path):
        return _objects(path, choice)
    if is_folder(path):
        tree = tree_at(path, choice.exclude)
        return _chosen(tree, tree.files(), patterns)
    if os.path.lexists(path) or not has_magic(path):
        if _is_excluded(path, choice.exclude):
            return []
        return [InputFile(path=path, below=Path(path).name, n_bytes=size_of(path), is_named=True)]
    return _of_pattern(path, choice, patterns)


def _is_excluded(path: str, patterns: Sequence[str]) -> bool:
    """Return whether a named file, or a folder that it is in, is excluded.

    A shell may have expanded a pattern to the names.
    """
    below = PurePath(path).as_posix()
    above = (str(folder) for folder in PurePosixPath(below).parents if folder.name)
    is_file_excluded = is_excluded(below, patterns, root="", is_folder=False)
    return is_file_excluded or any(
        is_excluded(folder, patterns, root="", is_folder=True) for folder in above
    )


def _objects(url: str, choice: FileChoice) -> Sequence[InputFile]:
    """Return the object of this URL, or those below it, or those that match it as a pattern.

    Data sets are only processed if a pattern asks for them: each would have to be read whole to
    find out what is in it.
    """
    item = find_object(url)
    if item is not None:
        return [object_input(item, is_named=True)]
    patterns = choice.include or TRANSCRIPTS
    if has_magic(url):
        return _of_pattern(url, choice, patterns)
    tree = tree_at(url, choice.exclude)
    if not any(tree.files()):
        raise NoInputError(f"{url}: no such object, and none below it; check the bucket and key")
    return _chosen(tree, tree.files(), patterns)


def is_compacted_name(name: str) -> bool:
    """Return whether a file name is one that compactctl gives to its output."""
    return bool(_COMPACTED.search(name))


def _of_pattern(pattern: str, choice: FileChoice, patterns: Sequence[str]) -> Sequence[InputFile]:
    root, parts = _split_pattern(pattern)
    tree = tree_at(root, choice.exclude)
    files: list[InputFile] = []
    for entry in tree.matching(parts):
        if entry.is_folder:
            files += _chosen(tree, tree.files(entry), patterns)
        else:
            files += _chosen(tree, [entry], choice.include or ("*",))
    if not files:
        raise NoInputError(f"{pattern}: no file matches; check the pattern and the folder")
    return sorted(files, key=_order)


def _split_pattern(pattern: str) -> tuple[str, Sequence[str]]:
    """Split a pattern into the folder that it searches, and its parts below that."""
    scheme = next(filter(pattern.startswith, SCHEMES), "")
    parts = PurePosixPath(pattern.removeprefix(scheme)).parts
    n_fixed = next(index for index, part in enumerate(parts) if has_magic(part))
    return f"{scheme}{PurePosixPath(*parts[:n_fixed])}", parts[n_fixed:]


def _chosen(
    tree: FolderTree, entries: Iterable[FolderEntry], include: Sequence[str]
) -> list[InputFile]:
    files = (tree.input_at(entry) for entry in entries if _is_wanted(entry, include))
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
    is_table = is_data_set(item.path) and not is_object(item.path)
    return bool(item.problem) or not is_table or holds_conversations(item.path)


def _order(item: InputFile) -> list[str]:
    return item.below.split("/")


def _listed_paths(source: str) -> tuple[str, ...]:
    """Read paths from a file, ``-`` for standard input: one per line, or separated by NUL bytes.

    Raises NoInputError for a list that cannot be read or is empty.
    """
    data = open_input(source, TEXT_LIMITS).data
    separator = b"\0" if b"\0" in data else b"\n"
    paths = tuple(os.fsdecode(path) for path in data.split(separator) if path.strip())
    if not paths:
        raise NoInputError(f"{source}: lists no paths; write one per line")
    return paths
