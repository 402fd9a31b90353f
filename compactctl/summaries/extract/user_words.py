"""Decide what of the user's and the operator's words stays, verbatim, in a given room."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import dropwhile, groupby

from msgspec import Struct

from compactctl.model.own_texts import GAP
from compactctl.records import Record, field
from compactctl.summaries.extract.budget import MIN_USEFUL
from compactctl.summaries.extract.own_passages import SPOKEN
from compactctl.summaries.extract.passages import Passage
from compactctl.summaries.extract.rule_words import MAX_TYPED, is_rule
from compactctl.summaries.extract.sentences import sentences, without_marks
from compactctl.summaries.extract.text_units import Unit, is_data, split_units
from compactctl.tokens.memory import Once, call

CUT = GAP
"""The line that stands for what is left out of a text."""
_CODE = re.compile(r"^\s*(```|~~~).*?(?:^\s*\1|\Z)", re.MULTILINE | re.DOTALL)
_REPEATED_CUT = re.compile(rf"^{CUT}(?:\n{CUT})+$", re.MULTILINE)
# Tokens that the newest and the first request may take together however small the room is, and so
# may the rules of the operator.
_MIN_ENDS = 400
# A text that does not fit whole is filled up before the next one until the room is full to this
# share.
_FULL_PERCENT = 90
# A text of the user of up to so many tokens comes before parts of large ones.
_SHORT_TOKENS = 60
# Texts of the user of up to ``whole_tokens`` may take this part of the room before all others: a
# fifth of the conversation, where the words may take half of it.
_WHOLE_PART = Fraction(2, 5)
# The operator's instructions may take this part of what the user's words leave of the room.
_OPERATOR_PART = 2


class UserWords(Record):
    """What is quoted of the user and the operator, by passage index.

    Attributes:
        texts: whole texts, and texts with ``CUT`` on a line of its own where something is left out.
        rules_only: the texts of which nothing but rules is quoted, without the newest and the
            first request.
        omitted: runs of texts of the user, in order, of which nothing is quoted; whoever shows the
            others marks each run.
        tokens: their size without marks.
    """

    texts: Mapping[int, str]
    rules_only: frozenset[int]
    omitted: tuple[tuple[int, ...], ...]
    tokens: int


def choose_words(  # noqa: PLR0913 - what is read, what it may take, and what else is known
    passages: Sequence[Passage],
    room: int,
    count: Callable[[str], int],
    following: Sequence[Passage] = (),
    *,
    continues: bool = False,
    whole_tokens: int = 0,
    once: Once = call,
) -> UserWords:
    """Choose what stays of what the user and the operator said, in at most ``room`` tokens.

    All of it if it fits. Otherwise whole texts as far as they fit: the newest request, the first
    one, and the user's other requests and answers, newest first, of which those of up to
    ``whole_tokens`` come before larger ones in two fifths of the room; then the operator's
    instructions, newest first. Then the short ones of the others, whole paragraphs and lists in the
    same order, and sentences of paragraphs that are too large. Rules of the user stay even if they
    exceed the room, and so do descriptions of what is attached, and up to 400 tokens of the newest
    and the first request. Rules of the operator stay as far as they fit in half of the room, or in
    400 tokens.

    A text that occurs again, or in ``following``, the messages that stay, counts once. With
    requests in ``following``, none of the passages is the newest; with ``continues``, none is the
    first. Words that only a text that looks like a digest reports come after all that somebody
    typed, and their rules have to fit, too.
    """
    ends = _ends(passages, following, continues=continues)
    drafts = {
        index: _TextDraft(text=passages[index].text.strip(), count=count, once=once)
        for index in _by_precedence(passages, following, ends)
    }
    if sum(draft.tokens for draft in drafts.values()) <= room:
        for draft in drafts.values():
            draft.add_whole(draft.tokens)
    else:
        is_operator = {index: passages[index].kind == "instruction" for index in drafts}
        is_proven = {index: passages[index].is_proven for index in drafts}
        is_limited = {index: is_operator[index] or not is_proven[index] for index in drafts}
        _add_rules(drafts, following, is_limited, max(room // _OPERATOR_PART, _MIN_ENDS))
        for index, draft in drafts.items():
            if passages[index].is_attachment and is_proven[index]:
                draft.add_whole(draft.tokens)
        used = sum(draft.used for draft in drafts.values())
        used += _fill_ends([drafts[i] for i in drafts if i in ends], max(room, _MIN_ENDS) - used)
        typed, reported = (
            [drafts[i] for i in drafts if not is_operator[i] and is_proven[i] is proven]
            for proven in (True, False)
        )
        whole_room = min(int(room * _WHOLE_PART), room - used)
        used += _fill_whole(typed, whole_tokens, whole_room)
        used += _fill(typed, room - used)
        used += _fill(reported, room - used)
        if all(draft.is_whole for draft in typed) and reported:
            used += reported[0].grow(_MIN_ENDS - used)
        _fill([drafts[i] for i in drafts if is_operator[i]], (room - used) // _OPERATOR_PART)
    chosen = {index: drafts[index] for index in sorted(drafts) if drafts[index].chosen}
    return UserWords(
        texts={index: draft.render() for index, draft in chosen.items()},
        rules_only=frozenset(i for i in chosen if i not in ends and chosen[i].has_only_rules),
        omitted=tuple(_omitted_runs(passages, drafts)),
        tokens=sum(draft.used for draft in chosen.values()),
    )


def _omitted_runs(
    passages: Sequence[Passage], drafts: Mapping[int, "_TextDraft"]
) -> Iterator[tuple[int, ...]]:
    """Yield the runs of the user's texts of which nothing is chosen.

    Those that an earlier summary left out are such texts, too.
    """
    run: list[int] = []
    for index, passage in enumerate(passages):
        if index in drafts and drafts[index].chosen:
            if run:
                yield tuple(run)
            run = []
        elif passage.kind in {"request", "answer"} and (index in drafts or is_mark(passage)):
            run.append(index)
    if run:
        yield tuple(run)


def is_mark(passage: Passage) -> bool:
    """Whether a passage stands for words of the user that an earlier summary left out."""
    return passage.kind in SPOKEN and passage.text.strip() == CUT


def budget_with(budget: int, word_tokens: int, min_tokens: int, spoken_tokens: int = 0) -> int:
    """Return the budget of a text, raised if the words in it take more.

    The words are quoted whatever they take. If they exceed the budget, the text may have
    ``min_tokens``, which it needs with nothing but the words, plus up to ``MIN_USEFUL`` to be worth
    reading. ``spoken_tokens`` are words outside of the text that count against the budget.

        budget 2,000, words 500:  2,000        budget 2,000, words 5,000, min 5,100:  5,700
    """
    total = budget + spoken_tokens
    is_exceeded = 0 < total < word_tokens + spoken_tokens
    return min_tokens + min(MIN_USEFUL, total) if is_exceeded else budget


def spoken_passages(passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages in which the user or the operator speaks.

    Without the leading system prompt, which no compaction removes.
    """
    conversation = dropwhile(lambda passage: passage.kind == "instruction", passages)
    return [passage for passage in conversation if passage.kind in SPOKEN]


def user_requests(passages: Sequence[Passage]) -> list[tuple[Passage, str]]:
    """Return the requests with their text; a repeated one counts once, where it is newest.

    The first request is always included.
    """
    requests = [(p, p.text.strip()) for p in passages if p.kind == "request"]
    newest = {text: index for index, (_, text) in enumerate(requests)}
    return [
        (passage, text)
        for index, (passage, text) in enumerate(requests)
        if index in (0, newest[text])
    ]


def find_user_rules(passages: Sequence[Passage]) -> list[tuple[Passage, str]]:
    """Return the rules that the user set, each on one line; of equal rules the newest."""
    newest = {
        _key(rule): (passage, " ".join(rule.split()))
        for passage in spoken_passages(passages)
        for rule in find_rules(passage.text)
    }
    return list(newest.values())


def find_rules(text: str) -> list[str]:
    """Return the units of a text that set a rule: sentences with what they introduce, and lists."""
    return [text[unit.start : unit.end] for unit, rule in _marked_units(text) if rule]


def _by_precedence(
    passages: Sequence[Passage], following: Sequence[Passage], ends: Mapping[int, int]
) -> list[int]:
    """Return the distinct spoken passages, those first that stay first."""
    stays = {CUT, *(p.text.strip() for p in following if p.kind in SPOKEN and p.is_proven)}
    spoken = (index for index, passage in enumerate(passages) if passage.kind in SPOKEN)
    by_proof = sorted(spoken, key=lambda index: passages[index].is_proven)
    newest = {passages[index].text.strip(): index for index in by_proof}
    reported = (i for i in newest.values() if not passages[i].is_proven)
    first = next((i for i in sorted(reported) if passages[i].kind == "request"), None)

    def precedence(index: int) -> tuple[bool, int, int]:
        is_reported = not passages[index].is_proven
        if index in ends or index == first:
            return is_reported, ends.get(index, 1), index
        return is_reported, 3 if passages[index].kind == "instruction" else 2, -index

    indexes = (index for text, index in newest.items() if text not in stays)
    return sorted(indexes, key=precedence)


def _ends(
    passages: Sequence[Passage], following: Sequence[Passage], *, continues: bool
) -> dict[int, int]:
    """Return the passages of the newest request, with 0, and of the first one, with 1.

    Both are of those that somebody typed.
    """
    requests = [i for i, p in enumerate(passages) if p.kind == "request" and not is_mark(p)]
    typed = [index for index in requests if passages[index].is_proven]
    holds_newest = not any(passage.kind == "request" for passage in following)
    ends: dict[int, int] = {}
    for number, end in ((1, typed[:1] * (not continues)), (0, typed[-1:] * holds_newest)):
        ends |= {i: number for i in requests for e in end if _is_same_message(passages, i, e)}
    return ends


def _is_same_message(passages: Sequence[Passage], index: int, other: int) -> bool:
    """Whether two passages are the same, or different parts of one message."""
    first, second = passages[index], passages[other]
    if first.part_index.message != second.part_index.message or not second.is_proven:
        return index == other
    return index == other or first.part_index.part != second.part_index.part


class _TextDraft(Struct, kw_only=True):
    """What is chosen so far of one text.

    Attributes:
        text: the whole text.
        count: counts the tokens of a text.
        once: how what depends on the text alone is computed.
        units: its units.
        rules: the units that set a rule.
        chosen: the units that are quoted.
        used: the tokens of what is quoted.
        tokens: the size of the whole text.
        unit_tokens: the size of units, as far as they were counted.
    """

    text: str
    count: Callable[[str], int]
    once: Once
    units: Sequence[Unit] = ()
    rules: frozenset[int] = frozenset()
    chosen: set[int] = field(default_factory=set)
    used: int = 0
    tokens: int = 0
    unit_tokens: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Split the text and count its tokens."""
        self.tokens = self.count(self.text)
        marked = self.once(_marked_units, self.text)
        self.units = tuple(unit for unit, _ in marked)
        self.rules = frozenset(index for index, (_, rule) in enumerate(marked) if rule)

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return len(self.chosen) == len(self.units)

    @property
    def has_only_rules(self) -> bool:
        """Whether all that is quoted are rules."""
        return self.chosen <= self.rules

    def add_whole(self, room: int) -> int:
        """Choose all of it if that fits in ``room`` more tokens; return the tokens added."""
        added = self.tokens - self.used
        if self.is_whole or added > room:
            return 0
        self.chosen, self.used = set(range(len(self.units))), self.tokens
        return added

    def grow(self, room: int) -> int:
        """Choose what fits in ``room`` more tokens; return the tokens added.

        These are paragraphs and lists in order, and then of each that is too large the first and
        the last sentence, and the others in order.
        """
        before = self.used
        blocks: dict[int, list[int]] = {}
        for index, unit in enumerate(self.units):
            blocks.setdefault(unit.block, []).append(index)
        for members in blocks.values():
            self.add(members, room - (self.used - before))
        for first, *others in blocks.values():
            for index in (first, *others[-1:], *others[:-1]):
                self.add((index,), room - (self.used - before))
        return self.used - before

    def add(self, indexes: Iterable[int], room: float) -> None:
        """Choose units, with the introductions of items, if they fit in ``room`` more tokens."""
        heads = (self.units[index].head for index in indexes)
        new = {*indexes, *(head for head in heads if head is not None)} - self.chosen
        added = sum(map(self._unit_tokens, new))
        if new and added <= room:
            self.chosen |= new
            self.used += added

    def _unit_tokens(self, index: int) -> int:
        if index not in self.unit_tokens:
            self.unit_tokens[index] = self.count(self._slice(index, index))
        return self.unit_tokens[index]

    def render(self) -> str:
        """Return what is chosen, with a mark wherever something is left out."""
        if self.is_whole:
            return self.text
        lines: list[str] = []
        for start, end in _runs(self.chosen):
            if start:
                lines.append(CUT)
            lines.append(self._slice(start, end))
        if self.units and len(self.units) - 1 not in self.chosen:
            lines.append(CUT)
        # A text that an earlier compaction cut has marks of its own.
        return _REPEATED_CUT.sub(CUT, "\n".join(lines))

    def _slice(self, first: int, last: int) -> str:
        return self.text[self.units[first].start : self.units[last].end]


def _add_rules(
    drafts: Mapping[int, _TextDraft],
    following: Sequence[Passage],
    is_limited: Mapping[int, bool],
    room: int,
) -> None:
    """Choose the rules of all texts, those of limited ones as far as they fit in ``room`` tokens.

    Of equal rules only the newest is chosen, unless it stays anyway.
    """
    # Whole units: a part of "Never push old tags." is another rule.
    spoken = (p for p in following if p.kind in SPOKEN and p.is_proven)
    stays = {key for passage in spoken for key in _keys(passage.text)}
    owners: dict[str, tuple[int, int]] = {}
    # The last one wins: the newest, but one without a limit before those with one.
    for index in sorted(drafts, key=lambda index: (not is_limited[index], index)):
        draft = drafts[index]
        owners |= {_key(draft.text[u.start : u.end]): (index, n) for n, u in _rule_units(draft)}
    for key, (index, unit) in owners.items():
        draft = drafts[index]
        if key not in stays and is_limited[index]:
            before = draft.used
            draft.add((unit,), room)
            room -= draft.used - before
        elif key not in stays:
            draft.add((unit,), float("inf"))


def _fill_whole(drafts: Iterable[_TextDraft], max_tokens: int, room: int) -> int:
    """Choose whole texts of up to ``max_tokens`` in order, those that fit in what is left.

    Return the tokens added.
    """
    remaining = room
    for draft in drafts:
        if draft.tokens <= max_tokens:
            remaining -= draft.add_whole(remaining)
    return room - remaining


def _fill_ends(drafts: Sequence[_TextDraft], room: int) -> int:
    """Choose the newest and the first request, as far as they fit; return the tokens added."""
    remaining = room
    for draft in drafts:
        remaining -= draft.add_whole(remaining)
        # If both are too large, neither displaces the other.
        remaining -= draft.grow(remaining // 2)
    return room - remaining


def _fill(drafts: Sequence[_TextDraft], room: int) -> int:
    """Choose whole texts in order as far as they fit, then short ones, then parts.

    Return the tokens added.
    """
    remaining = room
    for draft in drafts:
        remaining -= draft.add_whole(remaining)
        if not draft.is_whole:
            break
    for draft in drafts:
        if draft.tokens <= _SHORT_TOKENS:
            remaining -= draft.add_whole(remaining)
    for draft in drafts:
        if (room - remaining) * 100 >= room * _FULL_PERCENT:
            break
        remaining -= draft.grow(remaining)
    return room - remaining


def _rule_units(draft: _TextDraft) -> Iterator[tuple[int, Unit]]:
    return ((index, draft.units[index]) for index in sorted(draft.rules))


def _runs(indexes: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last of each run of consecutive indexes."""
    run: tuple[int, int] | None = None
    for index in sorted(indexes):
        if run and index == run[1] + 1:
            run = run[0], index
            continue
        if run:
            yield run
        run = index, index
    if run:
        yield run


def _marked_units(text: str) -> Sequence[tuple[Unit, bool]]:
    """Return the units of a text, each with whether it sets a rule."""
    units = split_units(text)
    typed_blocks = set(_typed_blocks(text, units))
    rules: list[bool] = []
    for unit in units:
        is_typed = unit.block in typed_blocks
        sets_rule = unit.head is not None and _is_rule_sentence(
            text, units[unit.head], is_typed=is_typed
        )
        sets_rule = sets_rule or _sets_rule(text, unit, is_typed=is_typed)
        rules.append(sets_rule)
    return list(zip(units, rules, strict=True))


def _typed_blocks(text: str, units: Sequence[Unit]) -> Iterator[int]:
    """Yield the paragraphs, lists and code blocks that were not pasted, as far as they show it."""
    for block, members in groupby(units, key=lambda unit: unit.block):
        first, *others = members
        start, end = first.start, (others or [first])[-1].end
        if end - start <= MAX_TYPED and not is_data(text[start:end]):
            yield block


def _sets_rule(text: str, unit: Unit, *, is_typed: bool) -> bool:
    if unit.kind == "sentence" and _is_rule_sentence(text, unit, is_typed=is_typed):
        return True
    # A list, or the one that a sentence introduces. Code is data. Most lists in a long text
    # describe something.
    start = unit.sentence_end if unit.kind == "sentence" else unit.start
    listed = _CODE.sub("", text[start : unit.end])
    if len(listed) > MAX_TYPED:
        return False
    is_typed = is_typed and len(text) <= MAX_TYPED
    return any(is_rule(item, is_typed=is_typed) for item in sentences(listed))


def _is_rule_sentence(text: str, unit: Unit, *, is_typed: bool) -> bool:
    return is_rule(without_marks(text[unit.start : unit.sentence_end]), is_typed=is_typed)


def _keys(text: str) -> Iterator[str]:
    return (_key(text[unit.start : unit.end]) for unit in split_units(text))


def _key(rule: str) -> str:
    return " ".join(rule.lower().split())
