"""Runs a task on copies of the objects that it names, and uploads what it wrote."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from compactctl.commands.batch.row import BatchRow
from compactctl.commands.batch.tasks import FileTask, WorkedFile
from compactctl.errors import ChangedError, CompactctlError
from compactctl.records import replace
from compactctl.store.archive.archive_file import read_operation
from compactctl.store.archive.archive_writer import verify_archive
from compactctl.store.archive.lock import LOCK_NAME
from compactctl.store.archive.names import README, SUFFIX, archive_folder
from compactctl.store.archive.unrealized import leaves_gap, unrealized_archives
from compactctl.store.files.limits import NO_LIMITS, ReadLimits
from compactctl.store.files.objects import (
    ObjectCopies,
    copy_errors,
    copy_object,
    delete_object,
    find_object,
    is_object,
    list_objects,
)


def is_remote(task: FileTask) -> bool:
    """Return whether a task reads or writes objects of a store."""
    return is_object(task.input.path) or is_object(task.output or "")


def run_staged(
    task: FileTask, work: Callable[[FileTask], WorkedFile], limits: ReadLimits
) -> WorkedFile:
    """Run ``work`` on copies of a task's input and earlier output, and upload what it wrote.

    Raises NoInputError for an object that cannot be read, ChangedError for an output that another
    program wrote meanwhile, and DiskError for one that cannot be written.
    """
    with copy_errors(task.input.path), TemporaryDirectory(prefix="compactctl-") as name:
        folder = Path(name).resolve()
        urls: dict[str, str] = {}
        local = task
        if is_object(task.input.path):
            copy = folder / "input" / task.input.path.rpartition("/")[2]
            urls[str(copy)] = task.input.path
            copy_object(task.input.path, copy, limits)
            local = replace(task, input=replace(task.input, path=str(copy)))
        if task.output is None or not is_object(task.output):
            return _renamed(work(local), urls)
        copies = _copied_output(task.output, folder / "output")
        urls[str(copies.path)] = task.output
        for path in unrealized_archives(archive_folder(copies.path), copies.path):
            # The run that wrote it may still be at work, and delete it if this one is faster.
            copies.forget(path)
        worked = work(replace(local, output=str(copies.path), url=task.output))
        return _renamed(worked, urls, _upload(copies))


def _copied_output(url: str, folder: Path) -> ObjectCopies:
    """Copy what decides whether an output may be overwritten: an earlier one and its archives."""
    copies = ObjectCopies(url, folder)
    copies.fetch(filter(None, (find_object(url),)))
    # Listed afterwards, they are at least those of the output.
    copies.fetch(list_objects(f"{url}{SUFFIX}"))
    return copies


def _upload(copies: ObjectCopies) -> str | None:
    """Upload an output and its archives; return its ETag. Raises as ``write_object``."""
    files = (path for path in archive_folder(copies.path).rglob("*") if path.is_file())
    # An output cannot do without its archives, so they come first.
    for path in sorted(path for path in files if path.name != LOCK_NAME):
        _upload_archived(copies, path)
    try:
        return copies.upload(copies.path) if copies.path.exists() else None
    except ChangedError:
        _delete_new_archives(copies)
        raise


def _upload_archived(copies: ObjectCopies, path: Path) -> None:
    """Upload a file of an archive folder; an archive of the same operation takes its place."""
    try:
        copies.upload(path)
    except ChangedError:
        if path.name != README and not _is_same_archive(path, copies.url_of(path)):
            raise


def _is_same_archive(path: Path, url: str) -> bool:
    """Return whether an object restores what an archive does, if it is one of the same operation.

    Archives of runs with the same options tell of different times.
    """
    with suppress(CompactctlError), TemporaryDirectory(prefix="compactctl-") as folder:
        copy = Path(folder, path.name)
        copy_object(url, copy, NO_LIMITS)
        verify_archive(copy, read_operation(path))
        return True
    return False


def _delete_new_archives(copies: ObjectCopies) -> None:
    """Delete the archives of this run, whose output was refused, from the store.

    They stay if a run with the same options was faster and its output was replaced in turn: then
    their operation took place. What cannot be deleted is ignored by whoever reads it.
    """
    new_urls = set(map(copies.url_of, copies.new_files))
    with suppress(CompactctlError, OSError), TemporaryDirectory(prefix="compactctl-") as folder:
        present = _copied_output(copies.url, Path(folder).resolve())
        for path in unrealized_archives(archive_folder(present.path), present.path):
            if present.url_of(path) in new_urls and not leaves_gap(path):
                delete_object(present.url_of(path))
                present.forget(path)


def _renamed(worked: WorkedFile, urls: Mapping[str, str], etag: str | None = None) -> WorkedFile:
    """Return the rows with URLs in place of the paths of their copies, and the output's ETag."""

    def renamed(text: str) -> str:
        for path, url in urls.items():
            text = text.replace(path, url)
        return text

    def renamed_row(row: BatchRow) -> BatchRow:
        row = replace(row, path=renamed(row.path))
        if row.failure is not None:
            row = replace(row, failure=replace(row.failure, error=renamed(row.failure.error)))
        if row.output is not None:
            archive = row.output.archive and renamed(row.output.archive)
            path = renamed(row.output.path)
            row = replace(row, output=replace(row.output, path=path, archive=archive, etag=etag))
        return row

    return WorkedFile(
        rows=tuple(map(renamed_row, worked.rows)),
        details=tuple(replace(details, path=renamed(details.path)) for details in worked.details),
    )
