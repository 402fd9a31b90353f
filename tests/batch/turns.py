"""Runs that make their requests to an object store one at a time, in a given order."""

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import obstore
import pytest

from compactctl.commands.batch.tasks import WorkedFile
from compactctl.store.files import objects

REQUESTS = ("put", "get", "head", "list", "delete")
PATIENCE = 60
_OF_THREAD = threading.local()


class KilledError(BaseException):
    """Ends a run in place of its next request."""


@dataclass(eq=False, repr=False)
class Run:
    """A run in a thread of its own, which waits before each request until it is its turn.

    ``outcome`` is None until it has ended, and if it was killed. ``requests`` are those that it has
    made.
    """

    work: Callable[[], WorkedFile]
    outcome: WorkedFile | None = None
    was_killed: bool = False
    requests: list[str] = field(default_factory=list)
    _thread: threading.Thread | None = None
    _turn: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    _waits: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    _has_ended: bool = False

    @property
    def has_won(self) -> bool:
        return self.outcome is not None and self.outcome.rows[0].failure is None

    def step(self) -> bool:
        """Let the run make a request and go on until it makes the next; False at its end."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._go, daemon=True)
            self._thread.start()
            assert self._waits.acquire(timeout=PATIENCE)
        if self._has_ended:
            return False
        self._turn.release()
        assert self._waits.acquire(timeout=PATIENCE)
        return not self._has_ended

    def finish(self) -> None:
        while self.step():
            pass

    def kill(self) -> None:
        """End the run before its next request, unless it has ended."""
        self.was_killed = not self._has_ended
        self.finish()

    def request(self, name: str) -> None:
        """Wait for the turn to make a request, in whatever thread of the run."""
        self._waits.release()
        assert self._turn.acquire(timeout=PATIENCE)
        if self.was_killed:
            raise KilledError
        self.requests.append(name)

    def _go(self) -> None:
        _OF_THREAD.run = self
        try:
            self.outcome = self.work()
        except KilledError:
            pass
        finally:
            self._has_ended = True
            self._waits.release()


class _Thread(threading.Thread):
    """A thread that belongs to the run that starts it: the client waits in one."""

    def start(self) -> None:
        self._run_of = getattr(_OF_THREAD, "run", None)
        super().start()

    def run(self) -> None:
        _OF_THREAD.run = self._run_of
        super().run()


def take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make each request of a run to a store wait for its turn."""

    def in_turn(name: str) -> Callable[..., Any]:
        make_request = getattr(obstore, name)

        @wraps(make_request)
        def request(*arguments: Any, **options: Any) -> Any:
            run: Run | None = getattr(_OF_THREAD, "run", None)
            if run is not None:
                run.request(name)
            return make_request(*arguments, **options)

        return request

    monkeypatch.setattr(objects, "Thread", _Thread)
    for name in REQUESTS:
        monkeypatch.setattr(obstore, name, in_turn(name))


def carry_out(runs: Sequence[Run], turns: Iterable[int], kills: Iterable[int] = ()) -> None:
    """Let the runs make their requests in these turns, then kill some and finish all others."""
    for turn in turns:
        runs[turn].step()
    for index in kills:
        runs[index].kill()
    for run in runs:
        run.finish()
