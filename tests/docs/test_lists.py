"""No list of what a registry holds is kept a second time: it would be forgotten.

Looked for are literals whose strings are for the most part names of one registry, and more than a
few of them. The package has none beside the registries themselves; a test that has nearly all
names compares them with the registry.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from docs.generate import ROOT
from modules import Module, modules_of

from compactctl.cli.group import COMMANDS
from compactctl.clients.registry import ALL_FORMATS
from compactctl.profiles.registry import PROFILES
from compactctl.stages.registry import ALL_STAGES
from compactctl.tokens.counters.selection import COUNTER_NAMES

PACKAGE = ROOT / "compactctl"
# What a registry is called in code, and the names in it.
REGISTRIES = {
    "ALL_STAGES": {stage.name for stage in ALL_STAGES},
    "ALL_FORMATS": {known.name for known in ALL_FORMATS},
    "COMMANDS": set(COMMANDS),
    "COUNTER_NAMES": set(COUNTER_NAMES),
    "PROFILES": set(PROFILES),
}
# Registries that hold names: those of commands, profiles and counters. The others hold objects.
OWN = {
    "compactctl/cli/command_index.py",
    "compactctl/cli/group.py",
    "compactctl/profiles/registry.py",
    "compactctl/tokens/counters/selection.py",
}
# So many names are a list; a few of them may be an example.
FEW = 4
ROOMS = [
    pytest.param(path, id=path.relative_to(ROOT).as_posix())
    for top in ("compactctl", "tests")
    for path in sorted((ROOT / top).iterdir())
    if path.suffix == ".py" or any(path.rglob("*.py"))
]


def strings(node: ast.expr | None) -> Iterator[str]:
    """Yield the strings that a literal begins with, those of lists in it by their first one."""
    match node:
        case ast.Constant(value=str(text)):
            yield from (word.strip() for word in text.split(","))
        case ast.Tuple(elts=[first, *_]) | ast.List(elts=[first, *_]) | ast.Call(args=[first, *_]):
            yield from strings(first)
        case _:
            pass


def lists(module: Module) -> Iterator[list[str]]:
    """Yield the strings of every literal that may be a list of names."""
    for node in module.nodes:
        match node:
            case ast.Tuple(elts=found) | ast.List(elts=found) | ast.Set(elts=found):
                yield [text for each in found for text in strings(each)]
            case ast.Dict(keys=keys):
                yield [text for each in keys for text in strings(each)]
            case ast.Constant(value=str(text)):
                yield [word.strip() for word in text.split(",")]
            case _:
                pass


def kept_by_hand(module: Module) -> Iterator[tuple[str, set[str]]]:
    """Yield lists of names in Python code, each with the registry that they are from."""
    # Most files do not even mention so many names.
    registries = {
        registry: names
        for registry, names in REGISTRIES.items()
        if sum(name in module.text for name in names) >= FEW
    }
    for words in lists(module) if registries else ():
        for registry, names in registries.items():
            found = names.intersection(words)
            if len(found) >= FEW and 2 * len(found) > len(set(words)):
                yield registry, found


def complaints(path: Path) -> Iterator[str]:
    """Yield what to do about the lists that a file keeps."""
    name = path.relative_to(ROOT).as_posix()
    if name in OWN:
        return
    module = modules_of(PACKAGE).get(path) or Module(path.read_text())
    for registry, found in kept_by_hand(module):
        nearly_all = 5 * len(found) >= 4 * len(REGISTRIES[registry])
        names = ", ".join(sorted(found))
        if name.startswith("compactctl/"):
            yield f"{name}: derive this list from {registry}, do not write it out: {names}"
        elif nearly_all and registry not in module.text:
            yield f"{name}: derive this list from {registry}, or compare it with that: {names}"


@pytest.mark.parametrize("room", ROOMS)
def test_no_list_is_kept_by_hand(room: Path) -> None:
    files = [room] if room.is_file() else sorted(room.rglob("*.py"))
    found = [each for path in files for each in complaints(path)]
    assert not found, "\n".join(found)


def test_such_lists_are_found() -> None:
    names = sorted(REGISTRIES["ALL_STAGES"])[:5]
    for written in (repr(names), repr(",".join(names)), repr(dict.fromkeys(names, 1))):
        assert list(kept_by_hand(Module(written))) == [("ALL_STAGES", set(names))]
    assert list(kept_by_hand(Module(repr(["prune", "dedup"])))) == []
