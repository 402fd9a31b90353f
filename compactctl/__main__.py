"""The entry point: run a command and turn every outcome into an exit code."""

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
# EX_IOERR of sysexits.h, as for disk errors.
OUTPUT_ERROR = 74
MEMORY_ERROR = 74
# 128 plus the number of the signal, as in shells.
INTERRUPTED = 130
TERMINATED = 143

_NO_MEMORY = (
    b"compactctl: there is not enough memory; no file is left half-written: "
    b"end other programs, raise the limit (ulimit -v), or split the transcript\n"
)
_TOO_DEEP = (
    "compactctl: something in the input is nested too deeply; no file is left half-written: "
    "take it out, or name another file"
)
_COMPLETION = "_COMPACTCTL_COMPLETE"
# A transcript becomes millions of objects that live until the end. Collecting garbage after every
# 700 new ones, Python's default, takes a quarter of the time not spent on counting tokens, after
# 100,000 still a twentieth. Cycles are so rare that a batch takes no more memory.
_GC_THRESHOLD = 1_000_000


class _Output(io.FileIO):
    """A standard stream that discards everything once its reader is gone.

    So the command still does its work, and its exit code tells the result. ``losses`` are the
    errors that mean a lost reader; any other is raised, such as that of a full disk.
    """

    def __init__(self, stream: io.TextIOWrapper, losses: tuple[type[OSError], ...]) -> None:
        super().__init__(stream.fileno(), "w", closefd=False)
        # It closes the descriptor when nothing refers to it.
        self._stream = stream
        self._losses = losses

    def write(self, data: "ReadableBuffer") -> int:
        """Write ``data``, or discard it, and return its size."""
        try:
            return super().write(data)
        except self._losses:
            _discard_output(self.fileno())
            return memoryview(data).nbytes


class Terminated(BaseException):
    """SIGTERM: clean up and exit. Not an Exception, so that nothing handles it as an error."""


def main() -> NoReturn:
    """Run the command line and exit; errors are one line on standard error, no traceback."""
    gc.set_threshold(_GC_THRESHOLD)
    signal.signal(signal.SIGTERM, _terminate)
    _fill_closed_streams()
    _outlive_readers()
    _leave(run(sys.argv[1:], _accept_any_text))


def run(arguments: Sequence[str], prepare: Callable[[], None] = lambda: None) -> int:
    """Call ``prepare``, run the command line and return its exit code."""
    try:
        prepare()
        return _run(arguments)
    except (MemoryError, ImportError, OSError, SyntaxError) as error:
        if not is_out_of_memory(error):
            raise
    # Only here, after the traceback is released, is there memory again.
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
    """Raise UsageError on Windows, where files cannot be locked and replaced as on POSIX."""
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
    # click's main() would exit with code 1 when a pipe is closed.
    with noted_modes(), cli.make_context(NAME, list(arguments)) as context:
        code = cli.invoke(context)
    sys.stdout.flush()
    return code if isinstance(code, int) else 0


def _explain(error: BaseException, arguments: Sequence[str]) -> int:
    """Return the exit code; print the error in one line, unless it only ends the run."""
    import click

    match error:
        case SystemExit():
            raise error
        case click.exceptions.Exit():
            return _flush(error.exit_code)
        case click.exceptions.NoArgsIsHelpError():
            error.show()
            return error.exit_code
        case _:
            return _explain_failure(error, arguments)


def _explain_failure(error: BaseException, arguments: Sequence[str]) -> int:
    """Print the error in one line and return its exit code."""
    import click

    from compactctl.errors import CompactctlError
    from compactctl.views.failure import bug_report, error_line, state_line, system_line, usage_line

    match error:
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
                _discard_output(sys.stdout.fileno())
            return _fail(system_line(error), OUTPUT_ERROR)
        case _:
            return _fail(bug_report(error, arguments), INTERNAL_ERROR)


def _leave(code: int) -> NoReturn:
    """Exit at once: freeing millions of objects takes a fifth of a short run."""
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _fail(message: str, code: int) -> int:
    import click

    with suppress(OSError):
        click.echo(message, err=True)
    return code


def _flush(code: int) -> int:
    """Return the exit code of a command that ended early, or that of its output's error."""
    try:
        sys.stdout.flush()
    except OSError as error:
        return _explain(error, ())
    return code


def _discard_output(fd: int) -> None:
    """Redirect a descriptor to nowhere, or Python would fail once more when it flushes at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, fd)
    os.close(null)


def _outlive_readers() -> None:
    """Let the program finish when the reader of a standard stream is gone, as with ``head``.

    Nothing depends on standard error: no error there changes the exit code.
    """
    closed = (BrokenPipeError, ConnectionResetError)
    for name, fd, losses in (("stdout", 1, closed), ("stderr", 2, (OSError,))):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and stream.fileno() == fd:
            tolerant = io.TextIOWrapper(
                io.BufferedWriter(_Output(stream, losses)),
                encoding=stream.encoding,
                errors=stream.errors,
                line_buffering=stream.line_buffering,
                write_through=stream.write_through,
            )
            setattr(sys, name, tolerant)


def _fill_closed_streams() -> None:
    """Open a device for every standard stream that is closed.

    Otherwise the next opened file would get its descriptor, and the stream's output with it.
    Standard output is opened read-only, so that the loss of output is an error; standard error
    discards everything; standard input stays None, which marks it as closed.
    """
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)
    for name, mode in (("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, mode), "w"))


def _accept_any_text() -> None:
    """Replace characters that the terminal's encoding lacks, instead of failing."""
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
