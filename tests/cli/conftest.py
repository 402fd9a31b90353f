"""The command line, run inside the test's own process, and transcripts to run it on."""

import io
import shutil
from pathlib import Path

import pytest
from cli.asking import LARGEST, SAMPLES, Ask, Outcome, Sample, first_turns

from compactctl.__main__ import run
from compactctl.cli.group import words_of


@pytest.fixture(autouse=True)
def _own_folder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in the test's own folder: each command looks for settings where it is started.

    The checkout has a large pyproject.toml, which takes longer to read than most transcripts.
    """
    if "ask" in request.fixturenames:
        monkeypatch.chdir(request.getfixturevalue("tmp_path"))


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
def excerpt(sample: Sample) -> Sample:
    """Return a function that copies a bundled transcript, but of the largest its first turns."""

    def copied(name: str) -> Path:
        path = sample(name)
        return first_turns(path.parent) if name == LARGEST else path

    return copied


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """Return the first turns of the largest sample, for what needs no more of a session."""
    return first_turns(tmp_path)


@pytest.fixture
def desk(sample: Sample) -> Path:
    """Return a copy of a small transcript with large tool results."""
    return sample("openai-chat")


@pytest.fixture
def compacted(ask: Ask, desk: Path) -> Path:
    """Return that transcript compacted by several stages, with its archive beside it."""
    assert ask("compact", desk, "--stages", "summarize,truncate").code == 0
    return desk.with_name("openai-chat.compacted.jsonl")
