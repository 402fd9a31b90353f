"""The texts of the program: strings in its code, and files that it installs or prints."""

import ast
from collections.abc import Iterator
from pathlib import Path


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
    """Yield the strings of a module, or the content of any other file."""
    if path.suffix == ".py":
        yield from strings(ast.parse(path.read_text()))
    else:
        yield path.read_text("utf-8", "replace")
