"""Distill a conversation in place: messages keep their positions, with fewer lines."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from operator import itemgetter
from typing import NamedTuple

from compactctl.history.pairs import PartIndex
from compactctl.history.stand_ins import message_count
from compactctl.model.message import (
    FilePart,
    MediaPart,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    is_replaceable,
)
from compactctl.model.own_texts import GAP, OwnDigest
from compactctl.records import Record, replace
from compactctl.summaries.digest.digest import (
    DigestRequest,
    build_pool,
    passages_of,
    pin_texts,
    search_note,
)
from compactctl.summaries.digest.fragments import (
    QUOTED_SECTIONS,
    UNREAD_VALUE,
    Fragment,
    FragmentGroup,
)
from compactctl.summaries.digest.hunks import Hunk
from compactctl.summaries.digest.lines import (
    PieceSpan,
    QuotableLine,
    QuotableText,
    pieces_of,
    plain_text,
    quotable_text,
    replaced_sources,
    shown_lines,
    sources_in_heading,
)
from compactctl.summaries.digest.render import fill_digest, places
from compactctl.summaries.digest.selection import FragmentPool, Selection
from compactctl.summaries.extract.passages import Passage
from compactctl.summaries.extract.user_words import budget_with
from compactctl.tokens.memory import Once
from compactctl.tokens.meter import Meter

# A unit that takes more tokens than this without any line is hidden; its lines are quoted in the
# digest for the price of a heading. Tuned on sessions of two projects.
_EXPENSIVE = 80
# Quoting the heading of a unit in the digest makes room for other lines.
_ROUNDS = 2
# A text of so many characters stays whole, rather than a mark in its place.
_MAX_WHOLE_CHARS = 120
# A line that begins or ends with a tag.
_TAG_LINE = re.compile(r"\s*</?[A-Za-z][\w-]*(?:\s[^>]*)?>.*|.*</[A-Za-z][\w-]*>\s*")
# Rewrites the longer texts in a call's arguments, which remain JSON of the same shape.
RewordArguments = Callable[[ToolCallPart, Callable[[int, str], str]], str]


class InPlaceRequest(Record):
    """A conversation to distill in place; messages are indexes of the originals.

    Attributes:
        digest: all originals, and the budget for the digest and the messages that stay.
        units: messages that stay or are hidden together, such as a call and its result. Originals
            in no unit are hidden already.
        immutable: parts whose content must not change.
        never_hidden: messages in units that always stay. Their lines are chosen first, for at most
            ``never_hidden_tokens`` tokens.
        unmovable: other messages in units that always stay.
        reword: rewrites the arguments of calls.
    """

    digest: DigestRequest
    units: Sequence[Sequence[int]]
    immutable: frozenset[PartIndex]
    reword: RewordArguments
    never_hidden: frozenset[int] = frozenset()
    never_hidden_tokens: int = 0
    unmovable: frozenset[int] = frozenset()


class InPlaceResult(Record):
    """A distilled conversation.

    Attributes:
        text: the digest that replaces the hidden messages.
        tokens: size of the digest and of all messages that stay.
        hidden: the hidden messages, by their index among the originals.
        changed: the new content of the parts that change.
        note: which messages were too many to be searched; "" if none were.
    """

    text: str
    tokens: int
    hidden: tuple[int, ...]
    changed: Mapping[PartIndex, str]
    note: str = ""


def distill_in_place(request: InPlaceRequest, meter: Meter) -> InPlaceResult:
    """Choose which messages stay with which lines, within the budget.

    The lasting words of the user always stay, even if they exceed it.
    """
    draft = _Draft(request, meter)
    for _ in range(_ROUNDS):
        draft.selection.grow(draft.room_left)
        draft.quote_bare_units()
    draft.restore_whole_units(draft.room_left())
    return draft.result()


class _Draft:
    """The fragments chosen so far, and the result if no more are chosen.

    A fragment stays in its message, and the price of its heading is what the unit of that message
    takes without any line:

        unit (call, result):  40 tokens bare + 12 for one line + 9 for another

    List entries, and lines of messages that are hidden already or in an expensive unit, are quoted
    in the digest. There always is one, for which the oldest unit that may go is hidden: it explains
    the marks, and without it nobody could tell that the conversation was distilled before.
    """

    def __init__(self, request: InPlaceRequest, meter: Meter) -> None:
        self.request, self._meter = request, meter
        # Most of what changes from one round to the next are lines in their messages.
        self._digest_size = lru_cache(1)(meter.text_uncached)
        self._once = meter.memory.once
        self._messages = request.digest.messages
        self._passages = passages_of(request.digest, self._once)
        pinned = pin_texts(request.digest, request.digest.budget, meter)
        self._pinned, self._omitted = pinned.texts, pinned.omitted
        self._unit_of = {index: n for n, unit in enumerate(request.units) for index in unit}
        self._whole_units: set[int] = set()
        # The lines that were chosen when the sizes below were last brought up to date.
        self._placed: list[int] = []
        self._lines: dict[PartIndex, list[Fragment]] = {}
        self._quoted: list[int] = []
        self._sizes = {unit: self._unit_size(unit) for unit in self._permanent_units}
        pool, mentioned = build_pool(request.digest, self._pinned, meter)
        self._fragments = pool.fragments
        part_of = cache(self._find_part)
        self._part_of = [
            part_of(fragment.line.passage) if fragment.group.section in QUOTED_SECTIONS else None
            for fragment in pool.fragments
        ]
        self.selection = Selection(self._grouped_by_unit(pool), mentioned)
        digest = request.digest
        self._budget = budget_with(
            digest.budget, pinned.word_tokens, self._tokens(), digest.spoken_tokens
        )

    def room_left(self) -> int:
        """Return the tokens that remain with what is chosen; negative if it exceeds the budget."""
        return self._budget - self._tokens()

    def quote_bare_units(self) -> None:
        """Quote in the digest the headings of units of which no line is chosen."""
        self._update()
        bare = {
            unit
            for unit in self._sizes.keys() - self._permanent_units
            if not any(
                line.text
                for index, _ in self._parts_of(unit)
                for line in self._lines.get(index, ())
            )
        }
        if bare:
            self._part_of = [
                None if part and self._unit_of[part.message] in bare else part
                for part in self._part_of
            ]
            self._placed, self._lines, self._quoted = [], {}, []
            self._sizes = {unit: self._unit_size(unit) for unit in self._permanent_units}

    def restore_whole_units(self, room: int) -> None:
        """Restore whole messages, the newest first, as far as ``room`` tokens allow."""
        self._update()
        for unit in reversed(range(len(self.request.units))):
            whole = sum(self._meter.part(part) for _, part in self._parts_of(unit))
            cost = whole - self._sizes.get(unit, 0)
            if 0 < cost <= room and unit != self._always_hidden:
                room -= cost
                self._whole_units.add(unit)
                self._sizes[unit] = whole

    def result(self) -> InPlaceResult:
        """Return the result of what is chosen so far."""
        self._update()
        text = self._digest()
        units = (unit for unit in self._sizes if unit not in self._whole_units)
        parts = sorted((item for unit in units for item in self._parts_of(unit)), key=itemgetter(0))
        contents = ((index, self._content(index, part)) for index, part in parts)
        return InPlaceResult(
            text=text,
            tokens=self._size_with(text),
            hidden=self._hidden(),
            changed={index: text for index, text in contents if text is not None},
            note=search_note(self._passages, self.request.digest.budget),
        )

    def _tokens(self) -> int:
        """Return the size of the digest and of all messages that stay with what is chosen."""
        self._update()
        return self._size_with(self._digest())

    def _size_with(self, digest: str) -> int:
        """Return the size of ``digest`` and of all messages that stay, as last updated."""
        return self._digest_size(digest) + sum(self._sizes.values())

    def _update(self) -> None:
        """Write and count the units anew whose lines were chosen or dropped since the last time."""
        chosen = list(self.selection.chosen)
        pairs = enumerate(zip(chosen, self._placed, strict=False))
        length = min(len(chosen), len(self._placed))
        same = next((n for n, (new, old) in pairs if new != old), length)
        parts = set[PartIndex]()
        for index in reversed(self._placed[same:]):
            part = self._part_of[index]
            if part is None:
                self._quoted.pop()
            else:
                self._lines[part].pop()
                parts.add(part)
        for index in chosen[same:]:
            part = self._part_of[index]
            if part is None:
                self._quoted.append(index)
            else:
                self._lines.setdefault(part, []).append(self.selection.fragment(index))
                parts.add(part)
        self._placed = chosen
        for unit in {self._unit_of[part.message] for part in parts}:
            is_cut = any(self._lines.get(index) for index, _ in self._parts_of(unit))
            if is_cut or unit in self._permanent_units:
                self._sizes[unit] = self._unit_size(unit)
            else:
                del self._sizes[unit]

    def _digest(self) -> str:
        """Return the digest of what is chosen, "" if it stands for no hidden message."""
        gone = [n for n in range(len(self._messages)) if not self._stays(n)]
        if not gone:
            return ""
        pinned = {n: text for n, text in self._pinned.items() if not self._is_in_unit(n)}
        for run in self._omitted:
            hidden = [n for n in run if not self._is_visible(n)]
            pinned |= dict.fromkeys(hidden[:1], GAP)
        digest = OwnDigest(
            count=sum(map(self._counts.__getitem__, gone)),
            following=self.request.digest.n_following + len(self._messages) - gone[0] - len(gone),
            is_in_place=True,
        )
        fragments = [self._fragments[index] for index in self.selection.listed(self._quoted)]
        return fill_digest(digest, self._passages, pinned, fragments, self._once).encode()

    def _stays(self, message: int) -> bool:
        return self._unit_of.get(message) in self._sizes

    def _hidden(self) -> tuple[int, ...]:
        """Return the hidden messages."""
        return tuple(i for i, unit in sorted(self._unit_of.items()) if unit not in self._sizes)

    def _parts_of(self, unit: int) -> Iterator[tuple[PartIndex, Part]]:
        for message in self.request.units[unit]:
            for position, part in enumerate(self._messages[message].parts):
                yield PartIndex(message, position), part

    @cached_property
    def _counts(self) -> Sequence[int]:
        """How many messages each message stands for."""
        return [message_count([message]) for message in self._messages]

    @cached_property
    def _permanent_units(self) -> frozenset[int]:
        """The units that always stay: those with pinned texts, and those that are never hidden."""
        pinned = {self._passages[n].part_index.message for n in self._pinned}
        messages = pinned | self.request.never_hidden | self.request.unmovable
        return frozenset(self._unit_of[index] for index in messages if index in self._unit_of)

    @cached_property
    def _always_hidden(self) -> int | None:
        """The unit that is hidden for the digest, None if others are hidden already."""
        if len(self._unit_of) < len(self._messages):
            return None
        units = range(len(self.request.units))
        return next((unit for unit in units if unit not in self._permanent_units), None)

    @cached_property
    def _passage_of(self) -> Mapping[PartIndex, int]:
        """The passage of each part; the pinned one if a part has several."""
        ordered = sorted(range(len(self._passages)), key=lambda n: n in self._pinned)
        return {self._passages[n].part_index: n for n in ordered}

    @cached_property
    def _whole_passages(self) -> Mapping[PartIndex, int]:
        """The passage of each part that is all of its text, so that both have the same lines."""
        return {
            passage.part_index: number
            for number, passage in enumerate(self._passages)
            if passage.kind == "call" or passage.text == self._text_of(passage.part_index)
        }

    def _text_of(self, index: PartIndex) -> str | None:
        part = self._messages[index.message].parts[index.part]
        return part.text if isinstance(part, TextPart | FilePart | ToolResultPart) else None

    def _is_in_unit(self, passage: int) -> bool:
        return self._passages[passage].part_index.message in self._unit_of

    def _is_visible(self, passage: int) -> bool:
        return self._stays(self._passages[passage].part_index.message)

    def _find_part(self, passage: int) -> PartIndex | None:
        """Return the part in which lines of a passage stay, None if the digest quotes them."""
        index = self._passages[passage].part_index
        unit = self._unit_of.get(index.message)
        if unit is None or unit == self._always_hidden or self._bare_sizes[unit] > _EXPENSIVE:
            return None
        return index if self._whole_passages.get(index) == passage else None

    @cached_property
    def _bare_sizes(self) -> Sequence[int]:
        """The tokens of each unit without any chosen line; 0 if it stays in any case."""
        units = range(len(self.request.units))
        return [0 if unit in self._permanent_units else self._unit_size(unit) for unit in units]

    def _grouped_by_unit(self, pool: FragmentPool) -> FragmentPool:
        """Group fragments that stay in place by their unit, at the price of the bare unit."""
        fragments: list[Fragment] = []
        tokens: list[int] = []
        headings = dict(pool.headings)
        for fragment, size, index in zip(pool.fragments, pool.tokens, self._part_of, strict=True):
            if index is None:
                fragments.append(fragment)
                tokens.append(size)
                continue
            unit = self._unit_of[index.message]
            is_unread = index.message in self.request.never_hidden
            group = FragmentGroup("unread" if is_unread else "course", unit, "unit")
            names = (*headings.get(group, (0, ()))[1], *pool.headings[fragment.group][1])
            headings[group] = (self._bare_sizes[unit], tuple(dict.fromkeys(names)))
            value = max(fragment.reuse_value, UNREAD_VALUE) if is_unread else fragment.reuse_value
            fragments.append(replace(fragment, group=group, reuse_value=value))
            # An immutable part is already counted in its bare unit.
            tokens.append(0 if index in self.request.immutable else size)
        return replace(
            pool,
            fragments=fragments,
            tokens=tokens,
            hunks=[_regrouped(hunk, fragments) for hunk in pool.hunks],
            headings=headings,
            section_limits={**pool.section_limits, "unread": self.request.never_hidden_tokens},
        )

    def _unit_size(self, unit: int) -> int:
        """Return the tokens of a unit with the lines chosen for it."""
        parts = self._parts_of(unit)
        return sum(self._size(part, self._content(index, part)) for index, part in parts)

    def _size(self, part: Part, text: str | None) -> int:
        if text is None:
            return self._meter.part(part)
        tool = self._meter.text(part.tool) if isinstance(part, ToolCallPart) else 0
        return tool + self._meter.text(text)

    def _content(self, index: PartIndex, part: Part) -> str | None:
        """Return the content of a part with the lines chosen for it, None if it is the old one."""
        if isinstance(part, TextPart) and part.own_texts and index not in self.request.immutable:
            # The digest quotes what an earlier one joined with the user's words holds.
            return part.typed or GAP
        if index in self.request.immutable or (isinstance(part, TextPart) and part.typed):
            # Cut, the user's words could no longer be told from what the client put around them.
            return None
        passage = self._passage_of.get(index)
        if isinstance(part, MediaPart):
            # Media that have room are in messages that stay as they are.
            return None if passage is None else self._passages[passage].text
        is_described = passage is not None and self._passages[passage].is_attachment
        if passage is not None and passage in self._pinned and not is_described:
            text = self._pinned[passage]
            is_cut = isinstance(part, TextPart) and text != part.text.strip()
            return text if is_cut and is_replaceable(part) else None
        number = self._whole_passages.get(index)
        if number is None:
            return None
        whole, once = self._passages[number], self._once
        pieces = tuple(places(self._lines.get(index, ())))
        match part:
            case TextPart(embedded=False, typed="", text=old):
                new = once(_with_marks, old, pieces)
                return new if len(new) < len(old) else None
            case ToolCallPart(embedded=False):
                new = once(_reworded, part, self.request.reword, _call_text(whole, once), pieces)
                return new if new != part.arguments else None
            case (
                TextPart(embedded=False, text=old)
                | FilePart(text=old)
                | ToolResultPart(cleared=False, media=(), text=old)
            ):
                new = once(_shorten, plain_text(whole, once), pieces)
                is_short = new == GAP and len(old) <= _MAX_WHOLE_CHARS
                stays_whole = is_short and self._unit_of[index.message] not in self._permanent_units
                return new if len(new) < len(old) and not stays_whole else None
            case _:
                return None


def _regrouped(hunk: Hunk, fragments: Sequence[Fragment]) -> Hunk:
    group = fragments[hunk.members[0]].group
    return replace(hunk, whole=replace(hunk.whole, group=group))


class _CallText(NamedTuple):
    """What the arguments of a call are shortened by.

    Attributes:
        text: the lines to choose from.
        texts: the strings in the arguments.
        whole: which of them stay whole: what the heading of a quotation shows is not among the
            lines.
        command: the command, which keeps its first piece; None without one.
    """

    text: QuotableText
    texts: tuple[tuple[str, str], ...]
    whole: frozenset[int]
    command: str | None


def _call_text(passage: Passage, once: Once) -> _CallText:
    text, pair = quotable_text(passage, once), passage.pair
    if pair is None:
        return _CallText(text, (), frozenset(), None)
    whole = sources_in_heading(passage, once) - replaced_sources(pair)
    return _CallText(text, pair.texts, whole, pair.command)


def _reworded(
    part: ToolCallPart,
    reword: RewordArguments,
    call: _CallText,
    pieces: tuple[tuple[int, PieceSpan], ...],
) -> str:
    return reword(part, _ArgumentPieces(call, pieces).reword)


class _ArgumentPieces:
    """The chosen pieces of a call's arguments, by the text that they are from."""

    def __init__(self, call: _CallText, pieces: Iterable[tuple[int, PieceSpan]]) -> None:
        self._texts, self._whole = call.texts, call.whole
        lines = call.text.lines
        self._pieces: dict[int, list[tuple[int, PieceSpan]]] = {}
        for index, span in (*pieces, *_command_start(call)):
            line = lines[index]
            self._pieces.setdefault(line.source, []).append((line.row, _without_label(line, span)))

    def reword(self, number: int, text: str) -> str:
        """Return what stays of the text with this number."""
        if number >= len(self._texts) or self._texts[number][1] != text:
            # Not read as an argument, as in JSON that names one twice: no line of it was chosen.
            return GAP
        return text if number in self._whole else _shorten(text, self._pieces.get(number, ()))


def _without_label(line: QuotableLine, span: PieceSpan) -> PieceSpan:
    chars = line.label_chars
    return PieceSpan(max(0, span.start - chars), span.end - chars, span.rows)


def _command_start(call: _CallText) -> Iterator[tuple[int, PieceSpan]]:
    """Yield the first piece of a call's command, which always stays."""
    for index, line in enumerate(call.text.lines if call.command else ()):
        if not line.row and call.texts[line.source][1] == call.command:
            yield next((index, span) for _, span in pieces_of([line]))
            return


def _shorten(text: str, pieces: Iterable[tuple[int, PieceSpan]]) -> str:
    """Return the chosen pieces of a text, with a mark where others are omitted."""
    shown = shown_lines(text.split("\n"), pieces, with_ends=True)
    return "\n".join(GAP if line is None else line for line in shown)


def _with_marks(text: str, pieces: Sequence[tuple[int, PieceSpan]]) -> str:
    """Return pieces of a client's text with the lines by which it is recognized as the client's.

    These are its first and its last line, and all that begin or end with a tag.

        <system-reminder>       <system-reminder>
        Line one.          ->   …
        Line two.               </system-reminder>
        </system-reminder>
    """
    lines = text.split("\n")
    visible = [row for row, line in enumerate(lines) if line.strip()]
    marks = {row for row in visible if _TAG_LINE.fullmatch(lines[row])}
    marks |= {*visible[:1], *visible[-1:]}
    others = [(row, span) for row, span in pieces if row not in marks]
    covered = {row for first, span in others for row in range(first, first + span.rows)}
    whole = ((row, PieceSpan(0, len(lines[row]))) for row in marks - covered)
    return _shorten(text, (*others, *whole)).strip()
