"""Runs a function over many items in worker processes, and survives their death."""

import gc
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import connection
from threading import Thread
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

CHUNK_BYTES = 4 << 20
"""The bytes that one task reads: enough to make the cost of dispatching it negligible."""
SERIAL_BYTES = 8 << 20
"""The bytes below which one process is faster: each worker first imports the program and builds a
vocabulary, about 1.2 seconds of CPU, in which one process measures about 4 MB."""
_MIN_COST = 16 << 10
"""To open and report the smallest file takes as long as to read so many bytes of a large one."""

SAFE_PATH = "PYTHONSAFEPATH"
"""Without it a new Python looks for modules in the working folder first, where a file called
signal.py would be run, whoever put it there."""


class Pool(Generic[Item, Result]):
    """Applies ``work`` to items in order of size-bounded chunks.

    ``work`` and the items are pickled. If a worker dies, the items in progress are tried again one
    at a time; ``died`` returns the result of an item that kills its worker alone.
    """

    def __init__(self, work: Callable[[Item], Result], died: Callable[[Item], Result]) -> None:
        self._work, self._died = work, died

    def run(
        self, items: Sequence[Item], sizes: Sequence[int], workers: int
    ) -> Generator[tuple[int, Result], None, None]:
        """Yield the index and result of every item, in the order in which they finish.

        ``sizes`` are bytes. One worker means this process. Exceptions of ``work`` are raised here.
        Closing the generator early ends the workers after their current chunk.
        """
        if workers <= 1:
            yield from ((index, self._work(item)) for index, item in enumerate(items))
            return
        pending = deque(chunks_of(sizes, workers))
        while pending:
            suspects = yield from self._until_broken(items, pending, workers)
            yield from self._one_by_one(items, deque(suspects))

    def _until_broken(
        self, items: Sequence[Item], pending: deque[range], workers: int
    ) -> Generator[tuple[int, Result], None, list[int]]:
        """Process chunks; return the items that were in progress when a worker died."""
        running: dict[Future[list[Result]], range] = {}
        suspects: list[int] = []
        with _executor(workers) as executor:
            while running or (pending and not suspects):
                while pending and not suspects and len(running) < workers:
                    chunk = pending.popleft()
                    running[self._submit(executor, items, chunk)] = chunk
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    chunk = running.pop(future)
                    if isinstance(future.exception(), BrokenProcessPool):
                        suspects += chunk
                    else:
                        yield from zip(chunk, future.result(), strict=True)
        return sorted(suspects)

    def _one_by_one(
        self, items: Sequence[Item], suspects: deque[int]
    ) -> Iterator[tuple[int, Result]]:
        while suspects:
            with _executor(1) as executor:
                is_broken = False
                while suspects and not is_broken:
                    index = suspects.popleft()
                    future = self._submit(executor, items, range(index, index + 1))
                    is_broken = isinstance(future.exception(), BrokenProcessPool)
                    yield index, self._died(items[index]) if is_broken else future.result()[0]

    def _submit(
        self, executor: ProcessPoolExecutor, items: Sequence[Item], chunk: range
    ) -> Future[list[Result]]:
        try:
            return executor.submit(_run_chunk, self._work, [items[index] for index in chunk])
        except BrokenProcessPool as error:
            broken: Future[list[Result]] = Future()
            broken.set_exception(error)
            return broken


def workers_for(jobs: int, sizes: Sequence[int]) -> int:
    """Return how many processes to use for items of these bytes; ``jobs`` 0 means choose."""
    if jobs == 0 and sum(map(_cost, sizes)) < SERIAL_BYTES:
        return 1
    return max(1, min(jobs or _cores(), len(sizes)))


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def chunks_of(sizes: Sequence[int], workers: int) -> Iterator[range]:
    """Yield ranges of adjacent items, each of about CHUNK_BYTES, or less to occupy all."""
    costs = [*map(_cost, sizes)]
    limit = min(CHUNK_BYTES, sum(costs) // workers)
    start = total = 0
    for index, cost in enumerate(costs):
        total += cost
        if total >= limit:
            yield range(start, index + 1)
            start, total = index + 1, 0
    if start < len(costs):
        yield range(start, len(costs))


def _cost(size: int) -> int:
    """Return what an item of this size takes, in bytes of a large file."""
    return max(size, _MIN_COST)


@contextmanager
def _executor(workers: int) -> Iterator[ProcessPoolExecutor]:
    # A plain fork would copy locks held by other threads, such as those of pyarrow.
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(method)
    safe_path = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    started_as = (safe_path, gc.get_threshold())
    try:
        with ProcessPoolExecutor(workers, context, _start_worker, started_as) as executor:
            yield executor
    finally:
        _restore_safe_path(safe_path)


def _restore_safe_path(safe_path: str | None) -> None:
    """Restore the user's value for the programs that are run."""
    del os.environ[SAFE_PATH]
    if safe_path is not None:
        os.environ[SAFE_PATH] = safe_path


def _start_worker(safe_path: str | None, gc_threshold: tuple[int, int, int]) -> None:
    _restore_safe_path(safe_path)
    gc.set_threshold(*gc_threshold)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this worker when its parent is gone, as it would wait for work forever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _run_chunk(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Process items in a worker; Ctrl-C ends the work, not the worker, so files are cleaned up."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return [work(item) for item in items]
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
