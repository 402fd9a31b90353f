"""A conversation cut into lines that may be quoted, each with what it says."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Literal

from compactctl.history.tool_names import kind_of
from compactctl.summaries.digest.facts import (
    HEADING,
    LineIndex,
    StateFact,
    facts_by_line,
    freshness,
    heading,
)
from compactctl.summaries.extract.command_lines import is_read_only
from compactctl.summaries.extract.decisions import is_finding
from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.files import OLD_TEXTS, PATH, file_uses, replaced_lines
from compactctl.summaries.extract.items import one_line
from compactctl.summaries.extract.outcomes import has_failed
from compactctl.summaries.extract.passages import Passage, ToolPair, tool_pairs
from compactctl.summaries.extract.tasks import TASK, newest_tasks
from compactctl.summaries.extract.words import word_end

DigestSection = Literal["tasks", "files", "course", "unread", "names", "items", "said"]
# The sections of lines that are quoted from messages.
QUOTED: frozenset[DigestSection] = frozenset({"course", "unread"})
# A line of up to 260 characters, or a piece of a longer one: up to a blank, else to the end of a
# value in data, of a name, or of what is too long for one.
_PIECE = re.compile(
    r".{1,260}(?:\s|$)|\S{1,260}[,;}\])]|\S{1,260}(?<!\\)(?![\w./@~+-])|[\w./@~+-]+|\S{1,260}"
)
# What a line holds beyond this is data rather than text.
_MAX_LINE = 6_000
# Shorter lines are braces and the like; they are quoted for a fact alone.
MIN_CHARS = 6
# Line numbers that tools for reading and searching put before a line.
NUMBER = re.compile(r"^\s*\d+(?:→|\t|:(?= )|\s*\|)\s?")
# Other characters that end a line for some readers: only ours may begin one.
_LINE_ENDS = str.maketrans(dict.fromkeys("\r\v\f\x1c\x1d\x1e\x85\u2028\u2029", " "))
_WORD = re.compile(r"\w+")
# Of the mentions of an entity, this many of the newest tell something about it.
_TELLING_MENTIONS = 12
# A finding is worth something however old it is.
_FINDING_WORTH, _EVER = 0.4, 0.3
# What a line is worth for its own sake if the agent is certain to write it again.
_AGAIN = 1.5
# That of a line which the agent has not read yet.
UNREAD = _AGAIN
# The chance of that, as measured on two projects: by what the line stands in, the first for which
# the passage is younger than so many model calls.
_CHANCES: Mapping[str, tuple[tuple[float, float], ...]] = {
    "change": ((inf, 0.05),),
    "call": ((40, 0.15), (inf, 0.02)),
    "read": ((5, 0.05), (15, 0.01), (inf, 0.001)),
    "look": ((5, 0.05), (inf, 0.001)),
    "reply": ((15, 0.03), (inf, 0.001)),
    "other": ((inf, 0.001),),
}
# A line that may be worth something for its own sake has as many characters and words.
_MIN_CHARS, _MIN_WORDS = 20, 3


@dataclass(frozen=True, slots=True)
class FragmentGroup:
    """What fragments stand under: a heading that is paid for once.

    ``passage`` is the one that a group of the course, or of what was said, quotes, ``label`` what
    a group of files or names lists, or the label of a group of items.
    """

    section: DigestSection
    passage: int = 0
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """A line that may be quoted, or a piece of a long one.

    Attributes:
        group: what it stands under; a result stands under its call.
        line: where it stands; "" is the text of a fragment that is a heading alone.
        piece: its number among the pieces of its line.
        describes: the entities that it says something about.
        mentions: the entities that it only names.
        facts: the state that it tells.
        reuse_value: what it is worth for its own sake, in demands for an entity that is needed.
    """

    group: FragmentGroup
    line: LineIndex
    piece: int = 0
    text: str = ""
    describes: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    facts: tuple[StateFact, ...] = ()
    reuse_value: float = 0.0


def collect_fragments(
    found: Sequence[Passage], kept: Mapping[int, str], needed: Mapping[str, float], lexicon: Lexicon
) -> list[Fragment]:
    """Return the fragments of all passages, newest first; of equal lines the newest.

    What is ``kept`` of a passage is not offered again; nor is thinking, which is not sent again. A
    line that only names things is not offered for their names.
    """
    said = {line.strip() for text in kept.values() for line in text.split("\n")}
    cutting = _FragmentCollector(
        needed=needed, lexicon=lexicon, told=facts_by_line(found), seen=said
    )
    calls = {id(passage.pair): n for n, passage in enumerate(found) if passage.kind == "call"}
    for index in reversed(range(len(found))):
        passage = found[index]
        if passage.kind != "thought" and kept.get(index) != passage.text:
            group = FragmentGroup("course", calls.get(id(passage.pair), index))
            cutting.cut(index, passage, group)
    return cutting.collected


@dataclass(slots=True, kw_only=True)
class _FragmentCollector:
    """What was cut so far; passages come newest first."""

    needed: Mapping[str, float]
    lexicon: Lexicon
    told: Mapping[LineIndex, Sequence[StateFact]]
    collected: list[Fragment] = field(default_factory=list)
    seen: set[str]
    mentioned: Counter[str] = field(default_factory=Counter)
    gone: dict[str, set[str]] = field(default_factory=dict)

    def cut(self, index: int, passage: Passage, group: FragmentGroup) -> None:
        place = LineIndex(index, HEADING)
        if place in self.told:
            self.collected.append(Fragment(group=group, line=place, facts=tuple(self.told[place])))
        gone = self._gone(passage)
        chance = _reuse_chance(passage)
        for place, piece, text in pieces_of(index, _text(passage)):
            plain = NUMBER.sub("", text).strip()
            told = (*self.told.get(place, ()), *_finding(passage, plain)) if not piece else ()
            if not told and (len(plain) < MIN_CHARS or plain in self.seen or plain in gone):
                continue
            self.seen.add(plain)
            tells, names = self._entities(plain)
            again = _AGAIN * chance if _is_rich(plain) else 0.0
            if tells or names or told or again:
                each = Fragment(group=group, line=place, piece=piece, text=text)
                # What a line does no more than name costs less in the list of names.
                names = names if tells or told or again else ()
                each = replace(each, describes=tells, mentions=names, facts=told, reuse_value=again)
                self.collected.append(each)

    def _gone(self, passage: Passage) -> Collection[str]:
        """Return the lines of a file that later edits replaced; of an edit, note them."""
        pair = passage.pair
        if pair is None or has_failed(pair):
            return ()
        if passage.kind == "call":
            lines = replaced_lines(pair)
            for path in pair.changes:
                self.gone.setdefault(path, set()).update(lines)
            return ()
        return self.gone.get(pair.reads or "", ())

    def _entities(self, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the entities that a line tells something about, and those that it only names."""
        found = [entity for entity in self.lexicon.entities(text) if self.needed.get(entity)]
        old = [entity for entity in found if self.mentioned[entity] >= _TELLING_MENTIONS]
        self.mentioned.update(found)
        if not _tells(text, found):
            return (), tuple(found)
        return tuple(entity for entity in found if entity not in old), tuple(old)


def text_lines(text: str) -> list[str]:
    """Return the lines of a text, in which no other character ends a line."""
    return text.translate(_LINE_ENDS).split("\n")


def pieces_of(passage: int, text: str) -> Iterator[tuple[LineIndex, int, str]]:
    """Yield the pieces of the lines of a passage's text, the last line first."""
    rows = text_lines(text)
    for row in reversed(range(len(rows))):
        for piece, part in enumerate(_PIECE.findall(_readable(rows[row]))):
            yield LineIndex(passage, row), piece, part


def _readable(row: str) -> str:
    return row if len(row) <= _MAX_LINE else row[: word_end(row, _MAX_LINE)]


def _text(passage: Passage) -> str:
    """Return the text to quote: of a call what its heading does not say and what is not gone."""
    pair = passage.pair
    if passage.kind != "call" or pair is None:
        return passage.text
    over = () if has_failed(pair) else OLD_TEXTS
    shown = heading(passage)
    texts = (
        (name, text)
        for name, text in pair.texts
        if name not in over and text not in shown and not _is_path(text, pair)
    )
    return "\n".join(f"{name}: {text}" if name else text for name, text in texts)


def _is_path(text: str, pair: ToolPair) -> bool:
    """Whether a text is the whole path of a file that the heading names by its end."""
    files = (*pair.changes, pair.reads or "")
    return "\n" not in text and any(file and text.endswith(f"/{file}") for file in files)


def _finding(passage: Passage, text: str) -> Iterator[StateFact]:
    if passage.kind == "reply" and is_finding(text):
        worth = _FINDING_WORTH * (_EVER + freshness(passage.age))
        yield StateFact(f"finding {text[:80]}", worth)


def _is_rich(text: str) -> bool:
    return len(text) >= _MIN_CHARS and len(_WORD.findall(text)) >= _MIN_WORDS


def _tells(text: str, names: Sequence[str]) -> bool:
    """Whether a line says something about what it names."""
    own = len(_WORD.findall(names[0])) if len(names) == 1 else 1
    return len(set(_WORD.findall(text))) >= _MIN_WORDS + own


def _reuse_chance(passage: Passage) -> float:
    """Return the chance that the agent writes a line of the passage again."""
    return next(chance for age, chance in _CHANCES[_source_kind(passage)] if passage.age < age)


def _source_kind(passage: Passage) -> str:
    pair = passage.pair
    if passage.kind == "result" and pair is not None:
        return "read" if pair.reads else "look" if is_read_only(pair.command or "") else "other"
    if passage.kind == "call" and kind_of(passage.name) in {"edit", "write"}:
        return "change"
    return passage.kind if passage.kind in _CHANCES else "other"


_OPEN_TASK, _DONE_TASK = 4.0, 0.4
_CHANGED, _READ = 2.0, 0.5
# Longer names cost more in a list than they are worth.
_MAX_NAME = 120


def list_entries(
    found: Sequence[Passage], needed: Mapping[str, float], lexicon: Lexicon, cwd: str | None
) -> Iterator[Fragment]:
    """Yield an entry for every task, file and name that a list may hold."""
    yield from _tasks(found)
    files = file_uses(found, cwd)
    names = [name for name in needed if name not in files and len(name) <= _MAX_NAME]
    paths = [name for name in names if lexicon.kind(name) == "path" and "/" in name]
    bases = Counter(path.rpartition("/")[2] for path in (*files, *paths))
    for path, use in files.items():
        worth = _CHANGED if use.is_changed else _READ * (0.3 + freshness(use.age))
        folder, base = _split(path, bases)
        yield _entry(
            FragmentGroup("files", label=folder),
            f"{base} (edited)" if use.is_changed else base,
            names=(path,) if path in needed else (),
            facts=(StateFact(f"file {path}", worth),),
        )
    is_path = set(paths)
    for name in names:
        folder, base = _split(name, bases) if name in is_path else ("", name)
        yield _entry(FragmentGroup("names", label=folder), base, names=(name,))


def _tasks(found: Sequence[Passage]) -> Iterator[Fragment]:
    for place, task in enumerate(newest_tasks(tool_pairs(found))):
        worth = _DONE_TASK if task.is_done else _OPEN_TASK
        yield Fragment(
            group=FragmentGroup("tasks"),
            line=LineIndex(0, place),
            text=f"[{task.status}] {one_line(task.title, TASK)}",
            facts=(StateFact(f"task {place}", worth),),
        )


def _entry(
    group: FragmentGroup, text: str, names: tuple[str, ...], facts: tuple[StateFact, ...] = ()
) -> Fragment:
    return Fragment(
        group=group, line=LineIndex(0, 0), text=one_line(text, 300), mentions=names, facts=facts
    )


def _split(path: str, bases: Mapping[str, int]) -> tuple[str, str]:
    """Return folder and name; a name that is not alone keeps its folder's."""
    folder, _, base = one_line(path, PATH).rpartition("/")
    if bases[base] > 1 and folder:
        folder, _, above = folder.rpartition("/")
        base = f"{above}/{base}"
    return folder, base
