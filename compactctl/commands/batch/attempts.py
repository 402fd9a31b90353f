"""One attempt at a file: within the time limit, with every failure as a row."""

import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import Timer, current_thread, main_thread
from types import FrameType
from typing import TypeVar

from compactctl.commands.batch.options import BatchOptions
from compactctl.commands.batch.row import (
    BatchRow,
    failed_row,
)
from compactctl.errors import (
    INTERNAL_ERROR,
    CompactctlError,
    is_out_of_memory,
)

TOOK_TOO_LONG = 75
"""The exit code: EX_TEMPFAIL of sysexits.h."""
# The code of disk errors.
OUT_OF_MEMORY = 74
# A worker that cannot be interrupted is killed after this many times the limit.
_PATIENCE = 2.0
Done = TypeVar("Done")


def attempt(name: str, options: BatchOptions, work: Callable[[], Done]) -> Done | BatchRow:
    """Run ``work`` within the time limit; return its result, or a failed row for ``name``."""
    try:
        with time_limit(options.timeout, in_cluster=options.engine == "ray"):
            return work()
    except TookTooLongError:
        why = f"{name}: took longer than {options.timeout:g} s; give it more with --timeout"
        return failed_row(name, "TookTooLong", why, TOOK_TOO_LONG)
    except CompactctlError as error:
        return failed_row(name, type(error).__name__, str(error), error.exit_code)
    except Exception as error:  # noqa: BLE001 - a bug that one file meets must not stop the others
        kind = type(error).__name__
        if is_out_of_memory(error):
            why = f"{name}: there is not enough memory; give batch fewer --jobs, or the file alone"
            return failed_row(name, kind, why, OUT_OF_MEMORY)
        return failed_row(name, kind, f"{name}: {_bug(error)}", INTERNAL_ERROR)


def _bug(error: Exception) -> str:
    """Describe where the program failed; the error's message may quote the transcript."""
    *_, frame = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}"
    return f"an internal error, {type(error).__name__} at {place}; please report it"


class TookTooLongError(BaseException):
    """The time limit of a file passed. A BaseException, so that no handler swallows it."""


@contextmanager
def time_limit(seconds: float | None, *, in_cluster: bool = False) -> Iterator[None]:
    """Raise TookTooLongError in the block after so many seconds; no limit for None and 0.

    A library call that cannot be interrupted gets its worker process killed a little later; that of
    a cluster does not look like a worker, so ``in_cluster`` says that it is one. Only the main
    thread of a process can be interrupted; in other threads there is no limit.
    """
    if not seconds or current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _raise)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        is_worker = in_cluster or multiprocessing.parent_process() is not None
        with _ending_process(_PATIENCE * seconds) if is_worker else nullcontext():
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _ending_process(seconds: float) -> Iterator[None]:
    timer = Timer(seconds, os._exit, (TOOK_TOO_LONG,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _raise(_signal: int, _frame: FrameType | None) -> None:
    raise TookTooLongError
