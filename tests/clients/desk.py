"""Where a client runs: a home of its own, a project, and the stub as its only provider."""

import json
import os
import re
import subprocess
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from signal import Signals
from threading import Timer
from typing import Any, Protocol

from clients.stub import Answer, Json, StubModel
from samples.picture import png_base64

# What a client takes at most, in seconds, on a machine that does other things as well.
_PATIENCE = 180
# And seconds that it may take to end.
_GRACE = 10
# What clients put into a request beside what was said.
_BESIDE = re.compile(
    r"<system-reminder>.*?</system-reminder>|<current_datetime>.*?</current_datetime>"
    r"|</?user_input\b[^>]*>|<environment_details>.*?</environment_details>",
    re.DOTALL,
)
Sent = tuple[str, str, str]
"""A piece of a request: text, call or result; the id of its call; what it says."""


@dataclass(frozen=True, kw_only=True)
class Desk:
    """A home, a project, and the model that answers there; ``programs`` holds the clients.

    ``asked`` is the model that clients ask for, "" for any.
    """

    home: Path
    programs: Path
    model: StubModel
    asked: str = ""

    @property
    def project(self) -> Path:
        """The folder that sessions are about."""
        return self.home / "project"

    def run(
        self, command: Sequence[str | Path], more: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program here, with nothing of the environment of whoever runs the tests."""
        with subprocess.Popen(
            [str(word) for word in command],
            cwd=self.project,
            env=self._environment(more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as program:
            self.model.interrupt = partial(_interrupt, program)
            try:
                stdout, stderr = program.communicate(timeout=_PATIENCE)
            except subprocess.TimeoutExpired:
                program.kill()
                raise
        return subprocess.CompletedProcess(program.args, program.returncode, stdout, stderr)

    @contextmanager
    def started(
        self, command: Sequence[str], more: Mapping[str, str]
    ) -> Iterator[subprocess.Popen[str]]:
        """Start a program here that is talked to by pipes; it ends with the block."""
        with subprocess.Popen(
            command,
            cwd=self.project,
            env=self._environment(more),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        ) as program:
            self.model.interrupt = partial(_interrupt, program)
            ender = Timer(_PATIENCE, program.kill)
            ender.start()
            try:
                yield program
            finally:
                ender.cancel()
                program.terminate()

    def _environment(self, more: Mapping[str, str] | None) -> dict[str, str]:
        return {
            "PATH": os.pathsep.join((str(self.programs), os.environ["PATH"])),
            "HOME": str(self.home),
            "TMPDIR": str(self.home),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "DO_NOT_TRACK": "1",
            **(more or {}),
        }


class Client(Protocol):
    """A client: how it is told something, where its session lies, and what it sends.

    ``program`` is what is run; ``has_files`` tells whether its sessions are files; ``lines`` is how
    long a file may be that it shows whole, and keeps.
    """

    name: str
    program: str
    has_files: bool
    lines: int

    def read(self, path: Path) -> Answer:
        """Return the call of its tool that shows a file."""

    def say(self, desk: Desk, prompt: str, *, session: str = "", limit: int | None = 0) -> str:
        """Say something in a new session, or go on with one; return what it printed.

        ``limit`` are the tokens from which on it compacts by itself, 0 for never; with None it
        neither compacts nor refuses anything.
        """

    def session(self, desk: Desk) -> str:
        """Return the newest session: its file, or its id where it has none."""

    def id_of(self, session: str) -> str:
        """Return the id by which it goes on with a session."""

    def take_in(self, desk: Desk, session: str) -> None:
        """Give it a session that was written for it, where it does not find that by itself."""

    def sent(self, request: Json) -> Iterator[Sent]:
        """Yield what a request holds of the conversation, in order."""


def _interrupt(program: subprocess.Popen[str]) -> None:
    """Interrupt a program and its children as Ctrl+C does, and end what goes on nevertheless."""

    def send(signal: Signals) -> None:
        with suppress(ProcessLookupError):
            if program.poll() is None:
                os.killpg(program.pid, signal)

    send(Signals.SIGINT)
    ender = Timer(_GRACE, send, [Signals.SIGKILL])
    ender.daemon = True
    ender.start()


def ask_by_rpc(program: subprocess.Popen[str], method: str, parameters: Mapping[str, Any]) -> str:
    """Ask a client for something by JSON-RPC; return all that it says until it is done."""
    assert program.stdin is not None
    assert program.stdout is not None
    call = {"jsonrpc": "2.0", "id": method, "method": method, "params": parameters}
    program.stdin.write(f"{json.dumps(call)}\n")
    program.stdin.flush()
    said = []
    for line in program.stdout:
        said.append(line)
        if json.loads(line).get("id") == method:
            break
    return "".join(said)


def version_of(program: Path) -> str:
    """Return the version of a client, which is asked beside the programs that it needs."""
    path = os.pathsep.join((str(program.parent), os.environ["PATH"]))
    done = subprocess.run(
        [program, "--version"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PATH": path},
    )
    version = re.search(r"\d+\.\d+\.\d+", done.stdout)
    assert version is not None, done.stdout
    return version[0]


def write_picture(desk: Desk) -> Path:
    """Write a picture into the project."""
    path = desk.project / "tides.png"
    path.write_bytes(b64decode(png_base64()))
    return path


def bare(text: str) -> str:
    """Return what was said, without what clients put beside it."""
    return _BESIDE.sub("", text).strip()


def text_of(value: Any) -> str:
    """Return the texts of content, however it is wrapped."""
    if isinstance(value, str):
        return value
    return "".join(text_of(each.get("text", "")) for each in value or () if isinstance(each, dict))


def newest(files: Iterator[Path]) -> str:
    """Return the file that was written last."""
    return str(max(files, key=lambda path: (path.stat().st_mtime_ns, path.name)))
