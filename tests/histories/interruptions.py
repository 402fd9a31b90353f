"""What happens between two system calls of a command: others act, the disk is full, it is killed.

The calls are those of the file system layer, and those that read files and folders of the history.
"""

import builtins
import errno
import io
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from store.faults import CALLS, HALVED

from compactctl.store.files.filesystem import FileSystem

READS = (
    *((os, name) for name in ("open", "scandir", "listdir", "stat", "lstat")),
    *((module, "open") for module in (io, builtins)),
)
NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})
# What takes space; a full disk lets everything else be done.
GROWING = frozenset({"create", "open_lock", "write", "append", "link", "mkdir"})


class Killed(BaseException):
    """The process is gone."""


@dataclass(frozen=True, slots=True)
class Call:
    """A system call that is about to be made, and its number, from 1."""

    number: int
    name: str
    make: Callable[..., Any]
    arguments: tuple[Any, ...]

    def make_half(self) -> None:
        """Do what an interrupted call may have done: write half, or close a file."""
        if self.name in HALVED:
            fd, data = self.arguments
            self.make(fd, data[: len(data) // 2])
        elif self.name == "close":
            self.make(*self.arguments)


Before = Callable[[Call], None]


@contextmanager
def killed_at(n: int) -> Iterator[None]:
    """Let nothing reach the disk from the n-th call that writes on; a write stops halfway."""

    def before(call: Call) -> None:
        if call.number == n and call.name in HALVED:
            call.make_half()
        if call.number >= n and call.name != "close":
            raise Killed

    files = set(_open_files())
    with _watched(before, ExitStack()):
        yield
    for left in set(_open_files()) - files:
        os.close(left)


@contextmanager
def failing_at(n: int, number: int) -> Iterator[None]:
    """Fail the n-th call that writes with an errno, a write halfway; a full disk stays full."""

    def before(call: Call) -> None:
        is_still_full = number in NO_SPACE and call.number > n and call.name in GROWING
        if call.number == n:
            call.make_half()
        if call.number == n or is_still_full:
            raise OSError(number, os.strerror(number))

    with _watched(before, ExitStack()):
        yield


@contextmanager
def meanwhile(
    n: int, deed: Callable[[], None], *, reads: bool = True
) -> Iterator[list[Callable[[], None]]]:
    """Do something before the n-th call; yield what was not done, as there were fewer calls.

    Those that read count, too, with ``reads``.
    """
    left = [deed]
    errors: list[AssertionError] = []

    def before(call: Call) -> None:
        if call.number == n:
            try:
                left.pop()()
            except AssertionError as error:
                # The command would take it for an error of its own.
                errors.append(error)

    with ExitStack() as stack, _watched(before, stack, reads=reads):
        # Nobody else acts while one of the two waits.
        stack.enter_context(patch.object(time, "sleep", lambda _: None))
        yield left
    for error in errors:
        raise error


@contextmanager
def counted() -> Iterator[list[str]]:
    """Yield the names of the calls that write, as they are made."""
    names: list[str] = []
    with _watched(lambda call: names.append(call.name), ExitStack()):
        yield names


@contextmanager
def _watched(before: Before, stack: ExitStack, *, reads: bool = False) -> Iterator[None]:
    """Call ``before`` ahead of every system call but its own."""
    count, is_away = 0, False

    def watched(name: str, make: Callable[..., Any], *, is_read: bool) -> Callable[..., Any]:
        def one(*arguments: Any, **options: Any) -> Any:
            nonlocal count, is_away
            if not is_away and (not is_read or _is_here(arguments[0] if arguments else ".")):
                count += 1
                is_away = True
                try:
                    before(_call(count, name, make, arguments, is_read=is_read))
                finally:
                    is_away = False
            return make(*arguments, **options)

        return one

    with stack:
        for name in CALLS:
            call = watched(name, getattr(FileSystem, name), is_read=False)
            stack.enter_context(patch.object(FileSystem, name, call))
        for module, name in READS if reads else ():
            call = watched(name, getattr(module, name), is_read=True)
            stack.enter_context(patch.object(module, name, call))
        yield


def _call(
    number: int, name: str, make: Callable[..., Any], arguments: tuple[Any, ...], *, is_read: bool
) -> Call:
    if is_read:
        return Call(number, "read", make, arguments)
    fs, *rest = arguments
    return Call(number, name, lambda *changed: make(fs, *changed), tuple(rest))


def _is_here(path: Any) -> bool:
    """Tell whether a path is below the folder that the process is in."""
    if not isinstance(path, (str, Path)):
        return False
    return not os.path.isabs(path) or str(path).startswith(os.getcwd())  # noqa: PTH109, PTH117


def _open_files() -> Iterator[int]:
    for path in Path("/dev/fd").iterdir():
        with suppress(OSError):
            os.fstat(int(path.name))
            yield int(path.name)
