"""A second opinion on what a context still holds, which shares only the reader with the measures.

It looks at what neither stages nor measures look at: runs of five words, whole arguments of calls,
the old text of edits, and the output that a search for a command finds.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from compactctl.model.message import (
    FilePart,
    Message,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

KINDS = ("words", "arguments", "edits", "outputs")

_RUN = 5
_ARGUMENT = range(8, 301)
_OLD_TEXTS = frozenset({"old_string", "oldString", "old_str", "oldText", "search"})
_COMMANDS = frozenset({"command", "cmd", "script"})
# Newest commands whose output is searched for, characters they are searched by, and lines read on.
_SEARCHED, _BEGINNING, _READ_ON = 6, 60, 20
_FEWEST = 8
_WORD = re.compile(r"\w+")
# Marks of quotations and the numbers that tools put before lines.
_MARKS = re.compile(r"^[>\s]*(?:\d+[→:|\t]\s?)?\s*")


@dataclass(frozen=True, slots=True)
class Text:
    """A text, and whether the agent wrote it; ``leaves`` are a call's strings by argument name."""

    text: str
    is_agents: bool
    leaves: tuple[tuple[str, str], ...] = ()


class Referee:
    """Judges contexts that replace a prefix by the future that followed it."""

    def __init__(self, prefix: Sequence[Message], future: Iterable[Sequence[Message]]) -> None:
        before = _Searchable(_texts(prefix))
        later = [text for messages in future for text in _in_order(messages)]
        self._words = _new_words(later) & before.runs
        self._arguments = [each for each in _new_arguments(later) if each in before.whole]
        self._edits = [each for each in _old_texts(later) if each <= before.lines]
        self._outputs = [each for each in _outputs(prefix) if before.finds(*each)]

    def opinion(self, context: Sequence[Message]) -> float | None:
        """Return the mean share over the kinds with any demand, None if there is none."""
        shares = [hits / asked for hits, asked in self.judge(context).values() if asked]
        return sum(shares) / len(shares) if shares else None

    def judge(self, context: Sequence[Message]) -> dict[str, tuple[int, int]]:
        """Return how much of the demand is met, and the demand, by kind."""
        now = _Searchable(_texts(context))
        return {
            "words": (len(self._words & now.runs), len(self._words)),
            "arguments": _count(each in now.whole for each in self._arguments),
            "edits": _count(each <= now.lines for each in self._edits),
            "outputs": _count(now.finds(*each) for each in self._outputs),
        }


class _Searchable:
    """Texts, indexed for searching."""

    def __init__(self, texts: Iterable[Text]) -> None:
        self._rows: list[str] = []
        self.runs: set[tuple[str, ...]] = set()
        for each in texts:
            self._rows += [_bare(line) for line in each.text.split("\n")]
            self.runs |= _runs(each.text)
        self.lines = frozenset(self._rows)
        self.whole = "\n".join(self._rows)

    def finds(self, command: str, output: str) -> bool:
        """Whether the last line of an output stands within a few lines after its command."""
        found = [row for row, line in enumerate(self._rows) if command in line]
        return any(output in " ".join(self._rows[at : at + _READ_ON]) for at in found[-3:])


def _count(found: Iterable[bool]) -> tuple[int, int]:
    each = list(found)
    return sum(each), len(each)


def _bare(line: str) -> str:
    return _MARKS.sub("", line, count=1).rstrip()


def _runs(text: str) -> set[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    return set(zip(*(words[start:] for start in range(_RUN)), strict=False))


def _new_words(later: Sequence[Text]) -> set[tuple[str, ...]]:
    seen: set[tuple[str, ...]] = set()
    own: set[tuple[str, ...]] = set()
    for each in later:
        new = _runs(each.text) - seen
        seen |= new
        if each.is_agents:
            own |= new
    return own


def _new_arguments(later: Sequence[Text]) -> list[str]:
    shown = ""
    found: dict[str, None] = {}
    for each in later:
        for _, leaf in each.leaves:
            value = leaf.strip()
            if len(value) in _ARGUMENT and "\n" not in value and value not in shown:
                found[value] = None
        if not each.is_agents:
            shown += each.text
    return list(found)


def _old_texts(later: Sequence[Text]) -> list[frozenset[str]]:
    texts = (leaf for each in later for name, leaf in each.leaves if name in _OLD_TEXTS)
    lines = (frozenset(filter(None, map(_bare, text.split("\n")))) for text in texts)
    return [each for each in lines if sum(map(len, each)) >= _FEWEST]


def _outputs(prefix: Sequence[Message]) -> list[tuple[str, str]]:
    results = {part.call_id: part.text for message in prefix for part in message.results}
    newest: dict[str, str] = {}
    for message in prefix:
        for call in message.calls:
            command = next((leaf for name, leaf in _leaves(call) if name in _COMMANDS), "")
            lines = [_bare(line) for line in results.get(call.call_id, "").split("\n")]
            telling = [line for line in lines if len(line) >= _FEWEST]
            start = _bare(command.strip().partition("\n")[0])[:_BEGINNING]
            if len(start) >= _FEWEST and telling:
                newest.pop(start, None)
                newest[start] = telling[-1]
    return list(newest.items())[-_SEARCHED:]


def _in_order(messages: Sequence[Message]) -> list[Text]:
    """Return the texts of one request, those of the agent first."""
    return sorted(_texts(messages), key=lambda text: not text.is_agents)


def _texts(messages: Sequence[Message]) -> Iterator[Text]:
    for message in messages:
        for part in message.parts:
            yield from _text(part, is_agents=message.role == "assistant")


def _text(part: Part, *, is_agents: bool) -> Iterator[Text]:
    match part:
        case TextPart(text=text):
            yield Text(text, is_agents)
        case ToolResultPart(text=text) | FilePart(text=text):
            yield Text(text, is_agents=False)
        case ToolCallPart():
            leaves = tuple(_leaves(part))
            yield Text("\n".join(leaf for _, leaf in leaves), is_agents, leaves)
        case _:
            return


def _leaves(call: ToolCallPart) -> Iterator[tuple[str, str]]:
    """Yield the strings in a call's arguments with their names, in order."""
    try:
        waiting: list[tuple[str, object]] = [("", json.loads(call.arguments))]
    except (ValueError, RecursionError):
        waiting = [("", call.arguments)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, dict):
            waiting += reversed(list(value.items()))
        elif isinstance(value, list):
            waiting += [(name, each) for each in reversed(value)]
