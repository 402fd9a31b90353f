"""File systems that count, fail or die at the n-th call."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from compactctl.store.files.filesystem import FileSystem

# Calls that may have done half of what they were asked for.
HALVED = ("write", "append")
RENAMES = ("rename", "rename_new", "exchange")
CALLS = frozenset(name for name in vars(FileSystem) if not name.startswith("_"))


class Watched(FileSystem):
    """The real disk, with a look at every call before it is made."""

    def __init__(self) -> None:
        self.log: list[tuple[str, tuple[Any, ...]]] = []

    def __getattribute__(self, name: str) -> Any:
        call = super().__getattribute__(name)
        if name not in CALLS:
            return call

        def watched(*arguments: Any) -> Any:
            self.log.append((name, arguments))
            self.before(name, call, arguments)
            return call(*arguments)

        return watched

    def before(self, name: str, call: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        """Do nothing."""


class Killing(Watched):
    """Kills its process instead of the n-th call, a write after half of it."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.n = n

    def before(self, name: str, call: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        if len(self.log) == self.n:
            if name in HALVED:
                call(arguments[0], arguments[1][: len(arguments[1]) // 2])
            os.kill(os.getpid(), signal.SIGKILL)


class Failing(Watched):
    """Fails the n-th call with an errno: a write after half of it, a close after closing."""

    def __init__(self, n: int, number: int) -> None:
        super().__init__()
        self.n = n
        self.number = number

    def before(self, name: str, call: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        if len(self.log) == self.n:
            if name in HALVED:
                call(arguments[0], arguments[1][: len(arguments[1]) // 2])
            if name == "close":
                call(*arguments)
            raise OSError(self.number, os.strerror(self.number))


def order(log: list[tuple[str, tuple[Any, ...]]]) -> list[tuple[str, str]]:
    """Return the calls that move or make durable, with the kind of the file that they move."""
    moves = {*RENAMES, "link", "fsync", "fsync_folder"}
    return [
        (name, Path(arguments[-1]).suffix if name in RENAMES else "")
        for name, arguments in log
        if name in moves
    ]


def risky_calls(log: list[tuple[str, tuple[Any, ...]]]) -> list[tuple[str, tuple[Any, ...]]]:
    """Return the calls that rename or close a file some of whose bytes are not durable."""
    unsynced: set[int] = set()
    calls = []
    for name, arguments in log:
        if name in HALVED:
            unsynced.add(arguments[0])
        elif name == "fsync":
            unsynced.discard(arguments[0])
        elif (name in RENAMES and unsynced) or (name == "close" and arguments[0] in unsynced):
            calls.append((name, arguments))
    return calls


class Meddling(Watched):
    """Does something just before the first call of a name whose last argument ends in a suffix."""

    def __init__(self, name: str, suffix: str, deed: Callable[..., object]) -> None:
        super().__init__()
        self.moment = (name, suffix)
        self.deed: Callable[..., object] | None = deed

    def before(self, name: str, call: Callable[..., Any], arguments: tuple[Any, ...]) -> None:  # noqa: ARG002
        expected, suffix = self.moment
        if self.deed and name == expected and str(arguments[-1]).endswith(suffix):
            deed, self.deed = self.deed, None
            deed()


def appending(path: Path, data: bytes) -> Callable[[], None]:
    """Return a deed that appends to a file."""

    def deed() -> None:
        with path.open("ab") as stream:
            stream.write(data)

    return deed
