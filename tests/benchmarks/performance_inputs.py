"""What the performance of programs is measured on: made once, the same on every run."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache, partial
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from sessions.homes import Home, many

from benchmarks.long_session import write_session

MEGABYTE = 1_000_000
PRUNE = ("--stages", "prune,dedup", "--trigger", "always")
SAMPLES = Path(__file__).resolve().parents[2] / "sample_transcripts"
_ID = re.compile(rb"[0-9a-f]{8}(?=-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")
_SESSIONS, _SESSION_BYTES = 2_000, 100_000


class Inputs:
    """Files in ``folder``, each written when it is first asked for.

    ``transcripts`` is the folder of JSON Lines that ``folder_of`` repeats.
    """

    def __init__(self, folder: Path, transcripts: Path = SAMPLES) -> None:
        self.folder, self.transcripts = folder, transcripts
        self.sample = SAMPLES / "claude-code-session.jsonl"
        self.coding = cache(self._coding)
        self.distinct = cache(self._distinct)
        self.folder_of = cache(self._folder_of)
        self.compacted = cache(self._compacted)
        self.texts = cache(self._texts)
        self.grown = cache(self._grown)
        self.tiny = cache(self._tiny)
        self.home = cache(self._home)

    def _coding(self, megabytes: int) -> Path:
        """Return a coding session without a compaction or a repeated text."""
        path = self.folder / f"coding-{megabytes}.jsonl"
        write_session(path, megabytes * MEGABYTE)
        return path

    def _compacted(self, megabytes: int) -> Path:
        """Return a compaction of the coding session, without a summary."""
        target = self.folder / f"coding-{megabytes}.compacted.jsonl"
        command: list[str | Path] = [
            sys.executable,
            "-m",
            "compactctl",
            "compact",
            self.coding(megabytes),
            *PRUNE,
        ]
        subprocess.run([*command, "-o", target], check=True, capture_output=True)
        return target

    def _distinct(self, megabytes: int) -> Path:
        """Return a session whose texts share no sentence, without reported usage."""
        path = self.folder / f"distinct-{megabytes}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            size = 0
            for message in _distinct_messages():
                size += file.write(f"{json.dumps(message)}\n")
                if size >= megabytes * MEGABYTE:
                    return path
        raise AssertionError("the messages never end")

    def _folder_of(self, megabytes: int) -> Path:
        """Return a folder of the transcripts, again and again with other ids."""
        folder, size = self.folder / f"folder-{megabytes}", 0
        paths = [path for path in sorted(self.transcripts.rglob("*.jsonl")) if path.stat().st_size]
        for again in count():
            for number, path in enumerate(paths):
                if size >= megabytes * MEGABYTE:
                    return folder
                target = folder / f"{again:04}" / f"{number:03}-{path.name}"
                target.parent.mkdir(parents=True, exist_ok=True)
                size += target.write_bytes(
                    _ID.sub(partial(_other_id, key=again), path.read_bytes())
                )
        raise AssertionError("the folder is never full")

    def _texts(self, path: Path) -> Path:
        """Return a file with the distinct strings of a session, as a JSON array."""
        strings = {
            text for line in path.open(encoding="utf-8") for text in _strings(json.loads(line))
        }
        target = path.with_suffix(".texts.json")
        target.write_text(json.dumps(sorted(strings)), encoding="utf-8")
        return target

    def _grown(self, megabytes: int) -> tuple[Path, bytes]:
        """Return a folder with a session that a line can be added to, and the line."""
        folder = self.folder / f"grown-{megabytes}"
        folder.mkdir()
        path = folder / "session.jsonl"
        shutil.copy(self.coding(megabytes), path)
        return path, path.read_bytes().splitlines(keepends=True)[-1]

    def _tiny(self) -> Path:
        path = self.folder / "tiny.jsonl"
        path.write_text('{"role": "user", "content": "%s"}\n' % ("Which way? " * 80))
        return path

    def _home(self) -> Path:
        """Return a home folder with sessions of Claude Code and Codex, half each."""
        home = Home(root=self.folder / "home-of-sessions")
        many(home, _SESSIONS, _SESSION_BYTES)
        return home.root


def _distinct_messages() -> Iterator[dict[str, str]]:
    rng = Random("distinct")
    for number in count():
        words = (f"{rng.getrandbits(20):x}-{rng.choice(_NOUNS)}" for _ in range(60))
        content = f"Step {number}: {' '.join(words)}.\n" + "".join(
            f"{rng.choice(_NOUNS)} {rng.getrandbits(32):x} is at {rng.getrandbits(24):x}.\n"
            for _ in range(30)
        )
        yield {"role": ("user", "assistant")[number % 2], "content": content}


_NOUNS = ("berth", "tide", "vessel", "invoice", "booking", "path", "value", "error", "store")


def _other_id(match: re.Match[bytes], key: int) -> bytes:
    return f"{int(match[0], 16) ^ (key * 0x9E3779B1 & 0xFFFFFFFF):08x}".encode()


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)
