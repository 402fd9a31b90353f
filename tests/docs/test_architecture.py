"""The rooms are as the architecture page says, and files stand by themselves."""

import ast
import re
from functools import cache
from pathlib import Path

from benchmarks.structure import File, files_of, several_meanings, small_with_one_importer
from docs.generate import ROOT

PACKAGE = ROOT / "compactctl"
PACKAGES = sorted(path.parent for path in PACKAGE.rglob("__init__.py"))


@cache
def files() -> dict[str, File]:
    """Return the files of the package, parsed once for all tests."""
    return files_of(PACKAGE)


def purpose(folder: Path) -> str | None:
    return ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))


def test_every_room_is_described_in_its_own_words() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    described = dict(re.findall(r"^- `([\w/]+)`: (.+)$", page, flags=re.MULTILINE))
    rooms = [folder for folder in PACKAGES if folder.parent == PACKAGE]
    purposes = {folder.relative_to(PACKAGE).as_posix(): purpose(folder) for folder in rooms}
    assert described == purposes, (
        "docs/architecture.md, ## Rooms: an item for each folder at the top of the package, with "
        "the docstring of its __init__.py"
    )
    silent = [folder.relative_to(ROOT).as_posix() for folder in PACKAGES if not purpose(folder)]
    assert silent == [], "say in the __init__.py of each of these what is in it"


def test_every_record_that_the_page_shows_is_a_type() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    shown = re.search(r"^## Records$.*?^```$(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    assert shown
    texts = "\n".join(file.text for file in files().values())
    names = sorted(set(re.findall(r"\b[A-Z]\w+", shown[1])) - {"None"})
    missing = [name for name in names if not re.search(rf"^(class )?{name}\b", texts, re.MULTILINE)]
    assert missing == [], "docs/architecture.md, ## Records: types have other names now"


def test_no_two_types_have_one_name() -> None:
    assert several_meanings(files()) == {}, "rename one of the types of each name"


def test_no_small_file_is_there_for_another_one_alone() -> None:
    assert small_with_one_importer(files(), PACKAGE.name) == [], (
        "move what is in each of these files into the only file that imports it"
    )


def test_no_test_takes_anything_from_another_file_of_tests() -> None:
    taken = re.compile(
        r"^(?:from (?:\w+\.)*test_\w+ import|import (?:\w+\.)*test_\w+)", re.MULTILINE
    )
    taking = [path for path in (ROOT / "tests").rglob("*.py") if taken.search(path.read_text())]
    assert taking == [], "move what they share to a file whose name does not begin with test_"


def test_every_script_that_a_recipe_runs_is_there() -> None:
    named = re.findall(r"(?<![\w/])(?:tests|\.ci)/[\w./-]+", (ROOT / ".justfile").read_text())
    assert named
    missing = [name for name in named if not (ROOT / name).exists()]
    assert missing == [], ".justfile names scripts that have moved: give it their new names"


def test_every_recipe_that_the_page_shows_is_there() -> None:
    page, recipes = (ROOT / "docs" / "contributing.md", ROOT / ".justfile")
    shown = re.findall(r"^just (\w+)", page.read_text(), re.MULTILINE)
    assert shown
    assert set(shown) <= set(re.findall(r"^(\w+).*:$", recipes.read_text(), re.MULTILINE))


def test_every_file_that_the_page_names_is_there() -> None:
    for page in ("architecture", "contributing"):
        text = (ROOT / "docs" / f"{page}.md").read_text()
        for name in re.findall(r"`((?:compactctl|tests|docs|\.ci)/[\w./-]+)`", text):
            assert (ROOT / name).exists(), f"docs/{page}.md: {name} has moved: correct the name"
