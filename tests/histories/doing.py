"""Commands run in this process, and the disk as it was before."""

import io
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from compactctl.__main__ import run


@dataclass(frozen=True, slots=True)
class Told:
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """What it printed with ``--json``."""
        found: dict[str, Any] = json.loads(self.out)
        return found

    @property
    def why(self) -> str:
        """Return how it failed."""
        return f"exit {self.code}: {self.err or self._findings}"

    @property
    def _findings(self) -> str:
        """What a verification found."""
        if not self.out:
            return ""
        transcripts = self.document.get("transcripts", [])
        return "; ".join(each["text"] for found in transcripts for each in found["findings"])


def ask(*arguments: str) -> Told:
    """Run a command line in this process."""
    out, err = io.BytesIO(), io.BytesIO()
    streams = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = io.TextIOWrapper(io.BytesIO())
    sys.stdout, sys.stderr = (io.TextIOWrapper(each, encoding="utf-8") for each in (out, err))
    try:
        code = run(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        # Views of raw lines print bytes that are no text.
        return Told(code, *(each.getvalue().decode("utf-8", "replace") for each in (out, err)))
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams


def everything() -> dict[Path, bytes]:
    """Return all files below the folder that the process is in."""
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def restore(disk: Mapping[Path, bytes]) -> None:
    """Leave these files, and no other."""
    for path, data in everything().items():
        if path not in disk:
            path.unlink()
        elif data != disk[path]:
            path.write_bytes(disk[path])
    for path, data in disk.items():
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Be in a new folder, which is the home of the user too."""
    old = Path.cwd()
    folder.mkdir(parents=True)
    os.chdir(folder)
    try:
        with patch.dict(os.environ, {"HOME": str(folder / "home")}):
            yield
    finally:
        os.chdir(old)
