"""Runs a function over many items in worker processes, some of which may die."""

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
"""How much one task reads: enough for the cost of handing it over not to show."""
SERIAL_BYTES = 8 << 20
"""Less than this is done before workers would have started: each imports the program and builds a
vocabulary first, about 1.2 seconds of CPU, in which one process measures some 4 MB."""

SAFE_PATH = "PYTHONSAFEPATH"
"""Without it a new Python looks for its own modules in the working folder first, whoever put files
there: one called signal.py would be run."""


class Pool(Generic[Item, Result]):
    """Applies ``work`` to items in order of size-bounded chunks.

    ``work`` and the items are pickled. Where a worker dies, the items that were under way then
    are tried once more, one at a time; ``died`` gives the result of one that kills all by itself.
    """

    def __init__(self, work: Callable[[Item], Result], died: Callable[[Item], Result]) -> None:
        self._work, self._died = work, died

    def run(
        self, items: Sequence[Item], sizes: Sequence[int], workers: int
    ) -> Generator[tuple[int, Result], None, None]:
        """Yield every item's index and result, in the order in which they are done.

        ``sizes`` are bytes. One worker means this process. What ``work`` raises is raised here.
        To close the generator early ends the workers after what they are working on.
        """
        if workers <= 1:
            yield from ((index, self._work(item)) for index, item in enumerate(items))
            return
        waiting = deque(_chunks(sizes, min(CHUNK_BYTES, sum(sizes) // workers)))
        while waiting:
            suspects = yield from self._until_broken(items, waiting, workers)
            yield from self._one_by_one(items, deque(suspects))

    def _until_broken(
        self, items: Sequence[Item], waiting: deque[range], workers: int
    ) -> Generator[tuple[int, Result], None, list[int]]:
        """Work off chunks; return the items that were under way when a worker died."""
        running: dict[Future[list[Result]], range] = {}
        suspects: list[int] = []
        with _executor(workers) as executor:
            while running or (waiting and not suspects):
                while waiting and not suspects and len(running) < workers:
                    chunk = waiting.popleft()
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
    if jobs == 0 and sum(sizes) < SERIAL_BYTES:
        return 1
    return max(1, min(jobs or _cores(), len(sizes)))


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _chunks(sizes: Sequence[int], limit: int) -> Iterator[range]:
    """Yield ranges of neighbours that hold about ``limit`` bytes, at least one item each."""
    start = total = 0
    for index, size in enumerate(sizes):
        total += size
        if total >= limit:
            yield range(start, index + 1)
            start, total = index + 1, 0
    if start < len(sizes):
        yield range(start, len(sizes))


@contextmanager
def _executor(workers: int) -> Iterator[ProcessPoolExecutor]:
    # A plain fork would copy locks that other threads, such as those of pyarrow, hold just then.
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(method)
    chosen = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    started_as = (chosen, gc.get_threshold())
    try:
        with ProcessPoolExecutor(workers, context, _start_worker, started_as) as executor:
            yield executor
    finally:
        _restore_safe_path(chosen)


def _restore_safe_path(chosen: str | None) -> None:
    """Set the variable as the user has it, for the programs that are run."""
    del os.environ[SAFE_PATH]
    if chosen is not None:
        os.environ[SAFE_PATH] = chosen


def _start_worker(safe_path: str | None, looking_for_cycles: tuple[int, int, int]) -> None:
    _restore_safe_path(safe_path)
    gc.set_threshold(*looking_for_cycles)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this worker when its parent is gone: it would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _run_chunk(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Work in a worker; Ctrl-C ends the work, not the worker, so that files are cleaned up."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return [work(item) for item in items]
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
