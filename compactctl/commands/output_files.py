"""Files that a command writes besides its output, and where they may not be written."""

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath
from typing import Literal

from compactctl.errors import UsageError
from compactctl.records import Record
from compactctl.store.archive.sealed import is_sealed, is_sealed_text
from compactctl.store.files.objects import real_place
from compactctl.store.publish.overwrite import check_output, unknown_file_error


def check_report(report: str, reserved: Iterable[str], *, force: bool) -> None:
    """Raise UsageError if the report cannot be written, or only by overwriting a file.

    ``reserved`` are the command's inputs and outputs. An unchanged earlier report may be
    overwritten; with ``force`` any file that is not reserved.
    """
    check_not_reserved(report, reserved)
    check_output(report)
    real_path = real_place(report)
    if not force and Path(real_path).is_file() and not _is_ours(Path(real_path)):
        raise unknown_file_error(Path(report))


def format_by_extension(
    option: str, path: str, formats: Sequence[str], *, otherwise: str = ""
) -> str:
    """Return the format that a file's extension names; without one, the first of ``formats``.

    Raises UsageError for another extension: what is written would not be what the name says.
    ``otherwise`` is what else can be done, for the error.
    """
    _, dot, ending = PurePath(path).name.lower().rpartition(".")
    if not dot:
        return formats[0]
    if ending not in formats:
        names = " or ".join(filter(None, (", ".join(formats[:-1]), formats[-1])))
        raise UsageError(f"{option} {path}: cannot write .{ending}; use {names}{otherwise}")
    return ending


def check_not_reserved(report: str, reserved: Iterable[str]) -> None:
    """Raise UsageError if a report has the place of one of the command's inputs and outputs."""
    if real_place(report) in {real_place(path) for path in reserved}:
        raise UsageError(f"{report}: is an input or an output; give the report another name")


def _is_ours(path: Path) -> bool:
    return is_sealed(path) or is_sealed_text(path)


TABLE_FORMATS = ("parquet", "csv", "jsonl")
"""The formats, each named by its extension, in which rows can be written."""
FileKind = Literal["report", "table"]


class WrittenFile(Record):
    """A file that was written besides a command's output, and warnings about it.

    A ``report`` has a row for each item the command processed, a ``table`` rows of another kind.
    """

    path: str
    kind: FileKind
    rows: int
    warnings: tuple[str, ...] = ()
