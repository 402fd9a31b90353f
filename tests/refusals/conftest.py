"""The command line, run inside the test's own process and folder."""

from pathlib import Path

import pytest
from cli.asking import Ask, Outcome

from compactctl.__main__ import run


@pytest.fixture
def ask(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Ask:
    """Return a function that runs a command line in the test's folder, with no sessions at home."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    def asked(*arguments: str | Path, stdin: bytes = b"") -> Outcome:
        assert not stdin
        code = run([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return Outcome(code, captured.out, captured.err)

    return asked
