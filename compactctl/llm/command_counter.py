"""Count tokens with a user's program: one JSON text per line in, one count per line out."""

import atexit
import json
import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from select import PIPE_BUF
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from tempfile import TemporaryFile
from typing import IO, cast

from compactctl.errors import UsageError
from compactctl.llm.command import command_name, kill_group, split_command, without_arguments
from compactctl.records import Record
from compactctl.tokens.counters.counter import Exactness

OPTION = "--counter-cmd"
_PURPOSE = "reads texts as JSON, one a line, and prints the count of each"
# Seconds; loading a tokenizer, or counting a large batch at once, takes a while.
ANSWER_TIMEOUT = 60.0
# Seconds that a program has to end by itself when this process exits.
_EXIT_TIMEOUT = 1.0
_CHUNK = 1 << 16
# A count with more digits is an error: no text has that many tokens.
_MAX_DIGITS = 12


class CommandCounter:
    """Counts texts with one program, which keeps running until this process ends.

    The program reads a JSON string per line and prints an integer per line, in the same order. Each
    distinct text is sent once. The id names only the program and its script: folders differ between
    machines, and an argument may be a key.
    """

    exactness: Exactness = "estimate"

    def __init__(self, command: str) -> None:
        words = split_command(command, OPTION, _PURPOSE)
        name = command_name(words)
        self.id = f"cmd:{name}"
        self._process = _CounterProcess(name, words)
        # Keyed by digest rather than text, so that the cache does not keep large texts in memory.
        self._counts: dict[bytes, int] = {_digest(""): 0}

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Return the program's counts; the empty text has 0 tokens without asking.

        Raises:
            UsageError: the program ended, printed nothing for a minute, or printed no count.
        """
        digests = [_digest(text) for text in texts]
        new = {
            digest: text
            for digest, text in zip(digests, texts, strict=True)
            if digest not in self._counts
        }
        if new:
            self._counts.update(zip(new, self._process.count(list(new.values())), strict=True))
        return [self._counts[digest] for digest in digests]


def command_counter(command: str) -> CommandCounter:
    """Return the counter of a command line; within a process, always the same one.

    Raises UsageError when the command line cannot be split or names no program.
    """
    return _cached_counter(command, os.getpid())


@lru_cache(maxsize=4)
def _cached_counter(command: str, pid: int) -> CommandCounter:  # noqa: ARG001 - a forked worker must not share its parent's pipes
    return CommandCounter(command)


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class _CounterProcess:
    """Sends texts to the program and reads its counts; starts it on first use."""

    def __init__(self, name: str, args: Sequence[str]) -> None:
        self._name = name
        self._args = args
        self._running: _RunningProcess | None = None

    def count(self, texts: Sequence[str]) -> list[int]:
        running = self._running or self._start()
        # Escapes keep every text on one line of ASCII, lone surrogates included.
        request = b"".join(json.dumps(text).encode() + b"\n" for text in texts)
        try:
            return [
                self._parse_count(line) for line in self._exchange(running, request, len(texts))
            ]
        except BaseException:
            self._running = None
            running.stop(timeout=0)
            raise

    def _start(self) -> "_RunningProcess":
        # A file rather than a pipe: a pipe that nobody reads would fill up and block the program.
        stderr_file = TemporaryFile()  # noqa: SIM115 - open as long as the program runs
        try:
            # In a new session, so that killing the group also ends the program's children.
            process = subprocess.Popen(  # noqa: S603 - the user names the program, no shell reads it
                self._args,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr_file,
                start_new_session=True,
            )
        except OSError as error:
            stderr_file.close()
            raise self._error(f"did not start: {error.strerror or error}") from error
        self._running = _RunningProcess(process, stderr_file)
        atexit.register(self._running.stop, timeout=_EXIT_TIMEOUT)
        return self._running

    def _exchange(self, running: "_RunningProcess", request: bytes, expected: int) -> list[bytes]:
        """Write the request and read the output concurrently, so that a full pipe cannot deadlock.

        Raises UsageError unless the program prints exactly ``expected`` lines.
        """
        stdin_fd, stdout_fd = running.stdin.fileno(), running.stdout.fileno()
        output, missing_lines = bytearray(), expected
        unsent = memoryview(request)
        with DefaultSelector() as selector:
            selector.register(stdin_fd, EVENT_WRITE)
            selector.register(stdout_fd, EVENT_READ)
            while missing_lines > 0:
                events = {key.fd for key, _ in selector.select(ANSWER_TIMEOUT)}
                if not events:
                    raise self._error(
                        f"printed nothing for {ANSWER_TIMEOUT:g} seconds; let it "
                        "print a count, and flush it, for each line that it reads"
                    )
                if stdout_fd in events:
                    chunk = self._read(running, stdout_fd)
                    output += chunk
                    missing_lines -= chunk.count(b"\n")
                if stdin_fd in events:
                    unsent = unsent[_write(stdin_fd, unsent) :]
                    if not unsent:
                        selector.unregister(stdin_fd)
        return self._split_lines(output, expected)

    def _read(self, running: "_RunningProcess", stdout_fd: int) -> bytes:
        chunk = os.read(stdout_fd, _CHUNK)
        if not chunk:
            code = running.process.wait()
            stderr_line = without_arguments(running.last_stderr_line(), self._args)
            raise self._error(f"ended with exit code {code}" + (stderr_line and f": {stderr_line}"))
        return chunk

    def _split_lines(self, output: bytearray, expected: int) -> list[bytes]:
        lines = bytes(output).split(b"\n")
        if len(lines) != expected + 1 or lines[-1]:
            raise self._error("printed more lines than it was given; print one for each")
        return lines[:-1]

    def _parse_count(self, line: bytes) -> int:
        word = line.strip()
        if not word.isdigit() or len(word) > _MAX_DIGITS:
            raise self._error(
                "printed a line that is not a count; print a whole number for each text"
            )
        return int(word)

    def _error(self, problem: str) -> UsageError:
        return UsageError(f"{OPTION} {self._name}: {problem}")


class _RunningProcess(Record, kw_only=False):
    """The running program and the file that receives its stderr."""

    process: subprocess.Popen[bytes]
    stderr_file: IO[bytes]

    @property
    def stdin(self) -> IO[bytes]:
        """The program's standard input, which is always a pipe here."""
        return cast("IO[bytes]", self.process.stdin)

    @property
    def stdout(self) -> IO[bytes]:
        """The program's standard output, which is always a pipe here."""
        return cast("IO[bytes]", self.process.stdout)

    def last_stderr_line(self) -> str:
        """Return the last non-empty line of stderr, "" if none: of a traceback, its message."""
        self.stderr_file.seek(0)
        lines = self.stderr_file.read(_CHUNK).decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def stop(self, *, timeout: float) -> None:
        """Close its stdin, and kill it unless it ends within ``timeout`` seconds."""
        if self.stderr_file.closed:
            return
        with self.process, self.stderr_file:
            with suppress(OSError):
                self.stdin.close()
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                kill_group(self.process)


def _write(fd: int, data: memoryview) -> int:
    """Return how many bytes the pipe accepted; all of them if its reader has exited.

    The reader's exit code is the better error, and ``_read`` raises it.
    """
    try:
        # A pipe that is ready accepts this much without blocking.
        return os.write(fd, data[:PIPE_BUF])
    except BrokenPipeError:
        return len(data)
