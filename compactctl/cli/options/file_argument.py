"""FILE, which the commands about one transcript can do without."""

import io
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from compactctl.cli.options.shared import STANDARD_STREAM
from compactctl.errors import NoInputError, UsageError

F = TypeVar("F", bound=Callable[..., Any])


def file_argument(*, compacted: bool = False) -> Callable[[F], F]:
    """Add ``[FILE]``, which arrives as ``path``.

    Without it standard input is read; when that is a terminal, the transcripts in this folder are
    listed, with ``compacted`` those that compactctl wrote, and the command ends.
    """
    choose = partial(_file, compacted=compacted)
    return click.argument("path", metavar="[FILE]", required=False, callback=choose)


def _file(
    context: click.Context,
    parameter: click.Parameter,  # noqa: ARG001
    value: str | None,
    *,
    compacted: bool,
) -> str | None:
    if value is not None or context.resilient_parsing:
        return value
    if sys.stdin is not None and sys.stdin.isatty():
        _list(context.command_path, compacted=compacted)
        context.exit(UsageError.exit_code)
    if _is_empty():
        raise NoInputError(
            "no FILE is given, and there is nothing on standard input; name a transcript, as in "
            f"{context.command_path} run.jsonl, or pipe one in"
        )
    return STANDARD_STREAM


def _is_empty() -> bool:
    """Tell whether standard input is closed or ends before its first byte; that is waited for."""
    if sys.stdin is None:
        return True
    stream = sys.stdin.buffer
    try:
        return isinstance(stream, io.BufferedReader) and not stream.peek(1)
    except OSError as error:
        why = error.strerror or error
        raise NoInputError(f"standard input: cannot be read ({why}); name a transcript") from error


def _list(command: str, *, compacted: bool) -> None:
    from compactctl.commands.loading.candidates import candidates
    from compactctl.reports.rendering.screen import Screen
    from compactctl.reports.terminal.candidates import candidates_screen

    found = candidates(Path.cwd(), compacted=compacted)
    Screen(error=True).show(*candidates_screen(found, command, time.time()))
