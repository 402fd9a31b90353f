"""What a client's records and code hold, as far as it was seen and accepted, and what is new."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from clients.stub import Json
from clients.watched import Watched

_FOLDER = Path(__file__).parent / "recorded"
# Keys that are ids, paths or other values are no fields.
_FIELD = re.compile(r"[$_]?[A-Za-z][A-Za-z_]{0,40}")
Names = Mapping[str, frozenset[str]]


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The fields of each kind of record in a session, and the words of the code, by their source.

    ``version`` is that of the client.
    """

    version: str = ""
    fields: Names = field(default_factory=dict)
    words: Names = field(default_factory=dict)

    def with_fields(self, fields: Names) -> "Vocabulary":
        """Return this with fields that other sessions had: one does not hold all of them."""
        kinds = {*self.fields, *fields}
        none: frozenset[str] = frozenset()
        merged = {kind: self.fields.get(kind, none) | fields.get(kind, none) for kind in kinds}
        return replace(self, fields=merged)


def read_vocabulary(client: str) -> Vocabulary:
    """Return what was accepted of a client; nothing if it was never watched."""
    path = _FOLDER / client / "vocabulary.json"
    if not path.is_file():
        return Vocabulary()
    document = json.loads(path.read_text())
    return Vocabulary(
        version=document["version"],
        fields={kind: frozenset(names.split()) for kind, names in document["fields"].items()},
        words={name: frozenset(words.split()) for name, words in document["words"].items()},
    )


def write_vocabulary(client: str, vocabulary: Vocabulary) -> None:
    """Accept what was seen."""
    document = {
        "version": vocabulary.version,
        "fields": {kind: _joined(vocabulary.fields[kind]) for kind in sorted(vocabulary.fields)},
        "words": {name: _joined(words) for name, words in vocabulary.words.items()},
    }
    path = _FOLDER / client / "vocabulary.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{json.dumps(document, indent=1)}\n")


def _joined(names: Iterable[str]) -> str:
    return " ".join(sorted(names))


def kinds_of(record: Json, watched: Watched) -> Iterator[str]:
    """Yield what a record says it is."""
    for path in watched.kinds:
        value: Any = record
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, str):
            yield value


def fields_in(records: Iterable[Json], watched: Watched) -> Names:
    """Return the fields of each kind of record, with those one step below and types in lists."""
    fields: dict[str, set[str]] = defaultdict(set)
    for record in records:
        fields[" ".join(kinds_of(record, watched)) or "(no kind)"].update(_fields(record, 2))
    return {kind: frozenset(names) for kind, names in fields.items()}


def _fields(value: Json, depth: int, before: str = "") -> Iterator[str]:
    for key, member in value.items():
        if not _FIELD.fullmatch(key):
            continue
        name = f"{before}{key}"
        yield name
        if isinstance(member, dict) and depth > 1:
            yield from _fields(member, depth - 1, f"{name}.")
        elif isinstance(member, list):
            types = (element.get("type") for element in member if isinstance(element, dict))
            yield from (f"{name}:{kind}" for kind in types if isinstance(kind, str))


def table_of(watched: Watched) -> frozenset[str]:
    """Return the names in all tables of record kinds that compactctl has of a client."""
    package = (watched.tables or watched.client.name).replace("-", "_")
    try:
        module = import_module(f"compactctl.clients.{package}.record_kinds")
    except ModuleNotFoundError:
        return frozenset()
    tables = (value for name, value in vars(module).items() if name.isupper())
    return frozenset(
        name for table in tables if isinstance(table, Mapping | frozenset) for name in table
    )


def in_no_table(
    records: Iterable[Json], words: Names, watched: Watched, table: frozenset[str]
) -> Iterator[str]:
    """Say which kinds stand in no table: of records, with the first line, and in the code.

    Without a table there is nothing to say.
    """
    if not table:
        return
    lines: dict[str, int] = {}
    for line, record in enumerate(records, 1):
        for kind in kinds_of(record, watched):
            if kind not in table:
                lines.setdefault(kind, line)
    yield from (f"line {line}: {kind}" for kind, line in lines.items())
    for group in watched.words:
        missing = {word for word in words[group.name] if not {word, _snake(word)} & table}
        if group.in_table and missing:
            yield f"{group.name}: {_joined(missing)}"


def _snake(word: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word).lower()


def changes(accepted: Names, seen: Names, *, gone: bool) -> Iterator[str]:
    """Say what is new under each name and, with ``gone``, what is not there any more."""
    for name in sorted({*accepted, *seen}):
        before, now = accepted.get(name, frozenset()), seen.get(name, frozenset())
        if now - before:
            yield f"{name}: new: {_joined(now - before)}"
        if gone and before - now:
            yield f"{name}: gone: {_joined(before - now)}"
