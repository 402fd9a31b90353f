"""The page of errors: every message that the code raises, with its exit code."""

import ast
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import groupby
from pathlib import Path

from modules import modules_of

import compactctl
from compactctl.errors import CompactctlError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "errors.md"
PACKAGE = Path(compactctl.__file__).parent
_HEAD = """# Errors

Every error is one line on standard error: where, what is wrong, what to type. This page lists the
messages by exit code, as they stand in the code; `<path>` and the like stand for what differs.
"""
_ELSEWHERE = "…"
# A message without three words in a row is put together from others.
_WORDS = re.compile(r"[a-z]+ [a-z-]+ [a-z-]+")


@dataclass(frozen=True, order=True)
class Row:
    """A message, and the exit code of the error that carries it."""

    code: int
    message: str


def page() -> str:
    """Return the page."""
    return "".join(_pieces())


def _pieces() -> Iterator[str]:
    yield _HEAD
    for code, rows in groupby(sorted(set(find_rows())), key=lambda row: row.code):
        yield f"\n## Exit code {code}\n\n"
        yield from (f"- `{row.message}`\n" for row in rows)


def find_rows() -> Iterator[Row]:
    """Yield the message of every error in the package that has an exit code."""
    codes = {error.__name__: error.exit_code for error in _error_types(CompactctlError)}
    for module in modules_of(PACKAGE).values():
        for node in module.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
                message = " ".join(_text(node.args[0]).split())
                if node.func.id in codes and _WORDS.search(message):
                    yield Row(codes[node.func.id], message)


def _error_types(error: type[CompactctlError]) -> Iterator[type[CompactctlError]]:
    for module in pkgutil.walk_packages(compactctl.__path__, "compactctl."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    yield from _subclasses(error)


def _subclasses(error: type[CompactctlError]) -> Iterator[type[CompactctlError]]:
    yield error
    for subclass in error.__subclasses__():
        yield from _subclasses(subclass)


def _text(node: ast.expr) -> str:
    """Return the text of a message, with the name of each value in it in angle brackets."""
    match node:
        case ast.Constant(value=value):
            return str(value)
        case ast.JoinedStr(values=values):
            return "".join(map(_text, values))
        case ast.FormattedValue(value=value):
            return _text(value)
        case ast.BinOp(left=left, right=right):
            return _text(left) + _text(right)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return f"<{name.strip('_').replace('_', ' ')}>"
        case _:
            return _ELSEWHERE
