"""What a conversation says about the state of the work, and where it says so."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compactctl.summaries.extract.command_lines import is_read_only
from compactctl.summaries.extract.items import one_line
from compactctl.summaries.extract.outcomes import (
    COMMAND,
    error_lines,
    exit_code,
    has_failed,
    is_check,
    last_line,
)
from compactctl.summaries.extract.passages import Passage, PassageKind, ToolPair
from compactctl.summaries.extract.sentences import OPERATOR, USER

# Worths were chosen on sessions of two projects and tried on others.
_ERROR, _OLD_ERROR = 3.0, 1.2
_COMMAND, _OLD_COMMAND = 2.5, 0.9
_OUTCOME = 1.25
# Of the errors and the commands that check, this many of the newest are worth the most.
_NEWEST_ERRORS = 3
_NEWEST_CHECKS = 6
# Model calls after which half of what freshness adds is gone.
_HALF_LIFE = 20


@dataclass(frozen=True, slots=True)
class StateFact:
    """Something worth telling once; ``value`` is in demands for an entity that is needed."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class LineIndex:
    """A line of a passage, both counted from 0; line -1 is its heading."""

    passage: int
    line: int


HEADING = -1
# Who speaks in a passage that is of no tool.
_SPEAKERS: Mapping[PassageKind, str] = {
    "request": USER,
    "instruction": OPERATOR,
    "reply": "agent",
    "summary": "earlier summary",
    "reminder": "note",
}
# A line without one is a brace or a rule.
_WORD = re.compile(r"\w")


def freshness(age: int) -> float:
    """Return how fresh something is, from 1 down to 0; ``age`` is in model calls."""
    return 1 / (1 + age / _HALF_LIFE)


def facts_by_line(found: Sequence[Passage]) -> dict[LineIndex, list[StateFact]]:
    """Return what passages tell about errors, commands and their outcomes."""
    told: dict[LineIndex, list[StateFact]] = {}
    results = {id(p.pair): n for n, p in enumerate(found) if p.kind == "result" and p.pair}
    for place, fact in (*_errors(found, results), *_commands(found, results)):
        told.setdefault(place, []).append(fact)
    return told


def _errors(
    found: Sequence[Passage], results: dict[int, int]
) -> Iterator[tuple[LineIndex, StateFact]]:
    """Yield the first telling line of every failure; of equal lines the newest."""
    newest: dict[str, int] = {}
    for passage in found:
        lines = error_lines(passage.pair) if passage.kind == "call" and passage.pair else []
        result = results.get(id(passage.pair))
        if lines and result is not None:
            newest[lines[0]] = result
    for count, (line, index) in enumerate(newest.items()):
        is_main = count == 0 or count >= len(newest) - _NEWEST_ERRORS
        worth = _ERROR if is_main else _OLD_ERROR * freshness(found[index].age)
        row = _row_of(found[index].text, line)
        if row is not None:
            yield LineIndex(index, row), StateFact(f"error {line}", worth)


def _commands(
    found: Sequence[Passage], results: dict[int, int]
) -> Iterator[tuple[LineIndex, StateFact]]:
    """Yield the newest run of every command that did something, and how it ended."""
    newest: dict[str, int] = {}
    for index, passage in enumerate(found):
        if passage.kind == "call" and passage.pair and _is_action(passage.pair):
            newest[one_line(passage.pair.command or "", COMMAND)] = index
    checking = [command for command in newest if is_check(command)]
    main = set(sorted(checking, key=lambda command: newest[command])[-_NEWEST_CHECKS:])
    for command, index in newest.items():
        passage = found[index]
        old = _OLD_COMMAND * freshness(passage.age)
        fact = StateFact(f"command {command}", _COMMAND if command in main else old)
        yield LineIndex(index, HEADING), fact
        result = results.get(id(passage.pair))
        row = None if result is None else _last_row(found[result])
        if result is not None and row is not None:
            worth = _OUTCOME * freshness(passage.age)
            yield LineIndex(result, row), StateFact(f"outcome {command}", worth)


def _is_action(pair: ToolPair) -> bool:
    return pair.command is not None and not is_read_only(pair.command)


def _last_row(result: Passage) -> int | None:
    line = last_line(result.pair) if result.pair else ""
    return _row_of(result.text, line) if _WORD.search(line) else None


def _row_of(text: str, line: str) -> int | None:
    """Return the last row that is, or begins with, this line; None when there is none."""
    rows = text.split("\n")
    found = (row for row in reversed(range(len(rows))) if rows[row].strip().startswith(line))
    return next(found, None)


def _failure(pair: ToolPair) -> str:
    code = exit_code(pair)
    if code is not None:
        return f" (failed, exit code {code})"
    return " (failed)" if has_failed(pair) else ""


def heading(passage: Passage) -> str:
    """Return the line under which quotations from a passage stand, without its number."""
    pair = passage.pair
    if passage.kind == "answer":
        asked = f"{pair.tool} {pair.subject}" if pair else "a tool"
        return one_line(f"{USER}, to {asked}", COMMAND)
    if pair is not None:
        return one_line(f"{pair.tool} {pair.subject}", COMMAND) + _failure(pair)
    return _SPEAKERS.get(passage.kind) or one_line(f"{passage.kind} {passage.name}", COMMAND)
