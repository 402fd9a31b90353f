"""What was looked at again after a compaction, though it had been seen before."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from compactctl.history.read_calls import normal_path
from compactctl.history.tool_names import kind_of
from compactctl.lab.audit_findings import SecondLook
from compactctl.summaries.extract.command_lines import only_looks
from compactctl.summaries.extract.items import one_line
from compactctl.summaries.extract.outcomes import failed
from compactctl.summaries.extract.passages import Passage, Spot, ToolPair

# A look is a re-read where so much of what it shows had been seen, and so much was gone.
SEEN_SHARE = 0.5
# Shorter lines are braces and the like.
_LEAST_LINE = 4
# Line numbers that tools for reading and searching put before a line.
_NUMBER = re.compile(r"^\s*\d+(?:→|\t|:(?= )|\s*\|)\s?")
_SUBJECT = 200
_LOOKING = frozenset({"search", "find"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A call that only looks: at what, and the lines that it showed."""

    subject: str
    spot: Spot
    shown: frozenset[str]
    pair: ToolPair


class Seen:
    """The lines that were shown of each file and by each command, and where last."""

    def __init__(self, found: Iterable[Passage], cwd: str | None) -> None:
        self._lines: dict[str, set[str]] = {}
        self._place: dict[str, Spot] = {}
        for passage in found:
            for subject, text in _shown(passage, cwd):
                self.add(subject, _lines(text), passage.spot)

    def add(self, subject: str, lines: Iterable[str], place: Spot) -> None:
        """Take in that lines were shown, and where."""
        self._lines.setdefault(subject, set()).update(lines)
        self._place[subject] = place

    def share(self, look: Look) -> float:
        """Return the share of what a look shows that had been seen of its subject."""
        known = self._lines.get(look.subject)
        if not known or not look.shown:
            return 0.0
        return len(look.shown & known) / len(look.shown)

    def place(self, look: Look) -> Spot:
        """Return where a look's subject was seen last."""
        return self._place[look.subject]


def looks(found: Iterable[Passage]) -> Iterator[Look]:
    """Yield the calls that look at something and succeeded, in order."""
    for passage in found:
        pair = passage.pair
        if passage.kind == "call" and pair and pair.result and not failed(pair):
            subject = _subject(pair)
            if subject:
                shown = frozenset(_lines(pair.result.text))
                yield Look(subject=subject, spot=pair.spot, shown=shown, pair=pair)


def rereads(
    found: Sequence[Look], before: Seen, after: Seen, tokens: Callable[[ToolPair], int]
) -> Iterator[SecondLook]:
    """Yield the looks at what was seen ``before`` a compaction and gone ``after`` it, each once."""
    for look in found:
        if before.share(look) >= SEEN_SHARE > after.share(look):
            what, place = one_line(look.subject, _SUBJECT), before.place(look)
            yield SecondLook(what=what, spot=look.spot, first=place, tokens=tokens(look.pair))
        after.add(look.subject, look.shown, look.spot)


def _subject(pair: ToolPair) -> str:
    """Name what a call looks at, "" for one that does more than look."""
    if pair.reads:
        return pair.reads
    if pair.command is not None:
        return pair.command.strip() if only_looks(pair.command) else ""
    return f"{pair.tool} {pair.text}" if kind_of(pair.tool) in _LOOKING else ""


def _shown(passage: Passage, cwd: str | None) -> Iterator[tuple[str, str]]:
    """Yield subjects and the text that a passage shows of them."""
    pair = passage.pair
    if passage.kind == "file":
        yield normal_path(passage.name, cwd), passage.text
    elif passage.kind == "result" and pair and _subject(pair):
        yield _subject(pair), passage.text
    elif passage.kind == "call" and pair:
        yield from ((path, passage.text) for path in pair.changes)


def _lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        bare = _NUMBER.sub("", line).strip()
        if len(bare) >= _LEAST_LINE:
            yield bare
