"""Service, route, test and handbook files of the invented project."""

from random import Random

from samples.project import Entity, Field, Rule
from samples.sources import OUTSIDE

GUARDS = (
    "The desk sees this sentence, so it is the rule and not its name.",
    "Called before every write; reading never fails because of a rule.",
    "Kept apart from the model, because old rows may break newer rules.",
    "The caller decides whether to ask the duty officer for an exception.",
)
REASONS = (
    "was brought up by the pilots in the autumn meeting",
    "follows from the harbour regulations, part two",
    "has been in force since the new lock gate",
    "is older than the service and was copied from the paper form",
    "was added after the winter storms",
    "differs from the neighbour harbour on purpose",
)


def service(entity: Entity) -> str:
    """The class that changes rows: one method per column and one guard per rule."""
    rng = Random(f"service {entity.name}")
    name, title = entity.name, entity.title
    setters = "".join(_setter(entity, field, rng) for field in entity.fields)
    guards = "".join(_guard(entity, rule, rng) for rule in entity.rules)
    return f'''"""What the desk does with {entity.plural}."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from decimal import Decimal

from quayside.errors import Conflict, RuleViolation
from quayside.models.{name} import {title}
from quayside.services.audit import Audit
from quayside.store.{name}_store import {title}Store

log = logging.getLogger("quayside.{name}")


class {title}Service:
    """{entity.what}

    Every change is checked against the rules, written in one transaction and noted
    in the audit trail under the name of the person at the desk.
    """

    def __init__(self, store: {title}Store, audit: Audit) -> None:
        self._store = store
        self._audit = audit

    def create(self, {name}: {title}, person: str) -> int:
        """Store a new {name}; its rules are checked first."""
        self._check({name})
        row_id = self._store.add({name})
        self._audit.note(person, "created", "{name}", row_id)
        log.info("{entity.events[0]}", extra={name}.to_row())
        return row_id
{setters}{guards}'''


def _setter(entity: Entity, field: Field, rng: Random) -> str:
    name, event = entity.name, rng.choice(entity.events)
    return f'''
    def change_{field.name}(self, row_id: int, version: int, value: object, person: str) -> int:
        """Change {field.name} ({field.meaning}) and return the new version."""
        before = self._store.get(row_id)
        after = before.but({field.name}=value)
        if after == before:
            log.debug("{name} %d: {field.name} already is %r", row_id, value)
            return version
        self._check(after)
        version = self._store.save(row_id, after, version)
        old = before.{field.name}
        self._audit.note(person, "changed {field.name}", "{name}", row_id, old, value)
        log.info("{event}", extra=after.to_row())
        return version
'''


def _guard(entity: Entity, rule: Rule, rng: Random) -> str:
    given = sorted(set(OUTSIDE.findall(rule.condition)))
    parameters = "".join(f", {name}: object" for name in given)
    call = f"({', '.join(given)})" if given else ""
    return f'''
    def require_{rule.name}(self, {entity.name}: {entity.title}{parameters}) -> None:
        """{rule.sentence}

        {rng.choice(GUARDS)} It {rng.choice(REASONS)}.
        """
        if not {entity.name}.{rule.name}{call}:
            log.warning("{entity.name} refused by rule {rule.name}")
            raise RuleViolation("{rule.sentence}")
'''


def routes(entity: Entity) -> str:
    """The HTTP surface: list, read, create and change."""
    name, plural, title = entity.name, entity.plural, entity.title
    params = "".join(_parameter(field) for field in entity.fields)
    body = "".join(f'        "{f.name}": row.{f.name},\n' for f in entity.fields)
    rules = "".join(f'        "{r.name}": row.{r.name},\n' for r in entity.rules)
    return f'''"""HTTP interface of {plural}. Field names are a promise to the ship agents."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from http import HTTPStatus

from quayside.api.reply import Reply, problem
from quayside.errors import Conflict, NotFound, RuleViolation
from quayside.models.{name} import {title}
from quayside.services.{name}_service import {title}Service


def list_{plural}(service: {title}Service, query: Mapping[str, str]) -> Reply:
    """GET /v2/{plural}: filters are joined with and, unknown ones are refused."""
    filters: dict[str, object] = {{}}
{params}    unknown = sorted(set(query) - set(filters) - {{"page", "per_page"}})
    if unknown:
        return problem(HTTPStatus.BAD_REQUEST, f"unknown filters: {{', '.join(unknown)}}")
    rows = service.search(filters, page=int(query.get("page", "1")))
    return Reply(HTTPStatus.OK, {{"{plural}": [as_json(row) for row in rows]}})


def read_{name}(service: {title}Service, row_id: int) -> Reply:
    """GET /v2/{plural}/<id>"""
    try:
        return Reply(HTTPStatus.OK, as_json(service.get(row_id)))
    except NotFound as error:
        return problem(HTTPStatus.NOT_FOUND, str(error))
{_change_route(entity)}

def as_json(row: {title}) -> dict[str, object]:
    """The public form of a {name}."""
    return {{
{body}{rules}    }}
'''


def _change_route(entity: Entity) -> str:
    name, plural, title = entity.name, entity.plural, entity.title
    return f'''

def change_{name}(service: {title}Service, row_id: int, body: Mapping[str, object]) -> Reply:
    """PATCH /v2/{plural}/<id>: one column per request, with the version that was read."""
    try:
        version = service.change(row_id, body)
    except RuleViolation as error:
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, str(error))
    except Conflict as error:
        return problem(HTTPStatus.CONFLICT, str(error))
    return Reply(HTTPStatus.OK, {{"version": version}})
'''


def _parameter(field: Field) -> str:
    parse = {
        "int": "int(given)",
        "ref": "int(given)",
        "float": "float(given)",
        "money": "Decimal(given)",
        "bool": 'given == "true"',
        "time": "datetime.fromisoformat(given)",
    }.get(field.kind, "given")
    return (
        f'    if (given := query.get("{field.name}")) is not None:\n'
        f'        filters["{field.name}"] = {parse}\n'
    )


def tests(entity: Entity) -> str:
    """The test file: bounds of every column, both sides of every rule."""
    name, title = entity.name, entity.title
    bounds = "".join(_bound_test(entity, f) for f in entity.of_kind("int", "float", "money"))
    choices = "".join(_choice_test(entity, f) for f in entity.of_kind("choice"))
    rules = "".join(_rule_test(entity, rule) for rule in entity.rules)
    return f'''"""Rules and bounds of {entity.plural}."""

from __future__ import annotations

from decimal import Decimal

import pytest

from quayside.errors import RuleViolation
from quayside.models.{name} import {title}
from tests.builders import a_{name}
{bounds}{choices}{rules}'''


def _bound_test(entity: Entity, field: Field) -> str:
    return f"""

@pytest.mark.parametrize("value", ["{field.low}", "{field.high}"])
def test_{field.name}_may_reach_its_bounds(value: str) -> None:
    assert str(a_{entity.name}({field.name}=value).{field.name}) == value


def test_{field.name}_beyond_{field.high.replace(".", "_")}_is_refused() -> None:
    with pytest.raises(RuleViolation, match="{field.name}"):
        a_{entity.name}({field.name}=float("{field.high}") + 1)
"""


def _choice_test(entity: Entity, field: Field) -> str:
    return f"""

@pytest.mark.parametrize("value", {field.choices!r})
def test_{field.name}_takes_every_known_value(value: str) -> None:
    assert a_{entity.name}({field.name}=value).{field.name} == value
"""


def _rule_test(entity: Entity, rule: Rule) -> str:
    return f'''

def test_{rule.name}_is_decided_by_the_row_alone() -> None:
    """{rule.sentence}"""
    first, second = a_{entity.name}(), a_{entity.name}()
    assert first.{rule.name} == second.{rule.name}
'''


def handbook(entity: Entity) -> str:
    """The page of the handbook that the people at the desk read."""
    rng = Random(f"handbook {entity.name}")
    rows = "\n".join(
        f"| `{field.name}` | {field.kind} | {field.low or '-'} | {field.high or '-'} "
        f"| {field.meaning} |"
        for field in entity.fields
    )
    rules = "\n\n".join(
        f"**{rule.name.replace('_', ' ')}**: {rule.sentence} The rule {rng.choice(REASONS)};"
        f" in the code it is `{rule.condition}`."
        for rule in entity.rules
    )
    return (
        f"# {entity.plural.capitalize()}\n\n{entity.what}\n\n## Columns\n\n"
        f"| column | kind | low | high | meaning |\n|---|---|---|---|---|\n{rows}\n\n"
        f"## Rules\n\n{rules}\n"
    )
