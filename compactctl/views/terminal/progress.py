"""Progress of a command on standard error; a terminal shows it only while the command works.

rich is imported only when something is shown.
"""

import sys
from pathlib import PurePath
from threading import Timer
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Self

import click

from compactctl.views.terminal.text import one_line, path_name, size_text

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

    from compactctl.commands.progress import FilesDone


_NAME_WIDTH = 30
# Work that finishes sooner shows no progress.
_PATIENCE = 1.0
# Enough for a log, and for CI runners that end a job without output.
_SECONDS_BETWEEN_LINES = 60.0


class WorkProgress:
    """The current work, shown on a terminal after the first second."""

    def __init__(self, what: str, path: str, *, enabled: bool = True) -> None:
        self._text = f"{what} {one_line(PurePath(path_name(path)).name, _NAME_WIDTH)}"
        self._display: Progress | None = None
        self._timer = Timer(_PATIENCE, self._start)
        self._timer.daemon = True
        self._wanted = enabled and sys.stderr.isatty()

    def __enter__(self) -> Self:
        if self._wanted:
            self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._wanted:
            return
        self._timer.cancel()
        self._timer.join()
        if self._display is not None:
            self._display.stop()

    def _start(self) -> None:
        from rich.progress import SpinnerColumn, TimeElapsedColumn

        display = _display(SpinnerColumn(style=""), _text_column(), TimeElapsedColumn())
        display.add_task(self._text, total=None)
        display.start()
        self._display = display


class BatchProgress:
    """The number of finished files: a bar on a terminal, otherwise one line per minute."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._display: Progress | None = None
        self._said = monotonic()

    def tell(self, done: "FilesDone") -> None:
        """Show that a file is finished."""
        if self._is_terminal:
            self._draw(done)
        elif monotonic() - self._said >= _SECONDS_BETWEEN_LINES:
            self._said = monotonic()
            sizes = f"{size_text(done.n_bytes)} of {size_text(done.of_bytes)}"
            click.echo(f"{_counted(done)}, {sizes}", err=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._display is not None:
            self._display.stop()

    def _draw(self, done: "FilesDone") -> None:
        if self._display is None:
            self._display = _bar()
            self._display.add_task(_counted(done), total=done.of_bytes)
            self._display.start()
        (task,) = self._display.task_ids
        self._display.update(task, completed=done.n_bytes, description=_counted(done))


def _bar() -> "Progress":
    from rich.progress import BarColumn, TimeRemainingColumn, TransferSpeedColumn

    bar = BarColumn(bar_width=16)
    return _display(_text_column(), bar, TransferSpeedColumn(), TimeRemainingColumn())


def _counted(done: "FilesDone") -> str:
    return f"{done.files:,} of {done.of_files:,} files"


def _text_column() -> "ProgressColumn":
    from rich.progress import TextColumn
    from rich.table import Column

    # File names are not markup, and long lines are cut instead of wrapped.
    column = Column(no_wrap=True, overflow="ellipsis")
    return TextColumn("{task.description}", markup=False, table_column=column)


def _display(*columns: "ProgressColumn") -> "Progress":
    from rich.console import Console
    from rich.progress import Progress

    console = Console(file=sys.stderr, markup=False, emoji=False, highlight=False)
    return Progress(
        *columns,
        console=console,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
