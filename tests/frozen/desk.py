"""A fresh folder in which the steps of a case run, and what each of them leaves behind."""

import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fcntl import ioctl
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from termios import TIOCSWINSZ
from threading import Thread

from forked import completed, ended, started
from frozen.inputs import POOL
from frozen.still import CLOCK
from sessions.bundled_home import fill_home
from sessions.homes import Home, everything

from compactctl.cli.group import words_of

_WIDTH = re.compile(r"(\d+): ")
_SETTING = re.compile(r"([A-Z_]+)=(.*)", re.DOTALL)
_TAKEN_BACK = re.compile(rb"\x1b\[\?25l.*\x1b\[\?25h(?:\r|\x1b\[\d[AK])*", re.DOTALL)
# What depends on the version of pyarrow: how large a Parquet file is.
_SIZES = re.compile(
    r"(?<=  )[\d.]+ [kM]?B(?=  in effect|  back to|\n)|[\d.]+ [kM]?B(?= archived)"
    r"|(?<=\"archiveBytes\": )\d+"
)
# The same of what is derived from the bytes of a data set.
_HASHES = re.compile(r"\b[0-9a-f]{12}(?:[0-9a-f]{52})?\b")
_DATA_SET = "talks.parquet"
# Workers are processes of their own, with a clock of their own.
_TIMES = re.compile(r"(?<=[\"']milliseconds[\"']: )[\d.]+|(?<=\"milliseconds\":)\d+")
# Where the folder is has as many characters as its real place, so that lines break alike.
_NAME = "frozen-"
_PLACE = "/tmp/frozen-........"  # noqa: S108 - shown, not used


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a command line left: its exit code, its streams, and the files that it changed."""

    command: str
    code: int
    out: str
    err: str
    files: Mapping[str, str]

    @cached_property
    def parts(self) -> Mapping[str, str]:
        """The parts that are compared, as texts."""
        files = "".join(f"=== {name}\n{text}\n" for name, text in sorted(self.files.items()))
        return {"exit": str(self.code), "out": self.out, "err": self.err, "files": files}

    @property
    def digest(self) -> str:
        """All of it in a line; an empty part is a dash."""
        exit_code, *others = self.parts.items()
        told = (f"{name} {_digest(text)}" for name, text in others)
        return f"{exit_code[0]} {exit_code[1]} {' '.join(told)}"

    def __str__(self) -> str:
        told = (f"--- {name}\n{text}\n" for name, text in self.parts.items() if text)
        return f"$ {self.command}\n{''.join(told)}"


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogateescape")).hexdigest()[:12] if text else "-"


def digests(name: str, steps: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the digest of each step of a case, by the case and the number of the step."""
    outcomes = enumerate(Desk(steps).outcomes(), 1)
    return [(f"{name} {number}", outcome.digest) for number, outcome in outcomes]


class Desk:
    """A folder ``work`` with the files that a case names, beside a home.

    A step is a command line of compactctl without its name, and without that of a group. ``80: ``
    in front runs it on a terminal of so many columns, ``NAME=value`` sets a variable, ``< FILE`` at
    its end is standard input.
    ``$ `` in front leaves it to a shell; what that changes is not shown.
    """

    def __init__(self, steps: tuple[str, ...]) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix=_NAME, dir="/tmp")).resolve()
        self._work = self._folder / "work"
        self._steps = steps
        self._has_data_set = any(_DATA_SET in step for step in steps)
        CLOCK.step = 0
        for name in ("home", "work", "bin", "tmp"):
            (self._folder / name).mkdir()
        self._install()
        self._furnish(" ".join(steps))

    def outcomes(self) -> Iterator[Outcome]:
        """Run the steps in turn, and remove the folder."""
        try:
            for step in self._steps:
                CLOCK.step += 1
                if step.startswith("$ "):
                    self._in_shell(step[2:])
                else:
                    yield self._ran(step)
        finally:
            shutil.rmtree(self._folder)

    @property
    def _environment(self) -> dict[str, str]:
        return {
            "PATH": f"{self._folder / 'bin'}:/usr/bin:/bin",
            "HOME": str(self._folder / "home"),
            "TMPDIR": str(self._folder / "tmp"),
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "TERM": "xterm-256color",
            "PAGER": "cat",
        }

    def _install(self) -> None:
        """Programs that command lines name: Python, and compactctl, which is only looked for."""
        program = self._folder / "bin" / "compactctl"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        python = self._folder / "bin" / "python3"
        python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
        python.chmod(0o755)

    def _furnish(self, words: str) -> None:
        """Put there what the steps name: files of the pool, and sessions in the home."""
        for name, source in POOL.items():
            if re.search(rf"(?<![\w-]){re.escape(name.partition('/')[0])}", words):
                target = self._work / name
                target.parent.mkdir(parents=True, exist_ok=True)
                if isinstance(source, bytes):
                    target.write_bytes(source)
                elif source.is_dir():
                    shutil.copytree(source, target)
                else:
                    shutil.copyfile(source, target)
        if "@bundled" in words:
            fill_home(self._folder / "home")
        if "@everything" in words:
            everything(Home(root=self._folder / "home"))
        for path in self._files():
            if path.is_relative_to(self._work):
                os.utime(path, (CLOCK.now(), CLOCK.now()))

    def _in_shell(self, line: str) -> None:
        words = ["/bin/sh", "-c", line]
        subprocess.run(words, cwd=self._work, env=self._environment, check=False)
        for path in self._files():
            if path.is_relative_to(self._work):
                os.utime(path, (CLOCK.now(), CLOCK.now()))

    def _ran(self, step: str) -> Outcome:
        command, environment, stdin = step, self._environment, b""
        if width := _WIDTH.match(command):
            command = command[width.end() :]
        words = shlex.split(command)
        while setting := _SETTING.fullmatch(words[0] if words else ""):
            environment[setting[1]] = setting[2]
            del words[0]
        if words[-2:-1] == ["<"]:
            stdin = (self._work / words[-1]).read_bytes()
            del words[-2:]
        words[:1] = words_of(*words[:1]) if words else ()
        CLOCK.ids = 0
        before = self._held()
        if width:
            code, out, err = self._on_terminal(int(width[1]), words, environment)
        else:
            done = completed(words, self._work, environment, stdin=stdin)
            code, out, err = done.returncode, done.stdout, done.stderr
        after = self._held()
        names = before.keys() | after.keys()
        changed = {name for name in names if before.get(name) != after.get(name)}
        for name in changed & after.keys():
            if name.startswith("home"):
                os.utime(self._folder / name, (CLOCK.now(), CLOCK.now()))
        return Outcome(
            command=step,
            code=code,
            out=self._stable(out),
            err=self._stable(err),
            files={
                self._stable(name.encode()): self._shown(name, after.get(name)) for name in changed
            },
        )

    def _on_terminal(
        self, width: int, words: list[str], environment: Mapping[str, str]
    ) -> tuple[int, bytes, bytes]:
        ours, theirs = os.openpty()
        ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
        child = started(words, self._work, environment, (theirs,) * 3)
        os.close(theirs)
        shown = bytearray()
        reader = Thread(target=_read_terminal, args=(ours, shown))
        reader.start()
        code = ended(child)
        reader.join()
        os.close(ours)
        return code, _TAKEN_BACK.sub(b"", bytes(shown)).replace(b"\r\n", b"\n"), b""

    def _stable(self, data: bytes) -> str:
        text = data.decode(errors="backslashreplace")
        for there, shown in self._places:
            text = text.replace(there, shown)
        if self._has_data_set:
            text = _HASHES.sub("…", text)
        return _TIMES.sub("0", _SIZES.sub("…", text))

    @cached_property
    def _places(self) -> tuple[tuple[str, str], ...]:
        """Where this folder is, as a path and as clients spell one in a name."""
        there = str(self._folder)
        mangled = re.sub(r"[^a-zA-Z0-9]", "-", there)
        return ((there, _PLACE), (mangled, _PLACE.replace("/", "-")))

    def _files(self) -> Iterator[Path]:
        for top in ("work", "home", "tmp"):
            yield from sorted((self._folder / top).rglob("*"))

    def _held(self) -> dict[str, tuple[int, bytes]]:
        """Return the mode and the bytes of each file; those of a folder are none."""
        return {
            str(path.relative_to(self._folder)): (
                path.lstat().st_mode & 0o7777,
                path.read_bytes() if path.is_file() else b"",
            )
            for path in self._files()
        }

    def _shown(self, name: str, held: tuple[int, bytes] | None) -> str:
        if held is None:
            return "removed"
        mode, data = held
        if data.startswith(b"SQLite") or name.endswith(("-wal", "-shm", "-journal")):
            text = "a database"
        elif data.startswith(b"PAR1"):
            text = self._stable(_rows(data).encode())
        else:
            text = self._stable(data)
        return f"{mode:o}\n{text}"


def _read_terminal(descriptor: int, shown: bytearray) -> None:
    while True:
        try:
            chunk = os.read(descriptor, 1 << 16)
        except OSError:  # Linux reports the end of a terminal as an error.
            return
        if not chunk:
            return
        shown += chunk


def _rows(data: bytes) -> str:
    """Return a Parquet file's schema, what is noted beside it, and its rows, one a line."""
    import pyarrow as pa
    from pyarrow import parquet

    table = parquet.ParquetFile(pa.BufferReader(data), pre_buffer=False).read(use_threads=False)
    noted = table.schema.metadata or {}
    columns = (f"{field.name}: {field.type}" for field in table.schema)
    rows = (repr(row) for row in table.to_pylist())
    return "\n".join([*columns, *(f"{k!r} {v!r}" for k, v in sorted(noted.items())), *rows])
