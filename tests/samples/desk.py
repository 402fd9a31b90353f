"""Dialogs between the harbour desk's assistant and the people who call it."""

import json
from dataclasses import dataclass
from random import Random
from typing import Any

from samples import outputs
from samples.project import entities, load_toml
from samples.stamps import compact

LONG = "day at the desk"
WATCH = "night watch"


@dataclass(frozen=True, slots=True)
class DeskCall:
    """One tool call and what the tool answered."""

    tool: str
    arguments: dict[str, Any]
    answer: str


@dataclass(frozen=True, slots=True)
class DeskTurn:
    """A caller's words, the calls they led to, and the reply."""

    user: str
    calls: tuple[DeskCall, ...]
    reply: str


def system_text() -> str:
    """The assistant's rules."""
    return str(load_toml("desk.toml")["system"])


def tools() -> list[dict[str, Any]]:
    """The assistant's tools as OpenAI chat definitions."""
    return [_tool(row) for row in load_toml("desk.toml")["tool"]]


def _tool(row: dict[str, Any]) -> dict[str, Any]:
    pairs = [argument.split(":") for argument in row["arguments"]]
    parameters = {"type": "object", "properties": {name: {"type": kind} for name, kind in pairs}}
    function = {"name": row["name"], "description": row["about"], "parameters": parameters}
    return {"type": "function", "function": function}


def dialog(name: str) -> list[DeskTurn]:
    """One dialog by name."""
    rng = Random(f"desk {name}")
    (found,) = [row for row in load_toml("desk.toml")["dialog"] if row["name"] == name]
    return [_turn(row, rng) for row in found["turn"]]


def short_dialogs() -> list[list[DeskTurn]]:
    """Every dialog that no other sample uses."""
    names = [row["name"] for row in load_toml("desk.toml")["dialog"]]
    return [dialog(name) for name in names if name not in {LONG, WATCH}]


def _turn(row: dict[str, Any], rng: Random) -> DeskTurn:
    calls = tuple(
        DeskCall(call["tool"], call["args"], _answer(call, rng)) for call in row.get("calls", ())
    )
    return DeskTurn(row["user"], calls, row["say"])


def _answer(call: dict[str, Any], rng: Random) -> str:
    if "text" in call:
        return compact(json.loads(call["text"]))
    entity = entities()[call["about"]]
    rows = [{"id": rng.randrange(1, 9999)} | outputs.row(entity, rng) for _ in range(call["lines"])]
    return compact({entity.plural: rows, "more": False})
