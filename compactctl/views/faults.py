"""What the provider or the client refuses: the places and reasons, and what was repaired."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from compactctl.history.faults import Fault
from compactctl.views.terminal.tables import Table, table, text
from compactctl.views.terminal.text import one_line, plural

# Places that are listed for one rule.
_MAX_PLACES = 8


def refused(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return the faults that the client does not fix by itself."""
    return tuple(fault for fault in faults if fault.is_refused)


def verdict(faults: Sequence[Fault]) -> str:
    """Return what will happen: "will be refused: 2 faults in 3 records"."""
    rules = {fault.rule.id for fault in faults}
    records = {(fault.line, fault.message) for fault in faults}
    return f"will be refused: {plural(len(rules), 'fault')} in {plural(len(records), 'record')}"


def fault_table(faults: Sequence[Fault]) -> Table:
    """Return a row for each fault: its place, what is wrong, the rule."""
    columns = (text("Place"), text("Fault"), text("Rule"))
    rows = ((place_text(fault), one_line(fault.text), fault.rule.id) for fault in faults)
    return table(columns, rows)


def place_text(fault: Fault) -> str:
    """Return where a fault is: its line, or the place in a document of one line.

    ``line 1,204`` or ``messages.3.content.0``
    """
    if fault.path and _is_in_document(fault):
        return ".".join(map(str, fault.path))
    return f"line {fault.line + 1:,}"


def _is_in_document(fault: Fault) -> bool:
    return len(fault.path) > 1 and isinstance(fault.path[1], int)


def repaired_lines(
    faults: Sequence[Fault], remaining: Sequence[Fault]
) -> Iterator[tuple[str, str]]:
    """Yield the places of each kind of fault that was repaired, and what was done."""
    for rule, places in _by_rule(repaired_faults(faults, remaining)).items():
        named = places[0].rule.repaired
        yield _places_text(places), named or rule


def repaired_faults(faults: Iterable[Fault], remaining: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return the faults that are gone; of each rule, as many of the last ones may remain."""
    n_remaining = Counter(fault.rule.id for fault in remaining)
    gone: list[Fault] = []
    for fault in reversed(tuple(faults)):
        if n_remaining[fault.rule.id]:
            n_remaining[fault.rule.id] -= 1
        else:
            gone.append(fault)
    return tuple(reversed(gone))


def _by_rule(faults: Iterable[Fault]) -> dict[str, list[Fault]]:
    groups: dict[str, list[Fault]] = {}
    for fault in faults:
        groups.setdefault(fault.rule.id, []).append(fault)
    return groups


def _places_text(faults: Sequence[Fault]) -> str:
    """Return the places of faults: "lines 88, 91"."""
    places = tuple(dict.fromkeys(map(place_text, faults)))
    if len(places) == 1:
        return places[0]
    if all(place.startswith("line ") for place in places):
        numbers = [place.removeprefix("line ") for place in places[:_MAX_PLACES]]
        more = len(places) - len(numbers)
        return f"lines {', '.join(numbers)}{f' and {more:,} more' if more else ''}"
    more = len(places) - 1
    return f"{places[0]} and {more:,} more"


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
        }
        for fault in faults
    ]
