"""Python files as tests look into them, each read and parsed once in a process."""

import ast
import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path


@dataclass(frozen=True)
class Module:
    """A file: its text, its syntax tree, and the nodes of that."""

    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> Sequence[ast.AST]:
        return tuple(ast.walk(self.tree))


@cache
def modules_of(package: Path) -> Mapping[Path, Module]:
    """Return the files of a package by their paths, in order."""
    found = {path: Module(path.read_text()) for path in sorted(package.rglob("*.py"))}
    with _kept_to_the_end():
        for module in found.values():
            assert module.nodes
    return found


@contextmanager
def _kept_to_the_end() -> Iterator[None]:
    """Let garbage collection pass over what is made: it would go through it in every test."""
    gc.collect()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()
