"""Errands in the invented project: short turns for sessions that have to hold much in few bytes."""

from random import Random
from typing import Any

from samples.project import Entity, Field, entities
from samples.story import Step, Turn

# Lines of a file, and of a log, that one call prints.
_READ, _LOGGED = 26, 9
_ASKED = (
    "The desk says that `{field}` of a {name} is off by one. Find out why, and leave migrations/.",
    "Explain `{field}` ({meaning}) in the comment beside it. Keep every line below 100 characters.",
    "A caller sends {plural} whose `{field}` is missing. Refuse them with a clear message, please.",
    "Look at how {plural} are read: the list takes four seconds. I do not want a cache.",
    "Please make the rule {rule} say which {name} it is about. The wording is: {sentence}",
)
_FOUND = (
    "`{field}` is compared before it is rounded, in the model alone; routes and store are right.",
    "Each of the {plural} is read twice, once for the check and once for the answer.",
    "The tests knew of it: one of them has failed since `{field}` may be empty.",
)


def errands(name: str, count: int, *, pictures: bool = True) -> list[Turn]:
    """Return so many turns, others for each name.

    Among them are parallel calls, calls that fail, files that are read again unchanged, thinking
    that is shown or hidden, and with ``pictures`` prompts that come with one.
    """
    rng = Random(f"errands {name}")
    chosen = rng.sample(list(entities().values()), count)
    return [
        _errand(entity, number, rng, image=pictures and number % 4 == 1)
        for number, entity in enumerate(chosen)
    ]


def _errand(entity: Entity, number: int, rng: Random, *, image: bool) -> Turn:
    field, rule = rng.choice(entity.fields), rng.choice(entity.rules)
    words = {"field": field.name, "meaning": field.meaning, "name": entity.name,
             "plural": entity.plural, "rule": rule.name, "sentence": rule.sentence}  # fmt: skip
    asked = _ASKED[number % len(_ASKED)].format(**words)
    found = _FOUND[number % len(_FOUND)].format(**words)
    steps = (
        Step("", f"I look at {entity.plural} first.", (_read(entity), _search(entity, field))),
        Step(f"The rule {rule.name} reads {field.name}; who calls it?", "", (_log(entity),)),
        *(_corrected(entity, field) if number % 2 else _looked_at_again(entity)),
        Step(None, f"{found} I changed nothing else; `tests/test_{entity.name}.py` passes.", ()),
    )
    return Turn(asked, rng.choice((1, 3, 9)), image, (), steps)


def _corrected(entity: Entity, field: Field) -> tuple[Step, ...]:
    """Return an edit that fails, one that does not, and a run of the tests."""
    path, comment = f"quayside/models/{entity.name}.py", f"  # {field.meaning}"
    missing = {"do": "edit", "path": path, "old": f"{field.name} = None", "new": "pass"}
    change = {"do": "edit", "path": path, "old": comment, "new": f"{comment} (never empty)"}
    return (
        Step(None, "", (missing,)),
        Step(f"The comment beside {field.name} is the place.", "", (change, _written(entity))),
        Step(None, "Now the tests.", (_run_tests(entity, field),)),
    )


def _written(entity: Entity) -> dict[str, Any]:
    """Return a new file, with more in it than any other argument has."""
    cases = "\n".join(
        f"def test_{rule.name}_{column.name}() -> None:\n    assert {rule.condition}  # {number}"
        for rule in entity.rules
        for number, column in enumerate(entity.fields)
    )
    return {"do": "write", "path": f"tests/cases_{entity.name}.py", "text": f"{cases}\n"}


def _looked_at_again(entity: Entity) -> tuple[Step, ...]:
    """Return a read of what was read before, beside a file that is not there."""
    missing = {"do": "read", "path": f"quayside/legacy/{entity.name}.py"}
    return (Step(None, "Once more, with what was there before.", (_read(entity), missing)),)


def _read(entity: Entity) -> dict[str, Any]:
    return {"do": "read", "path": f"quayside/models/{entity.name}.py", "limit": _READ}


def _search(entity: Entity, field: Field) -> dict[str, Any]:
    path = f"quayside/services/{entity.name}_service.py"
    return {"do": "search", "pattern": rf"\b{field.name}\b", "path": path}


def _log(entity: Entity) -> dict[str, Any]:
    command = f"tail -n {_LOGGED} var/log/{entity.name}.log"
    return {"do": "run", "command": command, "prints": "log", "about": [entity.name],
            "lines": _LOGGED, "why": "See what was logged"}  # fmt: skip


def _run_tests(entity: Entity, field: Field) -> dict[str, Any]:
    path = f"tests/test_{entity.name}.py"
    failing = {f"test_{field.name}_may_be_empty": "E   RuleViolation"}
    return {"do": "run", "command": f"python -m pytest -q {path}", "prints": "tests",
            "paths": path, "failing": failing, "why": "Run the tests"}  # fmt: skip
