"""Lines that show the state of the work: errors, commands, their outcomes, answered questions."""

import re
from collections.abc import Iterator, Mapping, Sequence

from compactctl.history.shell_lines import only_looks
from compactctl.model.own_texts import EntrySpeaker
from compactctl.records import Record
from compactctl.summaries.extract.claims import CLAIMS
from compactctl.summaries.extract.items import clip_to_line
from compactctl.summaries.extract.outcomes import (
    MAX_COMMAND_CHARS,
    error_lines,
    is_check,
    last_line,
)
from compactctl.summaries.extract.own_passages import SPOKEN, PassageKind
from compactctl.summaries.extract.passages import Passage, ToolPair
from compactctl.tokens.memory import Once, call

# Values were tuned on sessions of two projects and tested on others.
_ERROR, _OLD_ERROR = 3.0, 1.2
_COMMAND, _OLD_COMMAND = 2.5, 0.9
_OUTCOME = 1.25
# What an earlier digest chose; why is not known any more.
_CHOSEN = 0.9
# Without the question, "yes" and "the second one" say nothing, at any age.
_QUESTION = 2.0
# A longer line is quoted in pieces, and the question stands in the last.
_MAX_QUESTION_CHARS = 260
# How many of the newest errors and checks have the full value. More of a session's past do not
# become the present because there is more room: the others compete at their lower value.
_NEWEST_ERRORS = 3
_NEWEST_CHECKS = 6
# Model calls after which freshness has halved.
_HALF_LIFE = 20


class StateFact(Record, kw_only=False):
    """A fact that is worth quoting once; ``value`` is in units of ``mean_top_demand``."""

    name: str
    value: float


class LineIndex(Record, kw_only=False, order=True):
    """A line of a passage, both counted from 0; line -1 is its heading."""

    passage: int
    line: int


HEADING = -1
# The argument of calls that ask; options to choose from stand beside it.
_QUESTION_KEY = "question"
# Who says what a passage holds, or what it is; all others are of tools.
_SPEAKERS: Mapping[PassageKind, EntrySpeaker] = {
    "request": "request",
    "answer": "answer",
    "instruction": "instruction",
    "reply": "reply",
    "summary": "summary",
    "reminder": "note",
    "point": "note",
    "file": "file",
}
UNQUOTED: frozenset[PassageKind] = frozenset({"thought", "list", *SPOKEN})
"""The kinds of passages that are not quoted line by line: other rules choose what stays of them."""
# A line without a word character is a brace or a ruler.
_WORD = re.compile(r"\w")


def freshness(age: int) -> float:
    """Return 1 for an ``age`` of 0 model calls, falling towards 0."""
    return 1 / (1 + age / _HALF_LIFE)


def facts_by_line(passages: Sequence[Passage]) -> dict[LineIndex, list[StateFact]]:
    """Return the facts that lines show: errors, commands, their outcomes, answered questions.

    What an earlier digest quotes is one, too.
    """
    facts: dict[LineIndex, list[StateFact]] = {}
    results = {id(p.pair): i for i, p in enumerate(passages) if p.kind == "result" and p.pair}
    shown = (
        *_errors(passages, results),
        *_commands(passages, results),
        *_questions(passages),
        *_chosen_before(passages),
    )
    for line, fact in shown:
        facts.setdefault(line, []).append(fact)
    return facts


def _errors(
    passages: Sequence[Passage], results: dict[int, int]
) -> Iterator[tuple[LineIndex, StateFact]]:
    """Yield the first error line of every failure; of equal lines the newest."""
    newest: dict[str, int] = {}
    for passage in passages:
        lines = error_lines(passage.pair) if passage.kind == "call" and passage.pair else []
        result = results.get(id(passage.pair))
        if lines and result is not None:
            newest[lines[0]] = result
    for rank, (line, index) in enumerate(newest.items()):
        is_main = rank == 0 or rank >= len(newest) - _NEWEST_ERRORS
        value = _ERROR if is_main else _OLD_ERROR * freshness(passages[index].age)
        row = _find_row(passages[index].text, line)
        if row is not None:
            yield LineIndex(index, row), StateFact(f"error {line}", value)


def _commands(
    passages: Sequence[Passage], results: dict[int, int]
) -> Iterator[tuple[LineIndex, StateFact]]:
    """Yield the newest run of every command that is not read-only, and the line of its outcome."""
    newest: dict[str, int] = {}
    for index, passage in enumerate(passages):
        if passage.kind == "call" and passage.pair and _is_action(passage.pair):
            newest[clip_to_line(passage.pair.command or "", MAX_COMMAND_CHARS)] = index
    checks = [command for command in newest if is_check(command)]
    main = set(sorted(checks, key=lambda command: newest[command])[-_NEWEST_CHECKS:])
    for command, index in newest.items():
        passage = passages[index]
        value = _COMMAND if command in main else _OLD_COMMAND * freshness(passage.age)
        yield LineIndex(index, HEADING), StateFact(f"command {command}", value)
        result = results.get(id(passage.pair))
        row = None if result is None else _outcome_row(passages[result])
        if result is not None and row is not None:
            value = _OUTCOME * freshness(passage.age)
            yield LineIndex(result, row), StateFact(f"outcome {command}", value)


def _questions(passages: Sequence[Passage]) -> Iterator[tuple[LineIndex, StateFact]]:
    """Yield the last question of each reply that a request follows."""
    reply: int | None = None
    for index, passage in enumerate(passages):
        if passage.kind == "request" and reply is not None:
            lines = enumerate(passages[reply].text.split("\n"))
            rows = [row for row, line in lines if "?" in line and len(line) <= _MAX_QUESTION_CHARS]
            if rows:
                yield LineIndex(reply, rows[-1]), StateFact(f"question {reply}", _QUESTION)
        if passage.kind in {"request", "reply"}:
            reply = index if passage.kind == "reply" else None


def _chosen_before(passages: Sequence[Passage]) -> Iterator[tuple[LineIndex, StateFact]]:
    """Yield the lines of tools and agents that an earlier digest quotes, or its bare headings."""
    for index, passage in enumerate(passages):
        if passage.is_from_digest and passage.kind not in UNQUOTED:
            value = _CHOSEN * freshness(passage.age)
            rows = range(passage.text.count("\n") + 1) if passage.text else (HEADING,)
            for row in rows:
                yield LineIndex(index, row), StateFact(f"chosen {index} {row}", value)


def _is_action(pair: ToolPair) -> bool:
    return pair.command is not None and not only_looks(pair.command)


def _outcome_row(result: Passage) -> int | None:
    line = last_line(result.pair) if result.pair else ""
    return _find_row(result.text, line) if _WORD.search(line) else None


def _find_row(text: str, line: str) -> int | None:
    """Return the number of the last line of a text that starts with ``line``, None if none."""
    lines = text.split("\n")
    return next((r for r in reversed(range(len(lines))) if lines[r].strip().startswith(line)), None)


def speaker(passage: Passage) -> EntrySpeaker:
    """Return who says what a digest quotes of a passage."""
    return "attachment" if passage.is_attachment else _SPEAKERS.get(passage.kind, "tool")


def title(passage: Passage, once: Once = call) -> str:
    """Return what a passage is about, as a digest says it above a quotation; "" for nothing."""
    pair = passage.pair
    if passage.title:
        return passage.title
    if passage.kind == "answer":
        words = f"{pair.tool} {_subject(pair)}" if pair else "a tool"
        return once(clip_to_line, words, MAX_COMMAND_CHARS)
    if pair is not None:
        words = f"{pair.tool} {_subject(pair)}"
        return once(clip_to_line, words, MAX_COMMAND_CHARS) + _failure(pair)
    is_named = passage.kind in {"file", "point"} or speaker(passage) == "tool"
    return once(clip_to_line, passage.name or passage.kind, MAX_COMMAND_CHARS) if is_named else ""


def _subject(pair: ToolPair) -> str:
    """Return what a call is about; of one that asks, the questions without the options."""
    questions = [text for name, text in pair.texts if name == _QUESTION_KEY]
    is_asking = questions and not (pair.changes or pair.reads or pair.command)
    return " ".join(questions) if is_asking else pair.subject


def _failure(pair: ToolPair) -> str:
    ended, code = CLAIMS[pair.outcome].heading, pair.result.exit_code if pair.result else None
    return f" ({ended}{f', exit code {code}' if code else ''})" if ended else ""
