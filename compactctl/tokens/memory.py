"""What a run has computed, for its next passes and for the next run over a longer list."""

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar, TypeVarTuple

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Once(Protocol):
    """Returns what a pure function returns for hashable arguments."""

    def __call__(self, function: Callable[[*Ts], T], *arguments: *Ts) -> T:
        """Call the function, or return what it returned for equal arguments."""


def call(function: Callable[[*Ts], T], *arguments: *Ts) -> T:
    """Call a function each time: the ``Once`` that remembers nothing."""
    return function(*arguments)


class RecentTable(dict[K, V], Generic[K, V]):
    """A table without what neither this run nor the one before has looked up.

    ``table[key]`` counts as a look-up; ``get`` and ``in`` see only this run.
    """

    def __init__(self) -> None:
        super().__init__()
        self._older: dict[K, V] = {}

    def __missing__(self, key: K) -> V:
        """Return a value of the run before. Raises KeyError if there is none."""
        value = self[key] = self._older.pop(key)
        return value

    def holds(self, key: K) -> bool:
        """Whether a look-up would find the key."""
        return key in self or key in self._older

    def start_run(self) -> None:
        """Forget what the run that ends has not looked up."""
        self._older = dict(self)
        self.clear()


class RunMemory:
    """Results of pure functions, each computed once per run.

    Stages, their passes and their attempts to fill a target ask for the same results again and
    again. Arguments are compared by value, so a run over messages that were read anew finds what
    the run before computed for equal ones.
    """

    def __init__(self) -> None:
        # A table for each function: the collector need not look at tuples of nothing but texts.
        self._results: dict[object, RecentTable[tuple[object, ...], object]] = {}
        self._newest: dict[object, tuple[tuple[object, ...], object]] = {}

    def once(self, function: Callable[[*Ts], T], *arguments: *Ts) -> T:
        """Return what a pure function returns for hashable arguments."""
        results = self._results.get(function)
        if results is None:
            results = self._results[function] = RecentTable()
        try:
            return results[arguments]  # type: ignore[return-value]
        except KeyError:
            result = results[arguments] = function(*arguments)
            return result

    def newest(self, function: Callable[[*Ts], T], *arguments: *Ts) -> T:
        """Return what ``once`` does, but remember only the newest result: it may be large."""
        if self._newest.get(function, (None,))[0] != arguments:
            self._newest[function] = (arguments, function(*arguments))
        return self._newest[function][1]  # type: ignore[return-value]

    def start_run(self) -> None:
        """Forget what the run that ends has not asked for."""
        for results in self._results.values():
            results.start_run()
        self._newest.clear()
