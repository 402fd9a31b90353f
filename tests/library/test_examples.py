"""The examples of the library's page print what the page says."""

import doctest
import re
import shutil
from pathlib import Path

import pytest
from sessions.bundled_home import fill_home

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "library.md"
BLOCKS = re.findall(r"^```pycon\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def test_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "sample_transcripts", tmp_path / "sample_transcripts")
    fill_home(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    test = doctest.DocTestParser().get_doctest("".join(BLOCKS), {}, PAGE.name, str(PAGE), 0)
    told: list[str] = []
    outcome = doctest.DocTestRunner().run(test, out=told.append)
    assert len(BLOCKS) == 6
    assert not outcome.failed, "".join(told)
