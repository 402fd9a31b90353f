"""What is written for users is short, and in the words of the field."""

import re
from collections.abc import Iterator

import pytest
from docs.generate import PAGES, ROOT, shown_output
from docs.texts import PACKAGE, texts

README = ROOT / "README.md"
# Made from the code or by running it, or a reference that grows with it.
REFERENCES = {"commands", "json", "features", "errors", "exit-codes", "loop", "refusals", "results"}
HAND_WRITTEN = [page for page in PAGES if page != README and page.stem not in REFERENCES]
MEASURED = re.compile(r"<!-- (\w+) -->(.*?)<!-- end of \1 -->", re.DOTALL)
AVOID = re.compile(
    r"\b(?:"
    r"the way back|goes on|go on with|is gone by|(?:is|are) told|looked? into|a person|at work"
    r"|(?:gives?|given|takes?|taken) back|insists?|mend(?:s|ed)?|has every byte|full one go on"
    r"|everything but write"
    r")\b"
    r"|\d %(?!\})"
)


def words(text: str) -> int:
    return len(text.split())


def measured_tables(page: str) -> str:
    """Return the blocks of a page that benchmarks write."""
    return "\n".join(match[2] for match in MEASURED.finditer(page))


def test_the_readme_is_short() -> None:
    assert words(README.read_text()) <= 1_500


def test_the_documents_are_short() -> None:
    counts = {page.name: words(page.read_text()) for page in HAND_WRITTEN}
    output = sum(words(shown_output(page.read_text())) for page in HAND_WRITTEN)
    tables = sum(words(measured_tables(page.read_text())) for page in HAND_WRITTEN)
    over = max(
        sum(counts.values()) - output - tables - 23_000,
        sum(counts.values()) - 30_000,
    )
    assert over <= 0, f"shorten the pages in docs by {over} words: {counts}"


def written() -> Iterator[tuple[str, str]]:
    """Yield each text that users read, with the file it is in."""
    files = [path for path in PACKAGE.rglob("*") if path.suffix in {".py", ".md", ".jinja", ".txt"}]
    for path in (*PAGES, *files):
        yield from ((path.relative_to(ROOT).as_posix(), text) for text in texts(path))


def test_every_text_uses_the_words_of_the_field() -> None:
    found = [
        f"{name}: {text[max(match.start() - 40, 0) : match.end() + 40]!r}"
        for name, text in written()
        for match in AVOID.finditer(text)
    ]
    assert found == [], "\n".join(found)


@pytest.mark.parametrize("text", ["rewind is the way back", "nothing is given back", "35 % of it"])
def test_what_is_avoided_is_found(text: str) -> None:
    assert AVOID.search(text)
    assert not AVOID.search("rewind restores the original, 35% of the window")
