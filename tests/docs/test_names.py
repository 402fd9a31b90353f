"""Names in the package say what a value is, not what was done with it."""

import ast
from collections.abc import Iterator

from conftest import ROOT
from modules import Module, modules_of

# Participles and leftovers that say nothing about a value.
EMPTY_NAMES = {
    "found", "told", "kept", "left", "known", "wanted", "given", "made", "own", "each", "there",
    "wish", "goal",
}  # fmt: skip
# Keys of JSON documents and of reports, which stay.
KEYS = {
    "compactctl/commands/lab/eval_figures.py: _KEPT",
    "compactctl/commands/lab/eval_figures.py: kept",
    "compactctl/commands/lab/eval_session.py: kept",
}


def names(module: Module) -> Iterator[str]:
    """Yield the names that a module gives to values, functions and types."""
    for node in module.nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case _:
                pass


def test_no_name_is_empty() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path, module in modules_of(ROOT / "compactctl").items()
        for name in names(module)
        if name.strip("_").lower() in EMPTY_NAMES
    }
    assert found == KEYS, "name the value for what it is"
