"""What the program says holds for an installed package, which has no checkout around it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

PACKAGE = ROOT / "compactctl"
# A page of the documentation by its path, and an extra of an index that compactctl is not on.
ONLY_ELSEWHERE = re.compile(r"(?<![\w./-])docs/\w|install '?compactctl\[")


def strings(tree: ast.AST) -> Iterator[str]:
    """Yield the texts in a module that are not docstrings."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    for node in constants:
        if isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def texts(path: Path) -> Iterator[str]:
    if path.suffix == ".py":
        yield from strings(ast.parse(path.read_text()))
    else:
        yield path.read_text("utf-8", "replace")


@pytest.mark.parametrize("ending", [".py", ".toml", ".txt", ".md", ".jinja", ".js", ".ts"])
def test_no_text_points_outside_of_the_package(ending: str) -> None:
    paths = [path for path in PACKAGE.rglob(f"*{ending}") if path.is_file()]
    assert paths
    wrong = {
        str(path.relative_to(PACKAGE)): found
        for path in paths
        if (found := [text for text in texts(path) if ONLY_ELSEWHERE.search(text)])
    }
    assert wrong == {}, (
        "the package is installed without docs/ and from no index: name a command instead, such as "
        "compactctl show stages, or compactctl.extras.install_command for an extra"
    )


@pytest.mark.parametrize(
    "text",
    ["docs/sessions.md says where", "see docs/stages", "pip install 'compactctl[html]'"],
)
def test_what_is_looked_for_is_found(text: str) -> None:
    (constant,) = strings(ast.parse(f"'''docs/stages.md'''\nx = \"{text}\""))
    assert ONLY_ELSEWHERE.search(constant)
    assert not ONLY_ELSEWHERE.search("https://example.com/docs/pricing")
