"""The invented project that the samples talk about: its tables and its files."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).with_name("data")


@dataclass(frozen=True, slots=True)
class Field:
    """One column of an entity; low and high mean what its kind makes of them."""

    name: str
    kind: str
    low: str
    high: str
    meaning: str

    @property
    def choices(self) -> list[str]:
        return self.low.split("|")


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition over one row, and the sentence that explains it."""

    name: str
    condition: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Entity:
    """One thing the service knows: its columns, its rules and what it logs."""

    name: str
    plural: str
    what: str
    fields: tuple[Field, ...]
    rules: tuple[Rule, ...]
    events: tuple[str, ...]

    @property
    def title(self) -> str:
        return self.name.capitalize()

    def of_kind(self, *kinds: str) -> list[Field]:
        return [field for field in self.fields if field.kind in kinds]


def load_toml(name: str) -> dict[str, Any]:
    """Read one of the data tables beside this module."""
    return tomllib.loads((DATA / name).read_text("utf-8"))


@cache
def entities() -> dict[str, Entity]:
    """Every entity by name, in the order of the table."""
    rows = load_toml("quayside.toml")["entity"]
    return {row["name"]: _entity(row) for row in rows}


def _entity(row: dict[str, Any]) -> Entity:
    return Entity(
        name=row["name"],
        plural=row["plural"],
        what=row["what"],
        fields=tuple(Field(*cells) for cells in row["fields"]),
        rules=tuple(Rule(*cells) for cells in row["rules"]),
        events=tuple(row["events"]),
    )
