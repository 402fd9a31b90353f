"""The command line, run inside the test's own process, and transcripts to run it on."""

import io
import shutil
from pathlib import Path

import pytest
from cli.asking import SAMPLES, Ask, Outcome, Sample

from compactctl.__main__ import run
from compactctl.cli.group import words_of


@pytest.fixture
def ask(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return a function that runs a command line; its command needs no name of a group."""

    def asked(*arguments: str | Path, stdin: bytes = b"") -> Outcome:
        piped = io.BufferedReader(io.BytesIO(stdin))
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(piped))
        words = [str(argument) for argument in arguments]
        code = run([*words_of(words[0]), *words[1:]] if words else [])
        captured = capfdbinary.readouterr()
        return Outcome(code, captured.out.decode(), captured.err.decode())

    return asked


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    """Return a function that copies a bundled transcript."""

    def copied(name: str) -> Path:
        return Path(shutil.copy(SAMPLES / f"{name}.jsonl", tmp_path / f"{name}.jsonl"))

    return copied


@pytest.fixture
def desk(sample: Sample) -> Path:
    """Return a copy of a small transcript with large tool results."""
    return sample("openai-chat")


@pytest.fixture
def compacted(ask: Ask, desk: Path) -> Path:
    """Return that transcript compacted by several stages, with its archive beside it."""
    assert ask("compact", desk, "--stages", "summarize,truncate").code == 0
    return desk.with_name("openai-chat.compacted.jsonl")
