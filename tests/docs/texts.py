"""The texts of the program: strings in its code, and files that it installs or prints."""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from conftest import ROOT
from modules import modules_of

PACKAGE = ROOT / "compactctl"


def strings(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Yield the texts among the nodes of a module that are not docstrings."""
    docstrings = {
        id(node.body[0].value)
        for node in nodes
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in nodes:
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings
        ):
            yield node.value


def texts(path: Path) -> Iterator[str]:
    """Yield the strings of a module of the package, or the content of any other file."""
    if path.suffix == ".py":
        yield from strings(modules_of(PACKAGE)[path].nodes)
    else:
        yield path.read_text("utf-8", "replace")
