"""The site of the documentation: complete, and it opens from disk without loading anything."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from browser import start_browser
from docs.generate import ROOT

pytestmark = pytest.mark.long
pytest.importorskip("material", reason="needs the extra docs")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site; --strict fails for links to pages or sections that do not exist."""
    folder = tmp_path_factory.mktemp("site")
    words = ("-m", "mkdocs", "build", "-q", "-f", ".mkdocs.yml", "--strict", "-d", str(folder))
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_reached_from_the_first_one(site: Path) -> None:
    linked = set(re.findall(r'href="([\w-]+\.html)', (site / "index.html").read_text()))
    pages = {f"{page.stem}.html" for page in (ROOT / "docs").glob("*.md")}
    assert pages <= linked, ".mkdocs.yml: add the missing pages to nav"


def test_nothing_is_loaded_from_the_web(site: Path) -> None:
    loads = re.compile(r'<(?:script|img|iframe)\b[^>]*\bsrc="?https?:|<link\b[^>]*href="?https?:')
    assert [page.name for page in site.glob("*.html") if loads.search(page.read_text())] == []


def test_the_search_works_from_disk(site: Path, tmp_path: Path) -> None:
    with start_browser(str(tmp_path)) as browser:
        page = browser.new_page()
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.goto((site / "index.html").as_uri())
        page.keyboard.press("s")
        page.keyboard.type("rewind")
        page.wait_for_selector(".md-search-result__item")
    assert [url for url in requests if not url.startswith("file:")] == []
