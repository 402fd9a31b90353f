"""A home of one's own, for the program and for what tests write into it."""

import io
from pathlib import Path

import pytest
from cli.asking import Ask, Outcome
from sessions.homes import Home, HomeAt

from compactctl.__main__ import run
from compactctl.store.client_folders import UserEnvironment


@pytest.fixture
def home_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HomeAt:
    """Return a function that makes an empty home, which is the user's from then on."""
    monkeypatch.delenv("XDG_CONFIG_HOME")

    def home_named(name: str) -> Home:
        root = tmp_path / name
        root.mkdir()
        monkeypatch.setenv("HOME", str(root))
        return Home(root=root)

    return home_named


@pytest.fixture
def home(home_at: HomeAt) -> Home:
    """Return an empty home, which is the user's as long as the test runs."""
    return home_at("home")


@pytest.fixture
def machine(home: Home) -> UserEnvironment:
    """Return the machine with that home."""
    return UserEnvironment(home=home.root)


@pytest.fixture
def ask(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return a function that runs a command line."""

    def asked(*arguments: str | Path, stdin: bytes = b"") -> Outcome:
        piped = io.BufferedReader(io.BytesIO(stdin))
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(piped))
        code = run([str(each) for each in arguments])
        captured = capfd.readouterr()
        return Outcome(code, captured.out, captured.err)

    return asked
