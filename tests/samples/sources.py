"""Model, store and migration files of the invented project, drawn from its entities."""

import re
from random import Random

from samples.project import Entity, Field, Rule

# Names in a condition that its row does not have: the method takes them as parameters.
OUTSIDE = re.compile(r"(?<![\w.])(?:other|now|previous|length_m|moment)\b")

PYTHON = {
    "int": "int",
    "float": "float",
    "money": "Decimal",
    "text": "str",
    "choice": "str",
    "bool": "bool",
    "time": "datetime",
    "ref": "int",
}
SQL = {"int": "INTEGER", "float": "REAL", "bool": "INTEGER", "ref": "INTEGER"}
RANGE_CHECKS = (
    "if not {low} <= self.{name} <= {high}:",
    "if self.{name} < {low} or self.{name} > {high}:",
)
COMPLAINTS = (
    "{name} must lie between {low} and {high}",
    "{name} outside {low}..{high}",
    "a {entity} cannot have {name} outside {low} to {high}",
)


def model(entity: Entity) -> str:
    """The dataclass with its checks, its rules and its two row mappings."""
    rng = Random(f"model {entity.name}")
    parts = [
        f'"""{entity.what}"""\n',
        "from __future__ import annotations\n",
        "from dataclasses import dataclass, replace\nfrom datetime import UTC, datetime, timedelta",
        "from decimal import Decimal\nfrom typing import Any, Self\n",
        "from quayside.errors import RuleViolation\n",
        *[_constant(entity, field) for field in entity.of_kind("choice")],
        f"\n\n@dataclass(frozen=True, slots=True)\nclass {entity.title}:",
        f'    """{entity.what}"""\n',
        *[f"    {field.name}: {PYTHON[field.kind]}  # {field.meaning}" for field in entity.fields],
        "\n    def __post_init__(self) -> None:",
        *[_check(entity, field, rng) for field in entity.of_kind("int", "float", "money")],
        *[_text_check(field) for field in entity.of_kind("text")],
        *[_choice_check(field) for field in entity.of_kind("choice")],
        *[_aware_check(field) for field in entity.of_kind("time")],
        *[_property(rule) for rule in entity.rules],
        _mappings(entity),
    ]
    return "\n".join(parts) + "\n"


def _constant(entity: Entity, field: Field) -> str:
    members = ", ".join(f'"{choice}"' for choice in field.choices)
    return f"{entity.name.upper()}_{field.name.upper()} = ({members})"


def _check(entity: Entity, field: Field, rng: Random) -> str:
    wrap = 'Decimal("{}")'.format if field.kind == "money" else str
    test = rng.choice(RANGE_CHECKS).format(
        name=field.name, low=wrap(field.low), high=wrap(field.high)
    )
    complaint = rng.choice(COMPLAINTS).format(
        name=field.name, entity=entity.name, low=field.low, high=field.high
    )
    return f'        {test}\n            raise RuleViolation(f"{complaint}: {{self.{field.name}}}")'


def _text_check(field: Field) -> str:
    return (
        f"        if not {field.low} <= len(self.{field.name}.strip()) <= {field.high}:\n"
        f'            raise RuleViolation(f"{field.name} has bad length: {{self.{field.name}}}")'
    )


def _choice_check(field: Field) -> str:
    names = ", ".join(field.choices)
    return (
        f"        if self.{field.name} not in {set_text(field)}:\n"
        f'            raise RuleViolation("{field.name} is one of: {names}")'
    )


def set_text(field: Field) -> str:
    """A set literal of a field's choices, in their order."""
    return "{" + ", ".join(f'"{choice}"' for choice in field.choices) + "}"


def _aware_check(field: Field) -> str:
    return (
        f"        if self.{field.name}.tzinfo is None:\n"
        f'            raise RuleViolation("{field.name} needs a time zone ({field.meaning})")'
    )


def _property(rule: Rule) -> str:
    kind = "bool" if rule.name.startswith(("is_", "needs_", "has_", "takes_")) else "object"
    given = sorted(set(OUTSIDE.findall(rule.condition)))
    head = "    def " if given else "    @property\n    def "
    return (
        f"\n{head}{rule.name}({', '.join(['self', *given])}) -> {kind}:\n"
        f'        """{rule.sentence}"""\n        return {rule.condition}'
    )


def _mappings(entity: Entity) -> str:
    reads = "\n".join(f"            {field.name}={_read(field)}," for field in entity.fields)
    writes = "\n".join(f'            "{field.name}": {_write(field)},' for field in entity.fields)
    return (
        "\n    @classmethod\n    def from_row(cls, row: dict[str, Any]) -> Self:\n"
        f'        """Build a {entity.name} from a database row."""\n'
        f"        return cls(\n{reads}\n        )\n"
        "\n    def to_row(self) -> dict[str, Any]:\n"
        f'        """The row that stores this {entity.name}."""\n'
        f"        return {{\n{writes}\n        }}\n"
        "\n    def but(self, **changes: Any) -> Self:\n"
        f'        """A copy of the {entity.name} with some columns changed, checked again."""\n'
        "        return replace(self, **changes)"
    )


def _read(field: Field) -> str:
    cell = f'row["{field.name}"]'
    wraps = {"money": "Decimal({})", "bool": "bool({})", "time": "datetime.fromisoformat({})"}
    return wraps.get(field.kind, "{}").format(cell)


def _write(field: Field) -> str:
    value = f"self.{field.name}"
    wraps = {"money": "str({})", "bool": "int({})", "time": "{}.astimezone(UTC).isoformat()"}
    return wraps.get(field.kind, "{}").format(value)


def store(entity: Entity) -> str:
    """The repository class: plain SQL over one table."""
    columns = ", ".join(field.name for field in entity.fields)
    slots = ", ".join(f":{field.name}" for field in entity.fields)
    name, plural, title = entity.name, entity.plural, entity.title
    finders = "\n".join(_finder(entity, field) for field in entity.of_kind("choice", "ref", "text"))
    spans = "\n".join(_span(entity, field) for field in entity.of_kind("time"))
    return f'''"""Rows of the table ``{plural}``."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import datetime

from quayside.errors import Conflict, NotFound
from quayside.models.{name} import {title}

COLUMNS = "{columns}"


class {title}Store:
    """Reads and writes {plural}; the caller owns the connection and the transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def add(self, {name}: {title}) -> int:
        """Insert one {name} and return its id."""
        sql = f"INSERT INTO {plural} ({{COLUMNS}}) VALUES ({slots})"
        return int(self._db.execute(sql, {name}.to_row()).lastrowid or 0)

    def get(self, row_id: int) -> {title}:
        """The {name} with that id; NotFound when there is none."""
        sql = f"SELECT {{COLUMNS}} FROM {plural} WHERE id = ?"
        row = self._db.execute(sql, (row_id,)).fetchone()
        if row is None:
            raise NotFound(f"no {name} with id {{row_id}}")
        return {title}.from_row(dict(row))
{_save(entity)}{finders}{spans}
    def count(self) -> int:
        """How many {plural} there are."""
        return int(self._db.execute("SELECT count(*) FROM {plural}").fetchone()[0])
'''  # noqa: S608  # text of an invented file, nobody runs it


def _save(entity: Entity) -> str:
    name, title = entity.name, entity.title
    assigns = ", ".join(f"{field.name} = :{field.name}" for field in entity.fields)
    return f'''
    def save(self, row_id: int, {name}: {title}, version: int) -> int:
        """Overwrite one {name}; Conflict when its version is not the expected one."""
        values = {name}.to_row() | {{"id": row_id, "version": version}}
        done = self._db.execute(
            "UPDATE {entity.plural} SET {assigns}, version = version + 1"
            " WHERE id = :id AND version = :version",
            values,
        )
        if done.rowcount != 1:
            raise Conflict(f"{name} {{row_id}} is no longer at version {{version}}")
        return version + 1
'''  # noqa: S608  # text of an invented file, nobody runs it


def _finder(entity: Entity, field: Field) -> str:
    return f'''
    def with_{field.name}(self, {field.name}: {PYTHON[field.kind]}) -> Iterator[{entity.title}]:
        """Every {entity.name} whose {field.name} is the given one: {field.meaning}."""
        sql = f"SELECT {{COLUMNS}} FROM {entity.plural} WHERE {field.name} = ? ORDER BY id"
        for row in self._db.execute(sql, ({field.name},)):
            yield {entity.title}.from_row(dict(row))
'''  # noqa: S608  # text of an invented file, nobody runs it


def _span(entity: Entity, field: Field) -> str:
    return f'''
    def {field.name}_between(self, first: datetime, last: datetime) -> Iterator[{entity.title}]:
        """{entity.plural.capitalize()} by {field.name} ({field.meaning}), both ends included."""
        sql = (
            f"SELECT {{COLUMNS}} FROM {entity.plural}"
            " WHERE {field.name} BETWEEN ? AND ? ORDER BY {field.name}, id"
        )
        for row in self._db.execute(sql, (first.isoformat(), last.isoformat())):
            yield {entity.title}.from_row(dict(row))
'''  # noqa: S608  # text of an invented file, nobody runs it


def migration(entity: Entity) -> str:
    """The SQL that created the table, long ago."""
    columns = ",\n".join(
        f"    {field.name:<16} {SQL.get(field.kind, 'TEXT')} NOT NULL -- {field.meaning}"
        for field in entity.fields
    )
    indexes = "\n".join(
        f"CREATE INDEX {entity.plural}_{field.name} ON {entity.plural} ({field.name});"
        for field in entity.of_kind("time", "ref")
    )
    return (
        f"-- {entity.what}\nCREATE TABLE {entity.plural} (\n    id INTEGER PRIMARY KEY,\n"
        f"    version INTEGER NOT NULL DEFAULT 1,\n{columns}\n);\n{indexes}\n"
    )
