"""Files that a command writes beside what it shows, and where they may not be written."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from compactctl.errors import UsageError
from compactctl.store.archive.sealed import is_sealed, is_sealed_text
from compactctl.store.publish.overwrite import check_output, unknown_file_error


def check_report(report: str, taken: Iterable[str], *, force: bool) -> None:
    """Raise UsageError when the report cannot be written, or not without overwriting.

    ``taken`` are the command's inputs and outputs. An earlier report that nobody changed may be
    overwritten; by ``force`` any other file that is not one of those.
    """
    place = os.path.realpath(report)
    if place in {os.path.realpath(path) for path in taken}:
        raise UsageError(f"{report}: is an input or an output; give the report another name")
    check_output(report)
    if not force and Path(place).is_file() and not _is_ours(Path(place)):
        raise unknown_file_error(Path(report))


def _is_ours(path: Path) -> bool:
    return is_sealed(path) or is_sealed_text(path)


FileKind = Literal["report", "table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """A file that was written beside what a command shows, and what there was to say about that.

    A ``report`` has a row for each of what the command looked at, a ``table`` rows of another kind.
    """

    path: str
    kind: FileKind
    rows: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PageChoice:
    """A page to be written to the file ``path``.

    ``redact`` leaves out all texts and names that are the transcript's own, ``mask`` what looks
    like a secret in them; ``force`` overwrites what compactctl did not write.
    """

    path: str
    redact: bool = False
    mask: bool = True
    force: bool = False
