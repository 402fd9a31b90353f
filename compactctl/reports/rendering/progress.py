"""How far a command over many files is, on a terminal."""

import sys
from types import TracebackType
from typing import Protocol, Self

import click

from compactctl.reports.rendering.text import one_line

_CLEAR_LINE = "\r\x1b[K"
_NAME_WIDTH = 40


class Done(Protocol):
    """What came of a file."""

    @property
    def path(self) -> str:
        """The file."""


class BatchProgress:
    """One line on standard error that is written over; nothing where that is not a terminal."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()

    def tell(self, done: int, count: int, row: Done) -> None:
        """Show that a file is done."""
        name = one_line(row.path[-_NAME_WIDTH:], _NAME_WIDTH)
        self._write(f"{_CLEAR_LINE}{done:,} of {count:,} files: {name}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._write(_CLEAR_LINE)

    def _write(self, shown: str) -> None:
        if self._is_shown:
            click.echo(shown, nl=False, err=True)
