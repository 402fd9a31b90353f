"""Stories: what people ask, what the agent says, and which tools it calls."""

from dataclasses import dataclass
from typing import Any

from samples.project import load_toml


@dataclass(frozen=True, slots=True)
class Step:
    """One response of the agent; ``thinking`` is None when there is none, "" when it is hidden."""

    thinking: str | None
    text: str
    calls: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """A person's message and everything up to the next one."""

    person: str
    pause: float
    image: bool
    attach: tuple[str, ...]
    steps: tuple[Step, ...]


def tell(name: str) -> list[Turn]:
    """The turns of one story of the data folder."""
    return [_turn(row) for row in load_toml(name)["turn"]]


def _turn(row: dict[str, Any]) -> Turn:
    return Turn(
        person=row["person"],
        pause=row.get("pause", 0),
        image=row.get("image", False),
        attach=tuple(row.get("attach", ())),
        steps=tuple(step(cells) for cells in row["step"]),
    )


def step(cells: dict[str, Any]) -> Step:
    """One step from its table."""
    return Step(cells.get("think"), cells.get("say", ""), tuple(cells.get("calls", ())))
