"""A document is its record: keys are fields, in their order, but for what is asked otherwise."""

from pathlib import Path

import pytest

from compactctl.model.operation import Digest
from compactctl.model.transcript import Opaque
from compactctl.records import Record
from compactctl.views.encode import encoded, record


class Basin(Record):
    """A basin and what is in it."""

    name: str
    path: Path
    water_level: float | None
    n_bytes: int
    ships: tuple["Ship", ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether no ship is in it."""
        return not self.ships


class Ship(Record):
    """A ship and what it carries, by kind."""

    cargo_tons: dict[str, int]


BASIN = Basin(
    name="north",
    path=Path("north.csv"),
    water_level=None,
    n_bytes=3,
    ships=(Ship(cargo_tons={"iron_ore": 4}),),
)


def test_keys_are_the_fields_in_camel_case_down_to_what_a_record_holds() -> None:
    assert encoded(BASIN) == {
        "name": "north",
        "path": "north.csv",
        "waterLevel": None,
        "bytes": 3,
        "ships": [{"cargoTons": {"iron_ore": 4}}],
    }
    assert list(record(BASIN)) == ["name", "path", "waterLevel", "bytes", "ships"]


def test_what_is_wanted_stands_in_the_order_that_was_asked_for() -> None:
    wanted = record(BASIN, only=("is_empty", "name"))
    assert list(wanted.items()) == [("isEmpty", False), ("name", "north")]


def test_fields_are_left_out_and_renamed() -> None:
    left = record(BASIN, without=("ships", "path"), n_bytes="sizeBytes", name="basin")
    assert left == {"basin": "north", "waterLevel": None, "sizeBytes": 3}


def test_a_type_is_shown_as_it_is_registered_wherever_it_stands() -> None:
    line = Opaque(line=4, n_bytes=7, damage="cut")
    assert encoded({"lines": (line,)}) == {"lines": [{"line": 5, "bytes": 7, "damage": "cut"}]}
    digest = Digest(sha256="ab", n_bytes=7, n_lines=2)
    assert encoded(digest) == {"sha256": "ab", "bytes": 7, "lines": 2}


def test_what_no_document_can_hold_is_an_error() -> None:
    with pytest.raises(AttributeError):
        encoded(object())
