"""What was looked at again after a compaction, though it had been seen before."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from compactctl.history.read_calls import normal_path
from compactctl.history.tool_names import kind_of
from compactctl.lab.audit_findings import RepeatedRead
from compactctl.summaries.extract.command_lines import is_read_only
from compactctl.summaries.extract.items import one_line
from compactctl.summaries.extract.outcomes import failed
from compactctl.summaries.extract.passages import Passage, SourceRef, ToolPair

# A look is a re-read where so much of what it shows had been seen, and so much was gone.
SEEN_SHARE = 0.5
# Shorter lines are braces and the like.
_MIN_LINE = 4
# Line numbers that tools for reading and searching put before a line.
_NUMBER = re.compile(r"^\s*\d+(?:→|\t|:(?= )|\s*\|)\s?")
_SUBJECT = 200
_SEARCH_KINDS = frozenset({"search", "find"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCall:
    """A call that only looks: at what, and the lines that it showed."""

    subject: str
    ref: SourceRef
    shown: frozenset[str]
    pair: ToolPair


class SeenLines:
    """The lines that were shown of each file and by each command, and where last."""

    def __init__(self, found: Iterable[Passage], cwd: str | None) -> None:
        self._lines: dict[str, set[str]] = {}
        self._place: dict[str, SourceRef] = {}
        for passage in found:
            for subject, text in _shown(passage, cwd):
                self.add(subject, _lines(text), passage.ref)

    def add(self, subject: str, lines: Iterable[str], place: SourceRef) -> None:
        """Take in that lines were shown, and where."""
        self._lines.setdefault(subject, set()).update(lines)
        self._place[subject] = place

    def seen_share(self, look: ReadCall) -> float:
        """Return the share of what a look shows that had been seen of its subject."""
        known = self._lines.get(look.subject)
        if not known or not look.shown:
            return 0.0
        return len(look.shown & known) / len(look.shown)

    def last_seen(self, look: ReadCall) -> SourceRef:
        """Return where a look's subject was seen last."""
        return self._place[look.subject]


def find_read_calls(found: Iterable[Passage]) -> Iterator[ReadCall]:
    """Yield the calls that look at something and succeeded, in order."""
    for passage in found:
        pair = passage.pair
        if passage.kind == "call" and pair and pair.result and not failed(pair):
            subject = _subject(pair)
            if subject:
                shown = frozenset(_lines(pair.result.text))
                yield ReadCall(subject=subject, ref=pair.ref, shown=shown, pair=pair)


def find_rereads(
    found: Sequence[ReadCall],
    before: SeenLines,
    after: SeenLines,
    tokens: Callable[[ToolPair], int],
) -> Iterator[RepeatedRead]:
    """Yield the looks at what was seen ``before`` a compaction and gone ``after`` it, each once."""
    for look in found:
        if before.seen_share(look) >= SEEN_SHARE > after.seen_share(look):
            what, place = one_line(look.subject, _SUBJECT), before.last_seen(look)
            yield RepeatedRead(what=what, ref=look.ref, first_seen=place, tokens=tokens(look.pair))
        after.add(look.subject, look.shown, look.ref)


def _subject(pair: ToolPair) -> str:
    """Name what a call looks at, "" for one that does more than look."""
    if pair.reads:
        return pair.reads
    if pair.command is not None:
        return pair.command.strip() if is_read_only(pair.command) else ""
    return f"{pair.tool} {pair.text}" if kind_of(pair.tool) in _SEARCH_KINDS else ""


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
        if len(bare) >= _MIN_LINE:
            yield bare
