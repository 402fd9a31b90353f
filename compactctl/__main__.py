"""The program's entry: runs a command and turns every outcome into an exit code."""

import gc
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from compactctl.errors import INTERNAL_ERROR, is_out_of_memory

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

NAME = "compactctl"
NOT_UNDERSTOOD = 4
# EX_IOERR of sysexits.h, as for disks.
OUTPUT_ERROR = 74
# As for disks: what the system has is not enough.
MEMORY_ERROR = 74
# 128 and the number of the signal, as shells have it.
INTERRUPTED = 130
TERMINATED = 143

_NO_MEMORY = (
    b"compactctl: there is not enough memory; nothing is half written: "
    b"end other programs, raise the limit (ulimit -v), or split the transcript\n"
)
_TOO_DEEP = (
    "compactctl: something in the input is nested too deeply; nothing is half written: "
    "take it out, or name another file"
)
_COMPLETION = "_COMPACTCTL_COMPLETE"
# A transcript becomes millions of objects that live to the end: looking for cycles among them
# after every 700 new ones, Python's default, takes a quarter of the time that is not counting,
# after 100,000 still a twentieth. There are next to none: a batch takes no more memory.
_NEW_OBJECTS = 1_000_000


class _Output(io.FileIO):
    """A standard stream whose reader may go away: what is written from then on goes nowhere.

    The command does its work to the end, and its exit code stays what it found. ``losses`` are the
    errors that end the stream; any other is raised, as that of a full disk.
    """

    def __init__(self, stream: io.TextIOWrapper, losses: tuple[type[OSError], ...]) -> None:
        super().__init__(stream.fileno(), "w", closefd=False)
        # It closes the descriptor when nothing refers to it.
        self._stream = stream
        self._losses = losses

    def write(self, data: "ReadableBuffer") -> int:
        """Write, and return the bytes that are done with."""
        try:
            return super().write(data)
        except self._losses:
            _drop(self.fileno())
            return memoryview(data).nbytes


class Terminated(BaseException):
    """SIGTERM came: clean up and end. Not an Exception, so that nobody handles it as an error."""


def main() -> NoReturn:
    """Run the command line and exit; errors are one line on standard error, no traceback."""
    gc.set_threshold(_NEW_OBJECTS)
    signal.signal(signal.SIGTERM, _terminate)
    _fill_closed_streams()
    _outlive_readers()
    _leave(run(sys.argv[1:], _accept_any_text))


def run(arguments: Sequence[str], prepare: Callable[[], None] = lambda: None) -> int:
    """Run the command line and return its exit code; ``prepare`` is done first."""
    try:
        prepare()
        return _run(arguments)
    except (MemoryError, ImportError, OSError, SyntaxError) as error:
        if not is_out_of_memory(error):
            raise
    # Only here, where nothing refers to what was worked on any more, is there memory again.
    with suppress(OSError):
        os.write(2, _NO_MEMORY)
    return MEMORY_ERROR


def _run(arguments: Sequence[str]) -> int:
    try:
        _require_system()
        return _invoke(arguments)
    except RecursionError:
        return _fail(_TOO_DEEP, NOT_UNDERSTOOD)
    except BaseException as error:
        if is_out_of_memory(error):
            raise
        return _explain(error, arguments)


def _require_system() -> None:
    """Raise UsageError on a system where files cannot be locked and replaced as on POSIX."""
    if sys.platform == "win32":
        from compactctl.errors import UsageError

        raise UsageError("needs Linux or macOS; on Windows run it in WSL")


def _invoke(arguments: Sequence[str]) -> int:
    from compactctl.cli.group import cli
    from compactctl.store.files.modes import noted_modes

    if _COMPLETION in os.environ:
        from compactctl.cli.shells import register_completion

        register_completion()
        cli.main(prog_name=NAME)
    # click's own main() would end the program itself, with exit code 1, when a pipe is closed.
    with noted_modes(), cli.make_context(NAME, list(arguments)) as context:
        code = cli.invoke(context)
    sys.stdout.flush()
    return code if isinstance(code, int) else 0


def _explain(error: BaseException, arguments: Sequence[str]) -> int:
    """Say in a line what went wrong, and return the exit code."""
    import click

    from compactctl.errors import CompactctlError
    from compactctl.views.failure import bug_report, error_line, state_line, system_line, usage_line

    match error:
        case SystemExit():
            raise error
        case click.exceptions.Exit():
            return _flushed(error.exit_code)
        case click.exceptions.NoArgsIsHelpError():
            error.show()
            return error.exit_code
        case click.ClickException():
            return _fail(usage_line(error), error.exit_code)
        case CompactctlError():
            return _fail(error_line(error), error.exit_code)
        case KeyboardInterrupt() | click.Abort():
            return _fail(f"compactctl: interrupted; {state_line(error)}", INTERRUPTED)
        case Terminated():
            return _fail(f"compactctl: terminated; {state_line(error)}", TERMINATED)
        case OSError():
            with suppress(OSError):
                _drop(sys.stdout.fileno())
            return _fail(system_line(error), OUTPUT_ERROR)
        case _:
            return _fail(bug_report(error, arguments), INTERNAL_ERROR)


def _leave(code: int) -> NoReturn:
    """End the program at once: taking millions of objects apart is a fifth of a short run."""
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _fail(message: str, code: int) -> int:
    import click

    with suppress(OSError):
        click.echo(message, err=True)
    return code


def _flushed(code: int) -> int:
    """Return the exit code of a command that ended early, unless its output was refused."""
    try:
        sys.stdout.flush()
    except OSError as error:
        return _explain(error, ())
    return code


def _drop(number: int) -> None:
    """Let go of what cannot be written any more, or Python would try once more when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


def _outlive_readers() -> None:
    """Let the program go on when what reads a standard stream goes away, as ``head`` does.

    Of standard error nothing is needed: whatever refuses it changes no exit code.
    """
    closed = (BrokenPipeError, ConnectionResetError)
    for name, number, losses in (("stdout", 1, closed), ("stderr", 2, (OSError,))):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and stream.fileno() == number:
            own = io.TextIOWrapper(
                io.BufferedWriter(_Output(stream, losses)),
                encoding=stream.encoding,
                errors=stream.errors,
                line_buffering=stream.line_buffering,
                write_through=stream.write_through,
            )
            setattr(sys, name, own)


def _fill_closed_streams() -> None:
    """Open a device in the place of every standard stream that is closed.

    The next file would get its number otherwise, and with it what is meant for the stream. Standard
    output refuses what is written, so that its loss is told; standard error takes it; standard
    input stays None, which says that it is closed.
    """
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)
    for name, mode in (("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, mode), "w"))


def _accept_any_text() -> None:
    """Write what the terminal's encoding cannot express in other words instead of failing."""
    from compactctl.views.terminal.screen import PLAIN, register

    register()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=PLAIN)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Terminated


if __name__ == "__main__":
    main()
