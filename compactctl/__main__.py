"""The program's entry: runs a command and turns every outcome into an exit code."""

import gc
import io
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType
from typing import NoReturn

NAME = "compactctl"
INTERNAL_ERROR = 70
# EX_IOERR of sysexits.h, as for disks.
OUTPUT_ERROR = 74
# 128 and the number of the signal, as shells have it.
INTERRUPTED = 130
TERMINATED = 143

_COMPLETION = "_COMPACTCTL_COMPLETE"
# A transcript becomes millions of objects that live to the end: looking for cycles among them
# after every 700 new ones, Python's default, takes a quarter of the time that is not counting.
_NEW_OBJECTS = 100_000


class Terminated(BaseException):
    """SIGTERM came: clean up and end. Not an Exception, so that nobody handles it as an error."""


def main() -> NoReturn:
    """Run the command line and exit; errors are one line on standard error, no traceback."""
    gc.set_threshold(_NEW_OBJECTS)
    signal.signal(signal.SIGTERM, _terminate)
    _accept_any_text()
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    try:
        return _invoke(arguments)
    except BaseException as error:  # noqa: BLE001 - the last place where anything can be explained
        return _explain(error, arguments)


def _invoke(arguments: Sequence[str]) -> int:
    from compactctl.cli.group import cli

    if _COMPLETION in os.environ:
        cli.main(prog_name=NAME)
    # click's own main() would end the program itself, with exit code 1, when a pipe is closed.
    with cli.make_context(NAME, list(arguments)) as context:
        code = cli.invoke(context)
    sys.stdout.flush()
    return code if isinstance(code, int) else 0


def _explain(error: BaseException, arguments: Sequence[str]) -> int:
    """Say in a line what went wrong, and return the exit code."""
    import click

    from compactctl.errors import CompactctlError
    from compactctl.reports.failure import bug_report, error_line, system_line, usage_line

    match error:
        case SystemExit():
            raise error
        case click.exceptions.Exit():
            return error.exit_code
        case click.exceptions.NoArgsIsHelpError():
            error.show()
            return error.exit_code
        case click.ClickException():
            return _fail(usage_line(error), error.exit_code)
        case CompactctlError():
            return _fail(error_line(error), error.exit_code)
        case KeyboardInterrupt() | click.Abort():
            return _fail("compactctl: interrupted; nothing is half written", INTERRUPTED)
        case Terminated():
            return _fail("compactctl: terminated; nothing is half written", TERMINATED)
        case BrokenPipeError():
            _drop_output()
            return 0
        case OSError():
            _drop_output()
            return _fail(system_line(error), OUTPUT_ERROR)
        case _:
            return _fail(bug_report(error, arguments), INTERNAL_ERROR)


def _fail(message: str, code: int) -> int:
    import click

    with suppress(OSError):
        click.echo(message, err=True)
    return code


def _drop_output() -> None:
    """Let go of what cannot be written any more, or Python would try once more when it ends."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _accept_any_text() -> None:
    """Write what the terminal's encoding cannot express in other words instead of failing."""
    from compactctl.reports.letters import PLAIN, register

    register()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=PLAIN)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Terminated


if __name__ == "__main__":
    main()
