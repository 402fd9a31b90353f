"""Split a conversation into fragments: lines that a digest may quote, each with its values."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from math import inf
from typing import Literal

from msgspec import Struct

from compactctl.history.shell_lines import only_looks
from compactctl.history.tool_names import is_confirmation, kind_of, loads_tools
from compactctl.records import Record, field, replace
from compactctl.summaries.digest.facts import (
    HEADING,
    UNQUOTED,
    LineIndex,
    StateFact,
    facts_by_line,
    freshness,
)
from compactctl.summaries.digest.lines import (
    MIN_LINE_CHARS,
    PieceSpan,
    quotable_text,
)
from compactctl.summaries.extract.decisions import is_finding
from compactctl.summaries.extract.entities import EntityDemand, Lexicon
from compactctl.summaries.extract.files import MAX_PATH_CHARS, file_uses, replaced_lines
from compactctl.summaries.extract.items import clip_to_line
from compactctl.summaries.extract.outcomes import PASSED, is_check
from compactctl.summaries.extract.passages import Passage
from compactctl.summaries.extract.tasks import MAX_TASK_CHARS, newest_tasks
from compactctl.tokens.memory import Once, call

DigestSection = Literal["tasks", "files", "course", "unread", "names", "items", "said"]
# The sections that quote lines of messages.
QUOTED_SECTIONS: frozenset[DigestSection] = frozenset({"course", "unread"})
_WORD = re.compile(r"\w+")
# How many of the newest mentions of an entity count as statements about it.
_MAX_STATEMENTS = 12
# The value of a finding, and the freshness that it keeps at any age.
_FINDING_VALUE, _MIN_FRESHNESS = 0.4, 0.3
# The value of a line that the agent is certain to write again.
_CERTAIN_REUSE_VALUE = 1.5
# The value of a line that the agent has not read yet.
UNREAD_VALUE = _CERTAIN_REUSE_VALUE
# The chance that the agent writes a line again, as measured on two projects: by the kind of its
# passage, (maximum age in model calls, chance).
_REUSE_CHANCES: Mapping[str, tuple[tuple[float, float], ...]] = {
    "change": ((inf, 0.1),),
    "call": ((40, 0.15), (inf, 0.02)),
    "read": ((5, 0.05), (15, 0.01), (inf, 0.001)),
    "look": ((5, 0.05), (inf, 0.001)),
    "reply": ((15, 0.03), (inf, 0.001)),
    "other": ((inf, 0.001),),
}
# Characters and words that a line needs to be worth quoting for reuse.
_MIN_REUSE_CHARS, _MIN_WORDS = 20, 3
# What the agent read or wrote is current work for so many model calls. Its shorter lines are quoted
# with their neighbors even if they are elsewhere, too.
_WORK_KINDS = frozenset({"read", "look", "change"})
_MAX_WORK_AGE, _MAX_COMMON_CHARS = 40, 25
# Values of list entries.
_OPEN_TASK_VALUE, _DONE_TASK_VALUE = 4.0, 0.4
# Here the entry of a file competes with all lines of the conversation. At 4 times its value in a
# summary, a digest of 3% lists nearly all files that are read again; tuned on five projects.
_FILE_VALUE_SCALE = 4.0
# Ids that only these name, such as those of log lines, say nothing without their line.
_SHOWN_KINDS = frozenset({"result", "file", "thought"})
# Longer names cost more in a list than they are worth.
_MAX_NAME_CHARS = 120


class FragmentGroup(Record, kw_only=False):
    """The heading that fragments share, and whose tokens are paid once.

    Attributes:
        section: the section of the digest or summary.
        passage: in the sections of quotations, the index of the quoted passage.
        label: in the other sections, the folder of files or names, or the label of items.
    """

    section: DigestSection
    passage: int = 0
    label: str = ""


class Fragment(Record):
    """A line that may be quoted, a piece of a long one, or a change in a diff with both its sides.

    Attributes:
        group: its heading; a result shares the heading of its call.
        line: the line that it is part of.
        span: which part of it.
        text: its text; "" for a heading without quoted lines.
        describes: the entities that it makes a statement about.
        mentions: the entities that it merely names.
        facts: the facts that it shows.
        reuse_value: the value of its being written again, in units of ``mean_top_demand``.
    """

    group: FragmentGroup
    line: LineIndex
    span: PieceSpan = PieceSpan()
    text: str = ""
    describes: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    facts: tuple[StateFact, ...] = ()
    reuse_value: float = 0.0


def collect_fragments(
    passages: Sequence[Passage],
    pinned: Mapping[int, str],
    demand: EntityDemand,
    start: int = 0,
    once: Once = call,
) -> list[Fragment]:
    """Return the fragments of passages from ``start`` on, newest first; of equal lines the newest.

    Lines that are ``pinned`` (by passage index) are left out, and so are the words of the user, of
    which nothing else is quoted, reasoning, which is not sent again, and what only confirms a call.
    """
    seen = {line.strip() for text in pinned.values() for line in text.split("\n")}
    collector = _FragmentCollector(
        demand=demand.demand,
        lexicon=demand.lexicon,
        facts=facts_by_line(passages),
        seen=seen,
        once=once,
    )
    calls = {id(passage.pair): i for i, passage in enumerate(passages) if passage.kind == "call"}
    for index in reversed(range(start, len(passages))):
        passage = passages[index]
        is_quotable = passage.kind not in UNQUOTED and not _is_plumbing(passage)
        if is_quotable and index not in pinned:
            group = FragmentGroup("course", calls.get(id(passage.pair), index))
            collector.add_passage(index, passage, group)
    return collector.fragments


def _is_plumbing(passage: Passage) -> bool:
    """Whether a call or result says nothing about the work."""
    pair = passage.pair
    if pair is None or pair.has_failed:
        return False
    is_result = passage.kind == "result"
    return loads_tools(pair.tool) or (is_result and is_confirmation(pair.tool, passage.text))


class _FragmentCollector(Struct, kw_only=True):
    """Collects fragments; passages are added newest first.

    Attributes:
        demand: the demand for each entity.
        lexicon: finds the entities of a line.
        facts: the facts that each line shows.
        once: how what depends on a line alone is computed.
        fragments: the fragments collected so far.
        seen: the lines of newer passages.
        mention_counts: mentions of each entity in newer lines.
        replaced: by path, the lines that newer edits have removed from the file.
    """

    demand: Mapping[str, float]
    lexicon: Lexicon
    facts: Mapping[LineIndex, Sequence[StateFact]]
    once: Once
    fragments: list[Fragment] = field(default_factory=list)
    seen: set[str]
    mention_counts: defaultdict[str, int] = field(default_factory=partial(defaultdict, int))
    replaced: dict[str, set[str]] = field(default_factory=dict)

    def add_passage(self, index: int, passage: Passage, group: FragmentGroup) -> None:
        line = LineIndex(index, HEADING)
        if line in self.facts:
            self.fragments.append(Fragment(group=group, line=line, facts=tuple(self.facts[line])))
        outdated = self._outdated_lines(passage)
        certain_value = _CERTAIN_REUSE_VALUE * _reuse_chance(passage)
        is_reply, is_work = passage.kind == "reply", is_current_work(passage)
        is_check_output = _is_check_output(passage)
        removed = 0
        for piece in quotable_text(passage, self.once).pieces:
            line, span, plain = LineIndex(index, piece.row), piece.span, piece.bare
            is_repeated = plain in self.seen and not (is_work and len(plain) < _MAX_COMMON_CHARS)
            is_new = not (span.start or (is_repeated and passage.is_from_digest))
            facts = self.facts.get(line, ()) if is_new else ()
            if is_reply and not span.start:
                facts = (*facts, *_finding_facts(passage, plain))
            is_passed = is_check_output and PASSED.search(plain)
            is_outdated = plain in outdated
            removed += is_outdated
            is_useless = is_repeated or is_passed or is_outdated
            if not facts and (is_useless or len(plain) < MIN_LINE_CHARS):
                continue
            self.seen.add(plain)
            names, n_words, n_distinct = self.once(_read_line, plain, self.lexicon)
            describes, mentions = self._entities(names, n_distinct) if names else ((), ())
            is_reusable = len(plain) >= _MIN_REUSE_CHARS and n_words >= _MIN_WORDS
            reuse_value = certain_value if is_reusable else 0.0
            is_useful = bool(describes or facts or reuse_value or is_work)
            if is_useful or mentions:
                fragment = Fragment(
                    group=group,
                    line=line,
                    span=replace(span, removed=removed) if removed else span,
                    text=piece.text,
                    describes=describes,
                    # Entities that an otherwise useless line mentions cost less in a list of names.
                    mentions=mentions if is_useful else (),
                    facts=tuple(facts),
                    reuse_value=reuse_value,
                )
                self.fragments.append(fragment)

    def _outdated_lines(self, passage: Passage) -> Collection[str]:
        """Return the lines of a read file that later edits removed; for an edit, record them."""
        pair = passage.pair
        if pair is None or not pair.is_done:
            return ()
        if passage.kind == "call":
            lines = replaced_lines(pair)
            for path in pair.changes:
                self.replaced.setdefault(path, set()).update(lines)
            return ()
        return self.replaced.get(pair.reads or "", ())

    def _entities(
        self, names: Sequence[str], n_distinct: int
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the entities that a line makes a statement about, and those it merely names.

        ``names`` are those in it, ``n_distinct`` is how many distinct words it has.
        """
        entities = tuple(filter(self.demand.get, names))
        counts = self.mention_counts
        frequent = tuple([entity for entity in entities if counts[entity] >= _MAX_STATEMENTS])
        for entity in entities:
            counts[entity] += 1
        if not _is_statement(n_distinct, entities):
            return (), entities
        if not frequent:
            return entities, ()
        return tuple([entity for entity in entities if entity not in frequent]), frequent


def _finding_facts(passage: Passage, text: str) -> Iterator[StateFact]:
    if is_finding(text):
        value = _FINDING_VALUE * (_MIN_FRESHNESS + freshness(passage.age))
        yield StateFact(f"finding {text[:80]}", value)


def _read_line(text: str, lexicon: Lexicon) -> tuple[tuple[str, ...], int, int]:
    """Return the entities in a line, and how many words and distinct words it has."""
    words = _WORD.findall(text)
    return lexicon.entities(text), len(words), len(set(words))


def _is_statement(n_distinct: int, names: Sequence[str]) -> bool:
    """Whether a line makes a statement about the names in it: it has enough other words."""
    name_words = len(_WORD.findall(names[0])) if len(names) == 1 else 1
    return n_distinct >= _MIN_WORDS + name_words


def _reuse_chance(passage: Passage) -> float:
    """Return the chance that the agent writes a line of the passage again."""
    return next(
        chance for age, chance in _REUSE_CHANCES[_source_kind(passage)] if passage.age < age
    )


def is_current_work(passage: Passage) -> bool:
    """Whether a passage shows what the agent is likely to edit next."""
    return passage.age < _MAX_WORK_AGE and _source_kind(passage) in _WORK_KINDS


def _is_check_output(passage: Passage) -> bool:
    """Whether a passage is the output of a command such as a test run."""
    command = passage.pair.command if passage.pair else None
    return passage.kind == "result" and command is not None and is_check(command)


def _source_kind(passage: Passage) -> str:
    pair = passage.pair
    if passage.kind == "result" and pair is not None:
        return "read" if pair.reads else "look" if only_looks(pair.command or "") else "other"
    is_change = passage.kind == "call" and kind_of(passage.name) in {"edit", "write"}
    # What an edit that failed would have written is in no file.
    if is_change and (pair is None or pair.is_done):
        return "change"
    return passage.kind if passage.kind in _REUSE_CHANCES else "other"


def list_entries(
    passages: Sequence[Passage],
    demand: Mapping[str, float],
    lexicon: Lexicon,
    cwd: str | None,
    following: Sequence[Passage] = (),
) -> Iterator[Fragment]:
    """Yield an entry for every task, file and name that a list may hold.

    What the passages that follow say of tasks is newer.
    """
    yield from _task_entries((*passages, *following))
    files = file_uses(passages, cwd)
    spoken = (passage.text for passage in passages if passage.kind not in _SHOWN_KINDS)
    spoken_names = {name for text in spoken for name in lexicon.entities(text)}
    names = [
        name
        for name in demand
        if name not in files and len(name) <= _MAX_NAME_CHARS
        if name in spoken_names or lexicon.kind(name) != "id"
    ]
    paths = {name for name in names if lexicon.kind(name) == "path" and "/" in name}
    for path, use in files.items():
        folder, name = _split_path(path)
        changes = use.describe(changes_only=True)
        yield _list_entry(
            FragmentGroup("files", label=folder),
            f"{name} ({changes})" if changes else name,
            mentions=(path,) if path in demand else (),
            facts=(StateFact(f"file {path}", _FILE_VALUE_SCALE * use.value),),
        )
    for entity in names:
        folder, name = _split_path(entity) if entity in paths else ("", entity)
        yield _list_entry(FragmentGroup("names", label=folder), name, mentions=(entity,))


def _task_entries(passages: Sequence[Passage]) -> Iterator[Fragment]:
    for index, task in enumerate(newest_tasks(passages)):
        value = _DONE_TASK_VALUE if task.is_done else _OPEN_TASK_VALUE
        yield Fragment(
            group=FragmentGroup("tasks"),
            line=LineIndex(0, index),
            text=f"[{task.status}] {clip_to_line(task.title, MAX_TASK_CHARS)}",
            facts=(StateFact(f"task {index}", value),),
        )


def _list_entry(
    group: FragmentGroup, text: str, mentions: tuple[str, ...], facts: tuple[StateFact, ...] = ()
) -> Fragment:
    text = clip_to_line(text, 300)
    return Fragment(group=group, line=LineIndex(0, 0), text=text, mentions=mentions, facts=facts)


def _split_path(path: str) -> tuple[str, str]:
    """Split a path into a folder and its last two names, which mostly stand for it in a project."""
    path = clip_to_line(path, MAX_PATH_CHARS)
    folder = path.rpartition("/")[0].rpartition("/")[0]
    return (folder, path.removeprefix(f"{folder}/")) if folder else ("", path)
