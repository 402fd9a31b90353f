"""The program run as a process: in a pipe, or on a terminal of a given width."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

from forked import completed, ended, started

# Progress that was shown and taken back; where a machine is fast there may be none.
_TAKEN_BACK = re.compile(r"\x1b\[\?25l.*\x1b\[\?25h(?:\r|\x1b\[\d[AK])*", re.DOTALL)

PROGRAM = (sys.executable, "-m", "compactctl")
PLAIN = {
    "PATH": os.environ.get("PATH", ""),
    "TERM": "xterm-256color",
    "HOME": "/nonexistent",
    # Nobody is there to leave another pager.
    "PAGER": "cat",
}


def run_piped(
    *arguments: str | Path, stdin: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the program with nothing but pipes and files around it."""
    return completed(tuple(map(str, arguments)), Path.cwd(), PLAIN | environment, stdin=stdin)


def run_on_terminal(width: int, folder: Path, *arguments: str | Path, **environment: str) -> str:
    """Run the program in a folder, on a terminal so many columns wide; return what stays there."""
    return _TAKEN_BACK.sub("", ended_on_terminal(width, folder, *arguments, **environment)[1])


def ended_on_terminal(
    width: int, folder: Path, *arguments: str | Path, **environment: str
) -> tuple[int, str]:
    """Do the same; return the exit code, and all that was shown. The input has ended."""
    return ended_after(b"\x04", width, folder, *arguments, **environment)


def ended_after(
    typed: bytes, width: int, folder: Path, *arguments: str | Path, **environment: str
) -> tuple[int, str]:
    """Do the same after something was typed, which the terminal shows too."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    child = started(tuple(map(str, arguments)), folder, PLAIN | environment, (theirs,) * 3)
    os.close(theirs)
    os.write(ours, typed)
    shown = read_all(ours)
    os.close(ours)
    return ended(child), shown.decode().replace("\r\n", "\n")


def read_until(descriptor: int, text: bytes) -> bytes:
    """Return what a terminal shows up to a text, as soon as it is there."""
    shown = b""
    while text not in shown:
        shown += os.read(descriptor, 1 << 16)
    return shown


def read_all(descriptor: int) -> bytes:
    """Return what a terminal shows until the program on it ends."""
    chunks = []
    while True:
        try:
            chunk = os.read(descriptor, 1 << 16)
        except OSError:  # Linux reports the end of a terminal as an error.
            break
        if not chunk:
            break
        chunks.append(chunk)
    return b"".join(chunks)
