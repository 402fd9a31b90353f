"""A page as a reader without a script has it."""

import re
from collections import Counter
from html.parser import HTMLParser
from itertools import takewhile
from pathlib import Path
from typing import Any

from cli.asking import Ask

# Elements that end with the tag that begins them.
_EMPTY = frozenset({"meta", "input", "link", "img", "br", "hr"})
ALLOWED = frozenset(Path(__file__).with_name("elements.txt").read_text().split())
# What the first column of a table is called.
_TABLES = frozenset({"Request", "Stage", "Policy", "Session", "Project", "Model", "Week"})
# What reads as lines that do not belong together.
_BLOCKS = frozenset({"p", "li", "td", "th", "tr", "h1", "h2", "h3", "pre", "dt", "dd"})


class Page(HTMLParser):
    """A page that was read: which elements it has, with what attributes, and what they say."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.source = path.read_text("utf-8")
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.scripts: list[str] = []
        self.rows: list[list[str]] = []
        self.texts: dict[str, str] = {}
        self.bars: list[list[str]] = []
        self.words: list[str] = []
        self._open: list[tuple[str, dict[str, str]]] = []
        self.feed(self.source)
        self.close()

    @property
    def table(self) -> list[dict[str, str]]:
        """The requests, by the titles of the table."""
        return self.table_of("Request")

    def table_of(self, title: str) -> list[dict[str, str]]:
        """Return the rows of the table whose first column has this title, by their titles."""
        at = next(at for at, row in enumerate(self.rows) if row[0] == title)
        titles, *rows = self.rows[at:]
        rows = list(takewhile(lambda row: row[0] not in _TABLES, rows))
        return [dict(zip(titles, row, strict=True)) for row in rows]

    @property
    def says(self) -> str:
        """Everything that is to be read, but for the style and the script."""
        return " ".join("".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags[tag] += 1
        self.attributes += [(tag, name, value) for name, value in given.items()]
        if tag in _BLOCKS:
            self.words.append("\n")
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")
        if tag == "li":
            self.bars.append([])
        if tag == "script":
            self.scripts.append("")
        if tag not in _EMPTY:
            self._open.append((tag, given))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _EMPTY:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> ends nothing"
        name, _ = self._open.pop()
        assert name == tag

    def handle_data(self, data: str) -> None:
        inside = [tag for tag, _ in self._open]
        if "script" in inside:
            self.scripts[-1] += data
            return
        if "style" not in inside:
            self.words.append(data)
        if inside and inside[-1] in {"td", "th", "a"} and {"td", "th"} & set(inside):
            self.rows[-1][-1] += data
        if "li" in inside and data.strip():
            self.bars[-1].append(data.strip())
        if "pre" in inside:
            name = next(given["id"] for tag, given in self._open if tag == "details")
            self.texts[name] = self.texts.get(name, "") + data


def page_of(ask: Ask, folder: Path, *arguments: str | Path) -> Page:
    """Return the page that ``stats`` makes."""
    path = folder / "page.html"
    outcome = ask("stats", *arguments, "--html", path)
    assert outcome.code == 0, outcome.err
    assert f"wrote {path} (a page of " in outcome.err
    return Page(path)


def document_of(ask: Ask, *arguments: str | Path) -> Any:
    """Return the same as a document."""
    return ask("stats", *arguments, "--rounds", "--json").json


def assert_inert(page: Page) -> None:
    """Nothing on the page but what every page has: no handler, no style, nowhere to go."""
    unknown = set(page.tags) - ALLOWED
    assert unknown == set(), "tests/cli/pages/elements.txt: add elements that load and run nothing"
    assert (page.tags["script"], page.tags["style"], page.tags["title"] > 0) == (1, 1, True)
    for tag, name, value in page.attributes:
        assert not name.startswith("on"), (tag, name)
        assert name not in {"style", "src", "srcset", "action", "xlink:href"}, (tag, name)
        assert name != "href" or re.fullmatch(r"#[a-z0-9]+", value), value
    policies = [value for _, name, value in page.attributes if name == "content"]
    assert policies[0].startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policies[0]
