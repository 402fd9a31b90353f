"""Work done in a child of this process: the program, or what is killed in the middle.

The child has read the program's modules and its vocabulary already. The program is there what it is
in a process of its own, without the time that starting Python takes.
"""

import gc
import io
import os
import signal
import sys
import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fcntl import F_DUPFD, fcntl
from functools import cache, partial
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryFile
from threading import Thread
from types import MappingProxyType
from typing import IO

from compactctl.__main__ import main
from compactctl.cli.group import Commands
from compactctl.tokens.counters.bpe import BpeCounter

# In seconds: much more than anything takes on a machine that does a lot beside it.
_PATIENCE = 300
Streams = tuple[int | None, int | None, int | None]


def started(
    arguments: Sequence[str],
    folder: str | Path,
    environment: Mapping[str, str],
    streams: Streams,
) -> int:
    """Start the program with these standard streams; return the number of its process."""
    _read_modules()
    return _forked(partial(_become, arguments, folder, environment, streams))


def completed(
    arguments: Sequence[str],
    folder: str | Path,
    environment: Mapping[str, str],
    *,
    stdin: bytes = b"",
    streams: Mapping[int, int | None] = MappingProxyType({}),
) -> CompletedProcess[bytes]:
    """Run the program to its end, with bytes in a pipe for standard input.

    ``streams`` gives standard streams by their number: a descriptor, or None for a closed one. What
    is written to one of them is not in the result.
    """
    reader, writer = os.pipe()
    with TemporaryFile() as out, TemporaryFile() as told:
        numbers = {0: reader, 1: out.fileno(), 2: told.fileno(), **streams}
        feeder = Thread(target=_feed, args=(writer, stdin))
        child = started(arguments, folder, environment, (numbers[0], numbers[1], numbers[2]))
        os.close(reader)
        feeder.start()
        code = ended(child)
        feeder.join()
        found = [_content(stream) for stream in (out, told)]
    return CompletedProcess(list(arguments), code, *found)


def _feed(writer: int, data: bytes) -> None:
    # The program may not read all of it.
    with suppress(BrokenPipeError), open(writer, "wb") as stream:
        stream.write(data)


def _content(stream: IO[bytes]) -> bytes:
    stream.seek(0)
    return stream.read()


def killed(work: Callable[[], object]) -> bool:
    """Do ``work`` in a child; tell whether it was killed before it came to its end."""
    return ended(_forked(work)) == -signal.SIGKILL


def _forked(work: Callable[[], object]) -> int:
    """Start a child that does ``work`` and nothing else; return the number of its process."""
    with warnings.catch_warnings():
        # Python 3.12 warns that threads do not live on in the child; none is needed.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        try:
            # What this process has left behind is not the child's to finalize.
            gc.freeze()
            work()
        finally:
            os._exit(1)
    return child


@cache
def _read_modules() -> None:
    deque(Commands().values(), maxlen=0)
    # So that the patterns are compiled, for ASCII and for Unicode.
    BpeCounter("o200k_base").count_many(["Read", "\u2192"])


def ended(child: int) -> int:
    """Wait for a process; return its exit code."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _become(
    arguments: Sequence[str],
    folder: str | Path,
    environment: Mapping[str, str],
    streams: Streams,
) -> None:
    """Do what the program would, and end; what goes on for ever is ended by a signal."""
    signal.alarm(_PATIENCE)
    # A shell starts what runs in its background with SIGINT ignored, and so everything below it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    _connect(streams)
    sys.argv = ["compactctl", *arguments]
    main()


def _connect(streams: Streams) -> None:
    """Give this process its standard streams and nothing else that its parent has open.

    A closed one is None, as where Python starts.
    """
    own = [None if each is None else fcntl(each, F_DUPFD, 10) for each in streams]
    for number, stream in enumerate(own):
        os.close(number) if stream is None else os.dup2(stream, number)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    sys.stdin, sys.stdout, sys.stderr = (
        None if stream is None else _text_stream(number) for number, stream in enumerate(own)
    )


def _text_stream(number: int) -> io.TextIOWrapper:
    if number == 0:
        return io.TextIOWrapper(io.BufferedReader(io.FileIO(0)), encoding="utf-8")
    raw = io.BufferedWriter(io.FileIO(number, "w"))
    is_direct = number == 2 or os.isatty(number)
    return io.TextIOWrapper(raw, encoding="utf-8", line_buffering=is_direct)
