"""Runs a function over many items on a Ray cluster, and survives the death of its workers."""

import gc
import logging
import os
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import Any, Generic

from compactctl import __version__
from compactctl.commands.batch.pool import Item, Result, chunks_of
from compactctl.errors import UsageError
from compactctl.extras import install_command
from compactctl.records import Record

_MAX_DEATHS = 3
"""After so many deaths of its workers an item fails. Another item on their nodes may have caused
the first."""
_TASKS_PER_CPU = 2
"""One runs, and the next one is there when it ends."""


class _Driver(Record, kw_only=False):
    """What a worker must have in common with the process that sends it work."""

    version: str
    folder: str
    gc_threshold: tuple[int, int, int]


class RayPool(Generic[Item, Result]):
    """Applies ``work`` to items as ``Pool`` does, in the workers of a Ray cluster.

    The cluster is that of RAY_ADDRESS or one that runs on this machine; if there is none, one is
    started here for the batch. Its nodes need this version of compactctl and, unless all files are
    in an object store, the same files at the same paths.
    """

    def __init__(self, work: Callable[[Item], Result], died: Callable[[Item], Result]) -> None:
        self._work, self._died = work, died

    def run(
        self, items: Sequence[Item], sizes: Sequence[int], workers: int
    ) -> Generator[tuple[int, Result], None, None]:
        """Yield the index and result of every item, in the order in which they finish.

        ``sizes`` are bytes; ``workers`` 0 means all CPUs of the cluster. Exceptions of ``work`` are
        raised here. Closing the generator early cancels what runs.

        Raises UsageError if Ray is not installed or not reached, or if a worker has another version
        of compactctl.
        """
        if not items:
            return
        with _cluster() as ray:
            n_cpus = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
            driver = _Driver(__version__, str(Path.cwd()), gc.get_threshold())
            run_chunk = ray.remote(_run_chunk).options(max_retries=0, num_cpus=1)
            work = ray.put(self._work)
            pending = deque(chunks_of(sizes, n_cpus))
            running: dict[Any, range] = {}
            deaths: Counter[int] = Counter()
            try:
                while pending or running:
                    while pending and len(running) < _TASKS_PER_CPU * n_cpus:
                        chunk = pending.popleft()
                        sent = [items[index] for index in chunk]
                        running[run_chunk.remote(driver, work, sent)] = chunk
                    (task,), _ = ray.wait(list(running), num_returns=1)
                    chunk = running.pop(task)
                    results = _results(ray, task)
                    if results is not None:
                        yield from zip(chunk, results, strict=True)
                        continue
                    deaths.update(chunk)
                    for index in chunk:
                        if deaths[index] < _MAX_DEATHS:
                            pending.append(range(index, index + 1))
                        else:
                            yield index, self._died(items[index])
            finally:
                for task in running:
                    ray.cancel(task)


def _results(ray: Any, task: Any) -> list[Any] | None:  # noqa: ANN401 - Ray is not typed here
    """Return the results of a task, None if its worker died. Raises what its work raised."""
    try:
        results: list[Any] = ray.get(task)
    except ray.exceptions.RayTaskError as error:
        # A node may also be lost while a worker fetches from it what the task needs.
        if isinstance(error.cause, ray.exceptions.RayError):
            return None
        raise error.cause from None
    except ray.exceptions.RayError:
        return None
    return results


def _run_chunk(
    driver: _Driver, work: Callable[[Item], Result], items: Sequence[Item]
) -> list[Result]:
    """Process items in a worker of the cluster."""
    if driver.version != __version__:
        raise UsageError(
            f"--engine ray: a worker has compactctl {__version__}, not {driver.version}; install "
            "the same version on all nodes"
        )
    gc.set_threshold(*driver.gc_threshold)
    # Paths are relative to where the batch was started, if the node has that folder.
    with suppress(OSError):
        os.chdir(driver.folder)
    return [work(item) for item in items]


@contextmanager
def _cluster() -> Iterator[Any]:
    """Connect to a cluster, and disconnect at the end. Raises UsageError if that fails."""
    # Ray would otherwise report its use to its authors.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise UsageError(
            f"--engine ray needs the package ray; type: {install_command('ray>=2.40')}"
        ) from None
    if ray.is_initialized():
        yield ray
        return
    logging.getLogger("ray").setLevel(logging.ERROR)
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        # Ray prints about workers that died, which the rows of the batch say.
        try:
            ray.init(log_to_driver=False, configure_logging=False)
        except (ConnectionError, RuntimeError, ValueError) as error:
            address = os.environ.get("RAY_ADDRESS", "this machine")
            why = " ".join(str(error).split())
            raise UsageError(f"--engine ray: no cluster at {address} ({why}); start one") from error
        try:
            yield ray
        finally:
            ray.shutdown()
