"""Runs a task on copies of the objects that it names, and uploads what it wrote."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from compactctl.commands.batch.row import BatchRow
from compactctl.commands.batch.tasks import FileTask, WorkedFile
from compactctl.store.archive.lock import LOCK_NAME
from compactctl.store.archive.names import SUFFIX, archive_folder
from compactctl.store.files.limits import ReadLimits
from compactctl.store.files.objects import (
    ObjectCopies,
    copy_errors,
    copy_object,
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
        copies = ObjectCopies(task.output, folder / "output")
        output = copies.path
        urls[str(output)] = task.output
        # What an earlier run wrote decides whether it may be overwritten.
        earlier = (find_object(task.output), *list_objects(f"{task.output}{SUFFIX}"))
        copies.fetch(item for item in earlier if item is not None)
        worked = work(replace(local, output=str(output)))
        # An output cannot do without its archives, so they come first.
        for path in sorted(archive_folder(output).glob("*")):
            if path.name != LOCK_NAME:
                copies.upload(path)
        etag = copies.upload(output) if output.exists() else None
        return _renamed(worked, urls, etag)


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
