"""What the provider or the client refuses: the places and reasons, and what was repaired."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any

from compactctl.history.error_subject import ErrorSubject
from compactctl.history.faults import Fault
from compactctl.model.refusal_rule import UNKNOWN
from compactctl.store.files.source import STANDARD_STREAM
from compactctl.views.islands import island_document
from compactctl.views.terminal.tables import Table, table, text
from compactctl.views.terminal.text import one_line, plural, shell_path

# Places that are listed for one rule.
_MAX_PLACES = 8
# Of one rule, in the table.
_MAX_ROWS = 10
# A path to a message of a list begins with its index, or with the name of the list.
_LIST_DEPTH = 2


def verdict(faults: Sequence[Fault]) -> str:
    """Return what will happen: "will be refused: 2 faults in 3 records"."""
    rules = {fault.rule.id for fault in faults}
    records = {(fault.line, fault.message) for fault in faults}
    is_only_cut = all(fault.record is not None and not fault.record.is_fatal for fault in faults)
    what = "will lose history" if is_only_cut else "will be refused"
    return f"{what}: {plural(len(rules), 'fault')} in {plural(len(records), 'record')}"


def fault_table(faults: Sequence[Fault]) -> Table:
    """Return rows of faults: place, rule, what is wrong; of many of one rule, the first ones."""
    columns = (text("Place"), text("Rule"), text("Fault", "wrap", min_width=20))
    return table(columns, _table_rows(faults))


def _table_rows(faults: Sequence[Fault]) -> Iterator[tuple[str, str, str]]:
    for rule, group in _by_rule(faults).items():
        for fault in group[:_MAX_ROWS]:
            yield place_text(fault), rule, one_line(fault.text)
        if len(group) > _MAX_ROWS:
            yield f"{len(group) - _MAX_ROWS:,} more", rule, "listed by --json"


def place_text(fault: Fault) -> str:
    """Return where a fault is: its line, and its place in a line that holds several messages.

    ``line 1,204``, ``line 3, messages.3.content.0`` or, in a document, ``messages.3.content.0``
    """
    line = f"line {fault.line + 1:,}"
    if not any(isinstance(step, int) for step in fault.path[:_LIST_DEPTH]):
        return line
    depth = max(n for n, step in enumerate(fault.path) if isinstance(step, int))
    place = ".".join(map(str, fault.path[: depth + 1]))
    return place if fault.is_in_document else f"{line}, {place}"


def advice_text(fault: Fault, path: str) -> str:
    """Return what the user can do about a fault of a file, with its name to type; "" for none."""
    name = "FILE" if path == STANDARD_STREAM else shell_path(path)
    return fault.rule.advice.replace("FILE", name)


def subject_text(subject: ErrorSubject) -> str:
    """Return what an error is about: "the error is about line 1,204: image over 5 MB"."""
    if subject.faults:
        what = one_line(subject.faults[0].text)
        return f"the error is about {_places_text(subject.faults)}: {what}"
    if subject.place is not None:
        where = place_text(subject.place)
        rule = "a rule" if subject.rule is UNKNOWN else f"the rule {subject.rule.id}"
        return f"the error is about {where}, where nothing breaks {rule}"
    return f"nothing in the transcript breaks the rule of the error ({subject.rule.id})"


def subject_document(subject: ErrorSubject | None) -> dict[str, Any] | None:
    """Return what an error is about as a JSON object; None without an error."""
    if subject is None:
        return None
    first = next(filter(None, (*subject.faults, subject.place)), None)
    return {
        "rule": subject.rule.id,
        "line": None if first is None else first.line + 1,
        "path": None if first is None else list(first.path),
        "faults": fault_rows(subject.faults),
    }


def repaired_lines(
    faults: Sequence[Fault], remaining: Sequence[Fault]
) -> Iterator[tuple[str, str]]:
    """Yield the places of each kind of fault that was repaired, and what was done."""
    for rule, places in _by_rule(repaired_faults(faults, remaining)).items():
        named = places[0].rule.repaired
        yield _places_text(places), named or rule


def repaired_faults(faults: Iterable[Fault], remaining: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return the faults that are gone; of each rule, as many of the last ones may remain.

    What is only offered to the user is none.
    """
    gone = _divided(faults, remaining)[0]
    return tuple(fault for fault in gone if fault.rule.certain or fault.rule.repaired)


def unrepaired_faults(faults: Iterable[Fault], remaining: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return the faults that remain, at their places before the repair, and those that are new."""
    stay, new = _divided(faults, remaining)[1:]
    return *stay, *new


def _divided(faults: Iterable[Fault], remaining: Iterable[Fault]) -> tuple[tuple[Fault, ...], ...]:
    """Return the faults that are gone, that remain, and that are new.

    Of a rule, those remain that are in the same messages, then the last ones.
    """
    before, new = list(faults), list(remaining)
    stay = [*_taken(before, new, _message_of), *_taken(before, new, lambda fault: fault.rule.id)]
    return tuple(before), tuple(sorted(stay, key=lambda fault: fault.line)), tuple(new)


def _message_of(fault: Fault) -> Hashable:
    return (fault.rule.id, fault.message) if fault.message else None


def _taken(
    before: list[Fault], after: list[Fault], key: Callable[[Fault], Hashable]
) -> Iterator[Fault]:
    """Take the faults out of both lists that have the same key, and yield those before."""
    for fault in reversed(before[:]):
        name = key(fault)
        other = next((other for other in after if name is not None and key(other) == name), None)
        if other is not None:
            before.remove(fault)
            after.remove(other)
            yield fault


def _by_rule(faults: Iterable[Fault]) -> dict[str, list[Fault]]:
    groups: dict[str, list[Fault]] = {}
    for fault in faults:
        groups.setdefault(fault.rule.id, []).append(fault)
    return groups


def _places_text(faults: Sequence[Fault]) -> str:
    """Return the places of faults: "lines 88, 91"."""
    places = tuple(dict.fromkeys(map(place_text, faults)))
    lines = tuple(dict.fromkeys(fault.line for fault in faults))
    if len(lines) == 1:
        more = len(places) - 1
        return f"{places[0]}{f' and {more:,} more' if more else ''}"
    numbers = [f"{line + 1:,}" for line in lines[:_MAX_PLACES]]
    more = len(lines) - len(numbers)
    return f"lines {', '.join(numbers)}{f' and {more:,} more' if more else ''}"


def fault_rows(faults: Iterable[Fault]) -> list[dict[str, Any]]:
    """Return the faults as JSON objects."""
    return [
        {
            "rule": fault.rule.id,
            "line": fault.line + 1,
            "messageId": fault.message,
            "path": list(fault.path),
            "who": fault.who,
            "text": fault.text,
            "sentence": next(iter(fault.rule.sentences), None),
            "limit": fault.limit or None,
            "actual": fault.actual or None,
            "fixedByClientSince": fault.fixed_since,
            "repair": fault.rule.repaired or None,
            "certain": fault.rule.certain,
            "island": None if fault.island is None else island_document(fault.island),
        }
        for fault in faults
    ]
