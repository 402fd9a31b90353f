"""What a page shows, line by line: its texts, and the places and colors of what is drawn."""

import re
from html.parser import HTMLParser

_LINES = frozenset(
    {
        "section",
        "p",
        "h1",
        "h2",
        "h3",
        "li",
        "tr",
        "dt",
        "text",
        "details",
        "summary",
        "pre",
        "g",
    }
)
_CELLS = frozenset({"td", "th", "span", "small", "dd", "i", "b", "em", "strong", "div"})
_SHAPES = frozenset({"rect", "path", "line", "circle"})
_PLACES = ("x", "x1", "y1", "cx", "width", "d")
# They are the same on every page.
_GROUNDS = frozenset({"paper", "cursor", "empty", "stripes"})


class _Outline(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self._is_main = False
        # Its labels are the same on every page of a kind.
        self._is_form = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self._is_main |= tag == "main"
        self._is_form |= tag == "form"
        if not self._is_main:
            return
        if tag in _LINES:
            self.text += "\n"
        elif tag in _CELLS:
            self.text += " "
        if tag in _SHAPES and values.get("class") not in _GROUNDS:
            places = (values[name] for name in _PLACES if name in values)
            self.text += f"\n[{' '.join((values.get('class', tag), *places))}] "
        if tag == "a":
            self.text += f"({values['href']}) "

    def handle_endtag(self, tag: str) -> None:
        self._is_main &= tag != "main"
        self._is_form &= tag != "form"

    def handle_data(self, data: str) -> None:
        if self._is_main and not self._is_form:
            self.text += re.sub(r"\s+", " ", data)


def outline(page: str) -> list[str]:
    """Return the lines of a page; a shape is its class and its places in brackets."""
    parser = _Outline()
    parser.feed(page)
    lines = (" ".join(line.split()) for line in parser.text.splitlines())
    return [line for line in lines if line]


def part(page: list[str], start: str, end: str) -> list[str]:
    """Return the lines from one up to another one."""
    return page[page.index(start) : page.index(end)]
