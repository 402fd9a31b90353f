"""The examples of the README and the library's page print what the pages say."""

import doctest
import re
import shutil
from pathlib import Path

import pytest
from sessions.bundled_home import fill_home

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", ROOT / "docs" / "library.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"^```pycon\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    shutil.copytree(ROOT / "sample_transcripts", tmp_path / "sample_transcripts")
    fill_home(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    test = doctest.DocTestParser().get_doctest("".join(blocks), {}, page.name, str(page), 0)
    printed: list[str] = []
    outcome = doctest.DocTestRunner().run(test, out=printed.append)
    assert outcome.attempted
    assert not outcome.failed, "".join(printed)
