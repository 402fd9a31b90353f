"""What commands print in the invented project: logs, test runs, rows, statistics."""

import json
import re
from datetime import UTC, datetime, timedelta
from random import Random

from samples.project import Entity, Field, entities

START = datetime(2025, 3, 14, 4, 0, tzinfo=UTC)
LEVELS = ("INFO", "INFO", "INFO", "DEBUG", "DEBUG", "WARNING")
THREADS = ("desk-1", "desk-2", "api-3", "api-4", "gauge", "nightly")
SYLLABLES = ("ost", "wick", "mar", "ven", "kel", "dra", "hol", "sund", "brae", "ness", "vik", "ley")


def value(field: Field, rng: Random) -> object:
    """A plausible value of one column."""
    match field.kind:
        case "int":
            return rng.randrange(int(field.low), int(field.high))
        case "float":
            return round(rng.uniform(float(field.low), float(field.high)), 2)
        case "money":
            return f"{rng.randrange(int(field.high) * 40) / 100:.2f}"
        case "choice":
            return rng.choice(field.choices)
        case "bool":
            return rng.random() < 0.3
        case "time":
            return (START + timedelta(seconds=rng.randrange(90 * 86400))).isoformat()
        case "ref":
            return rng.randrange(1, 4200)
        case _:
            return "".join(rng.choice(SYLLABLES) for _ in range(rng.randrange(2, 4))).upper()


def row(entity: Entity, rng: Random) -> dict[str, object]:
    """One plausible row."""
    return {field.name: value(field, rng) for field in entity.fields}


def log(names: list[str], lines: int, rng: Random) -> str:
    """A piece of the service log about some entities."""
    moment, printed = START + timedelta(seconds=rng.randrange(80000)), []
    for _ in range(lines):
        moment += timedelta(milliseconds=rng.randrange(20, 47000))
        entity = entities()[rng.choice(names)]
        stamp = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        message = rng.choice(entity.events).format(**row(entity, rng))
        request = f"{rng.getrandbits(40):010x}"
        printed.append(
            f"{stamp} {rng.choice(LEVELS):<7} [{rng.choice(THREADS)}] quayside.{entity.name}"
            f" req={request} took={rng.randrange(1, 900)}ms {message}"
        )
    return "\n".join(printed)


def rows_json(name: str, count: int, rng: Random) -> str:
    """The answer of a list request, as the interface prints it."""
    entity = entities()[name]
    rows = [{"id": rng.randrange(1, 9999)} | row(entity, rng) for _ in range(count)]
    return json.dumps({entity.plural: rows, "page": 1, "per_page": count}, indent=1)


def rows_table(name: str, count: int, rng: Random) -> str:
    """The answer of a database query, bars between the columns."""
    entity = entities()[name]
    head = "|".join(["id", *(field.name for field in entity.fields)])
    body = [
        "|".join([str(rng.randrange(1, 9999)), *(str(cell) for cell in row(entity, rng).values())])
        for _ in range(count)
    ]
    return "\n".join([head, *body])


def suite(files: dict[str, str], paths: list[str], failing: dict[str, str], rng: Random) -> str:
    """A verbose test run over some files; ``failing`` maps a test's name to its report."""
    names = [(path, name) for path in paths for name in _tests_in(files[path])]
    lines = [
        f"{' test session starts ':=^80}",
        "platform linux -- Python 3.12.8, pytest-8.3.4, pluggy-1.5.0 -- /home/dev/.venv/bin/python",
        "cachedir: .pytest_cache\nrootdir: /home/dev/quayside\nconfigfile: pyproject.toml",
        f"collecting ... collected {len(names)} items\n",
    ]
    for done, (path, name) in enumerate(names, start=1):
        verdict = "FAILED" if name in failing else "PASSED"
        lines.append(f"{path}::{name} {verdict} [{done * 100 // len(names):3}%]")
    reports = [failing[name] for _, name in names if name in failing]
    if reports:
        lines += [f"\n{' FAILURES ':=^80}", *reports]
    lines.append(_verdict(len(names), len(reports), rng))
    return "\n".join(lines)


def _tests_in(text: str) -> list[str]:
    """Test names of a file, parametrized ones once per value."""
    found = []
    for values, name in re.findall(r"(?:parametrize\(\"\w+\", \[(.*?)\]\)\n)?def (test_\w+)", text):
        cases = [case.strip(" '\"") for case in values.split(",")] if values else []
        found += [f"{name}[{case}]" for case in cases] or [name]
    return found


def _verdict(total: int, failed: int, rng: Random) -> str:
    seconds = f"in {total * 0.013 + rng.uniform(0.1, 0.9):.2f}s"
    passed = f"{total - failed} passed {seconds}"
    return f"======= {failed} failed, {passed} =======" if failed else f"======= {passed} ======="


def timings(count: int, rng: Random) -> str:
    """A profile listing: which function took how long."""
    lines = ["   ncalls  tottime  percall  cumtime  percall filename:lineno(function)"]
    for _ in range(count):
        entity = entities()[rng.choice(list(entities()))]
        layer = rng.choice(("services", "store", "models", "api"))
        verb = rng.choice(("change", "require", "from_row", "with", "as_json", "check"))
        calls, total = rng.randrange(3, 90000), rng.uniform(0.001, 9)
        lines.append(
            f"{calls:9} {total:8.3f} {total / calls:8.6f} {total * rng.uniform(1, 4):8.3f}"
            f" {total / calls * 2:8.6f} quayside/{layer}/{entity.name}.py:{rng.randrange(9, 170)}"
            f"({verb}_{rng.choice(entity.fields).name})"
        )
    return "\n".join(lines)


def history(count: int, rng: Random) -> str:
    """One line per commit, newest first."""
    verbs = ("Refuse", "Explain", "Speed up", "Test", "Rename", "Correct", "Document", "Split")
    lines = []
    for _ in range(count):
        entity = entities()[rng.choice(list(entities()))]
        rule, field = rng.choice(entity.rules), rng.choice(entity.fields)
        subject = rng.choice(
            (f"{field.name} of {entity.plural}", f"the rule {rule.name}", f"{entity.name} letters")
        )
        lines.append(f"{rng.getrandbits(28):07x} {rng.choice(verbs)} {subject}")
    return "\n".join(lines)
