"""Ends the work on a file that takes too long."""

import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer, current_thread, main_thread
from types import FrameType

TOOK_TOO_LONG = 75
"""The exit code: EX_TEMPFAIL of sysexits.h."""
_PATIENCE = 2.0
"""After so many times the limit a worker that cannot be interrupted is ended as a whole."""


class TookTooLongError(BaseException):
    """The time for a file is over. Like KeyboardInterrupt no other error: nothing swallows it."""


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise TookTooLongError in the block after so many seconds; None and 0 give all the time.

    What runs in a library and cannot be interrupted ends its worker process a little later. Only
    the main thread of a process can be interrupted; elsewhere there is no limit.
    """
    if not seconds or current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _raise)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with _ending_worker(_PATIENCE * seconds):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _ending_worker(seconds: float) -> Iterator[None]:
    if multiprocessing.parent_process() is None:
        yield
        return
    timer = Timer(seconds, os._exit, (TOOK_TOO_LONG,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _raise(_signal: int, _frame: FrameType | None) -> None:
    raise TookTooLongError
