"""Counts by a program of the user's own: a text on a line in, its count on a line out."""

import atexit
import json
import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from tempfile import TemporaryFile
from typing import IO, cast

from compactctl.errors import UsageError
from compactctl.llm.command import command_name, kill_group, split_command, without_arguments
from compactctl.tokens.counters.counter import Exactness

OPTION = "--counter-cmd"
_DOES = "reads texts as JSON, one a line, and prints the count of each"
# A tokenizer that is loaded first, and a batch of texts counted at once, take their time.
ANSWER_TIMEOUT = 60.0
_END_SECONDS = 1.0
_CHUNK = 1 << 16
# No text that can be read here has more.
_DIGITS = 12


class CommandCounter:
    """Asks one program, which runs until this one ends; the same text is asked for once.

    It gets each text as a JSON string on a line of its own and prints a whole number on a line for
    it, in the same order. Its id names the program and its script alone: folders differ between
    machines, and an argument may be a key.
    """

    exactness: Exactness = "estimate"

    def __init__(self, command: str) -> None:
        words = split_command(command, OPTION, _DOES)
        name = command_name(words)
        self.id = f"cmd:{name}"
        self._asking = _CounterProcess(name, words)
        self._known: dict[bytes, int] = {_digest(""): 0}

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Return the program's counts; an empty text has no tokens.

        Raises:
            UsageError: the program ended, was silent for a minute, or printed something else.
        """
        digests = [_digest(text) for text in texts]
        new = {
            digest: text
            for digest, text in zip(digests, texts, strict=True)
            if digest not in self._known
        }
        if new:
            self._known.update(zip(new, self._asking.counts(list(new.values())), strict=True))
        return [self._known[digest] for digest in digests]


def command_counter(command: str) -> CommandCounter:
    """Return the counter of a command line, the same one whenever this process asks for it.

    Raises UsageError when it cannot be split or names no program.
    """
    return _counter_of(command, os.getpid())


@lru_cache(maxsize=4)
def _counter_of(command: str, process: int) -> CommandCounter:  # noqa: ARG001 - a fork must not read what is meant for its parent
    return CommandCounter(command)


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class _CounterProcess:
    """The conversation with the program, which starts with the first question."""

    def __init__(self, name: str, words: Sequence[str]) -> None:
        self._name = name
        self._words = words
        self._running: _RunningProcess | None = None

    def counts(self, texts: Sequence[str]) -> list[int]:
        running = self._running or self._start()
        # Escapes keep every text on one line of ASCII, lone surrogates included.
        question = b"".join(json.dumps(text).encode() + b"\n" for text in texts)
        try:
            return [self._count(line) for line in self._answer(running, question, len(texts))]
        except BaseException:
            self._running = None
            running.stop(patience=0)
            raise

    def _start(self) -> "_RunningProcess":
        # A pipe that nobody reads would fill up and hold the program up.
        complaints = TemporaryFile()  # noqa: SIM115 - it lasts as long as the program
        try:
            # A session of its own, so that what the command starts ends with it.
            process = subprocess.Popen(  # noqa: S603 - the user names the program, no shell reads it
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                start_new_session=True,
            )
        except OSError as error:
            complaints.close()
            raise self._failed(f"did not start: {error.strerror or error}") from error
        self._running = _RunningProcess(process, complaints)
        atexit.register(self._running.stop, patience=_END_SECONDS)
        return self._running

    def _answer(self, running: "_RunningProcess", question: bytes, expected: int) -> list[bytes]:
        """Write the question while the answer is read: neither side can hold up the other.

        Raises UsageError unless exactly the ``expected`` number of lines comes back.
        """
        writes, reads = running.question.fileno(), running.answer.fileno()
        os.set_blocking(writes, False)
        answer, missing = bytearray(), expected
        left = memoryview(question)
        with DefaultSelector() as ready:
            ready.register(writes, EVENT_WRITE)
            ready.register(reads, EVENT_READ)
            while missing > 0:
                events = {key.fd for key, _ in ready.select(ANSWER_TIMEOUT)}
                if not events:
                    raise self._failed(
                        f"printed nothing for {ANSWER_TIMEOUT:g} seconds; let it "
                        "print a count, and flush it, for each line that it reads"
                    )
                if reads in events:
                    found = self._read(running, reads)
                    answer += found
                    missing -= found.count(b"\n")
                if writes in events:
                    left = left[_write(writes, left) :]
                    if not left:
                        ready.unregister(writes)
        return self._lines(answer, expected)

    def _read(self, running: "_RunningProcess", reads: int) -> bytes:
        found = os.read(reads, _CHUNK)
        if not found:
            code = running.process.wait()
            said = without_arguments(running.last_stderr_line(), self._words)
            raise self._failed(f"ended with exit code {code}" + (said and f": {said}"))
        return found

    def _lines(self, answer: bytearray, expected: int) -> list[bytes]:
        lines = bytes(answer).split(b"\n")
        if len(lines) != expected + 1 or lines[-1]:
            raise self._failed("printed more lines than it was given; it must print one for each")
        return lines[:-1]

    def _count(self, line: bytes) -> int:
        word = line.strip()
        if not word.isdigit() or len(word) > _DIGITS:
            raise self._failed(
                "printed a line that is not a count; print a whole number for each text"
            )
        return int(word)

    def _failed(self, what: str) -> UsageError:
        return UsageError(f"{OPTION} {self._name}: {what}")


@dataclass(frozen=True, slots=True)
class _RunningProcess:
    """The program and the file that it complains into."""

    process: subprocess.Popen[bytes]
    stderr_file: IO[bytes]

    @property
    def question(self) -> IO[bytes]:
        """What is written into."""
        return cast("IO[bytes]", self.process.stdin)

    @property
    def answer(self) -> IO[bytes]:
        """What is read from."""
        return cast("IO[bytes]", self.process.stdout)

    def last_stderr_line(self) -> str:
        """Return the last line that it complained with: what a traceback is about."""
        self.stderr_file.seek(0)
        lines = self.stderr_file.read(_CHUNK).decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def stop(self, *, patience: float) -> None:
        """Let it see the end of its input, and end it where it goes on for so many seconds."""
        if self.stderr_file.closed:
            return
        with self.process, self.stderr_file:
            with suppress(OSError):
                self.question.close()
            try:
                self.process.wait(patience)
            except subprocess.TimeoutExpired:
                kill_group(self.process)


def _write(fd: int, data: memoryview) -> int:
    """Write what fits into the pipe; all of it is gone when nobody reads any more."""
    try:
        return os.write(fd, data[:_CHUNK])
    except BlockingIOError:
        return 0
    except BrokenPipeError:
        return len(data)
