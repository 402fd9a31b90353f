"""Mutants change what is decided, and nothing else."""

import ast
from pathlib import Path

import pytest
from docs.generate import ROOT
from mutation.mutants import mutants
from mutation.run import AREAS

SOURCE = b'''
LIMIT = 10

class Kettle:
    size: int = 3

    @lru_cache(maxsize=5)
    def boils(self, degrees: "int > 3") -> bool:
        """Tell whether 3 > 2."""
        return not self.empty and degrees >= 100

def pour(cups, left=2):
    while cups and left:
        cups.pop(); left -= 1
    return f"{left + 1}", min(cups) if any(cups) else None, dict(a=1, strict=True)
'''

CHANGES = [
    "Kettle.boils: not becomes nothing",
    "Kettle.boils: and becomes or",
    "Kettle.boils: >= becomes >",
    "Kettle.boils: 100 becomes 101",
    "pour: cups and left becomes (not (cups and left))",
    "pour: and becomes or",
    "pour: cups.pop() becomes None",
    "pour: - becomes +",
    "pour: 1 becomes 2",
    "pour: min becomes max",
    "pour: any becomes all",
    "pour: any(cups) becomes (not (any(cups)))",
    "pour: 1 becomes 2",
]


def test_what_decides_something_is_changed() -> None:
    found = mutants("kettle.py", SOURCE)
    assert sorted(mutant.name for mutant in found) == sorted(CHANGES)


def test_a_mutant_is_valid_code_on_the_same_lines() -> None:
    for mutant in mutants("kettle.py", SOURCE):
        changed = mutant.apply(SOURCE)
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(SOURCE))
        assert changed.count(b"\n") == SOURCE.count(b"\n")


def test_code_that_moves_is_tried_in_the_same_ways() -> None:
    moved = mutants("kettle.py", b"\n\n" + SOURCE)
    assert [each.lot(1) for each in moved] == [each.lot(1) for each in mutants("kettle.py", SOURCE)]


@pytest.mark.parametrize("folder", sorted((ROOT / "compactctl").glob("*/")), ids=lambda at: at.name)
def test_every_room_has_an_area(folder: Path) -> None:
    rooms = {name for area in AREAS.values() for name in area["code"]}
    if folder.name != "__pycache__":
        assert folder.name in rooms, f"tests/mutation/areas.toml: add [{folder.name}] and its tests"


@pytest.mark.parametrize("area", AREAS)
def test_every_area_has_tests_that_are_there(area: str) -> None:
    missing = [path for path in AREAS[area]["tests"] if not (ROOT / path).exists()]
    assert missing == [], f"tests/mutation/areas.toml: take these out of [{area}]"
