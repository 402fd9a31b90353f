"""Work done in a child of this process: the program, or what is killed in the middle.

The child has read the program's modules already. The program is there what it is in a process of
its own, without the time that starting Python takes.
"""

import gc
import io
import os
import signal
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path

import click

from compactctl.__main__ import main
from compactctl.cli.group import COMMANDS, cli


def started(
    arguments: Sequence[str],
    folder: str | Path,
    environment: Mapping[str, str],
    streams: tuple[int, int, int],
) -> int:
    """Start the program with these standard streams; return the number of its process."""
    _read_modules()
    return _forked(partial(_become, arguments, folder, environment, streams))


def killed(work: Callable[[], object]) -> bool:
    """Do ``work`` in a child; tell whether it was killed before it came to its end."""
    return ended(_forked(work)) == -signal.SIGKILL


def _forked(work: Callable[[], object]) -> int:
    """Start a child that does ``work`` and nothing else; return the number of its process."""
    with warnings.catch_warnings():
        # Python 3.12 warns that threads do not live on in the child; none is needed.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        try:
            # What this process has left behind is not the child's to finalize.
            gc.freeze()
            work()
        finally:
            os._exit(1)
    return child


@cache
def _read_modules() -> None:
    for name in COMMANDS:
        cli.get_command(click.Context(cli), name)


def ended(child: int) -> int:
    """Wait for a process; return its exit code."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _become(
    arguments: Sequence[str],
    folder: str | Path,
    environment: Mapping[str, str],
    streams: tuple[int, int, int],
) -> None:
    """Do what the program would, and end."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0)), encoding="utf-8")
    sys.stdout = _writer(1, line_buffering=os.isatty(1))
    sys.stderr = _writer(2, line_buffering=True)
    sys.argv = ["compactctl", *arguments]
    main()


def _writer(number: int, *, line_buffering: bool) -> io.TextIOWrapper:
    raw = io.BufferedWriter(io.FileIO(number, "w"))
    return io.TextIOWrapper(raw, encoding="utf-8", line_buffering=line_buffering)
