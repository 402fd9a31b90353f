"""A conversation distilled in place: every message keeps its place, with fewer lines."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from compactctl.history.pairs import PartIndex
from compactctl.history.voices import typed_in
from compactctl.model.message import (
    FilePart,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    is_replaceable,
)
from compactctl.summaries.digest.digest import DigestRequest, build_pool, pin_texts
from compactctl.summaries.digest.fragments import (
    MIN_CHARS,
    NUMBER,
    QUOTED,
    UNREAD,
    Fragment,
    FragmentGroup,
    pieces_of,
    text_lines,
)
from compactctl.summaries.digest.render import (
    GAP,
    NOTE_IN_PLACE,
    format_note,
    join_pieces,
    render_digest,
)
from compactctl.summaries.digest.selection import FragmentPool, Selection
from compactctl.summaries.extract.passages import ToolPair, read_passages
from compactctl.summaries.extract.user_requests import budget_with
from compactctl.tokens.meter import Meter

# Units that take more tokens than these without any line are told of apart, for a heading. Chosen
# on sessions of two projects.
_COSTLY = 80
# Rewrites the longer texts in a call's arguments, which remain JSON of the same shape.
RewordArguments = Callable[[ToolCallPart, Callable[[str], str]], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class InPlaceRequest:
    """What is to be distilled in place.

    Attributes:
        digest: all originals, and the tokens for what becomes of them.
        units: the messages that stay or go together, by their index among the originals; those in
            none of them are gone already.
        immutable: the parts whose content is not to be changed.
        never_hidden: those of the messages in units that are never hidden. Lines of theirs come
            first, in at most ``never_hidden_tokens`` tokens.
        reword: rewrites the arguments of calls.
    """

    digest: DigestRequest
    units: Sequence[Sequence[int]]
    immutable: frozenset[PartIndex]
    reword: RewordArguments
    never_hidden: frozenset[int] = frozenset()
    never_hidden_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class InPlaceResult:
    """What becomes of a conversation.

    Attributes:
        text: what stands for the messages that are hidden.
        hidden: those messages, by their index among the originals.
        changed: the new content of the parts that were changed.
        tokens: what the text and all that stays take.
    """

    text: str
    tokens: int
    hidden: tuple[int, ...]
    changed: Mapping[PartIndex, str]


def distill_in_place(request: InPlaceRequest, meter: Meter) -> InPlaceResult:
    """Choose the lines that stay, of which messages, in at most the tokens that there are.

    It takes more where the words of people that last do.
    """
    draft = _Draft(request, meter)
    draft.restore_whole_units(draft.selection.grow(draft.room_left))
    return draft.result()


class _Draft:
    """What is chosen so far, and what it comes to."""

    def __init__(self, request: InPlaceRequest, meter: Meter) -> None:
        self.request, self._meter = request, meter
        count = meter.counter.count_many
        self._messages = request.digest.messages
        self._found = read_passages(
            self._messages, request.digest.cwd, staying=request.never_hidden
        )
        kept = pin_texts(self._found, request.digest, request.digest.budget, count)
        self._kept = kept.texts
        self._unit_of = {index: n for n, unit in enumerate(request.units) for index in unit}
        self._tried: dict[str, int] = {}
        self._whole: set[int] = set()
        pool, told = build_pool(request.digest, self._found, self._kept, count)
        self.selection = Selection(self._regrouped(pool), told)
        whole = request.digest
        self._budget = budget_with(
            whole.budget, kept.word_tokens, self.result().tokens, whole.spoken_tokens
        )

    def room_left(self) -> int:
        """Return the tokens left with what is chosen."""
        return self._budget - self.result().tokens

    def restore_whole_units(self, room: int) -> None:
        """Give messages all that they said, the newest first, for as many tokens as are left."""
        written = self.result()
        hidden = set(written.hidden)
        for unit in reversed(range(len(self.request.units))):
            places = [
                (PartIndex(index, at), part)
                for index in self.request.units[unit]
                for at, part in enumerate(self._messages[index].parts)
            ]
            gone = self.request.units[unit][0] in hidden
            now = sum(self._size(part, written.changed.get(at)) for at, part in places)
            cost = sum(self._meter.part(part) for _, part in places) - (0 if gone else now)
            if 0 < cost <= room:
                room -= cost
                self._whole.add(unit)

    def result(self) -> InPlaceResult:
        """Write down what is chosen."""
        chosen: dict[PartIndex, list[Fragment]] = {}
        apart: list[Fragment] = []
        for each in self.selection.fragments:
            place = self._place_of(each)
            if place is None:
                apart.append(each)
            else:
                chosen.setdefault(place, []).append(each)
        chosen_units = {self._unit_of[place.message] for place in chosen}
        shown = chosen_units | self._staying | self._whole
        hidden = tuple(i for i, unit in sorted(self._unit_of.items()) if unit not in shown)
        changed = dict(self._changes(shown, chosen))
        kept = {n: text for n, text in self._kept.items() if not self._is_there(n)}
        gone = len(hidden) + len(self._messages) - len(self._unit_of)
        note = format_note(NOTE_IN_PLACE, gone, self._found)
        text = render_digest(note, self._found, kept, apart, gaps=self.request.digest.mark_gaps)
        parts = (
            (PartIndex(index, at), part)
            for unit in shown
            for index in self.request.units[unit]
            for at, part in enumerate(self._messages[index].parts)
        )
        sizes = sum(self._size(part, changed.get(place)) for place, part in parts)
        tokens = self._text_size(text) + sizes
        return InPlaceResult(text=text, hidden=hidden, changed=changed, tokens=tokens)

    @cached_property
    def _staying(self) -> frozenset[int]:
        """The units that always stay, among them those with what is always quoted."""
        quoted = {self._found[n].part_index.message for n in self._kept}
        indices = quoted | self.request.never_hidden
        return frozenset(self._unit_of[index] for index in indices if index in self._unit_of)

    @cached_property
    def _passages(self) -> Mapping[PartIndex, int]:
        """The passage of each part; of several the one that is always quoted."""
        ordered = sorted(range(len(self._found)), key=lambda n: n in self._kept)
        return {self._found[n].part_index: n for n in ordered}

    def _is_there(self, number: int) -> bool:
        return self._found[number].part_index.message in self._unit_of

    def _place_of(self, each: Fragment) -> PartIndex | None:
        """Return the part that a fragment is in, None where it is told of apart."""
        if each.group.section not in QUOTED:
            return None
        place = self._found[each.line.passage].part_index
        unit = self._unit_of.get(place.message)
        return None if unit is None or unit in self._expensive_units else place

    @cached_property
    def _expensive_units(self) -> frozenset[int]:
        """The units that take more without any line than a heading for their lines would."""
        units = range(len(self.request.units))
        return frozenset(n for n in units if self._bare_size(n) > _COSTLY)

    def _regrouped(self, pool: FragmentPool) -> FragmentPool:
        """Let fragments stand under their unit, which costs what is left of it without them."""
        fragments: list[Fragment] = []
        tokens: list[int] = []
        headings = dict(pool.headings)
        costs = [self._bare_size(n) for n in range(len(self.request.units))]
        for each, size in zip(pool.fragments, pool.tokens, strict=True):
            place = self._place_of(each)
            if place is None:
                fragments.append(each)
                tokens.append(size)
                continue
            unit = self._unit_of[place.message]
            is_unread = place.message in self.request.never_hidden
            group = FragmentGroup("unread" if is_unread else "course", unit, "unit")
            names = (*headings.get(group, (0, ()))[1], *pool.headings[each.group][1])
            headings[group] = (costs[unit], tuple(dict.fromkeys(names)))
            again = max(each.reuse_value, UNREAD) if is_unread else each.reuse_value
            fragments.append(replace(each, group=group, reuse_value=again))
            # What cannot be shortened comes with its unit.
            tokens.append(0 if place in self.request.immutable else size)
        most = {**pool.section_limits, "unread": self.request.never_hidden_tokens}
        return replace(
            pool, fragments=fragments, tokens=tokens, headings=headings, section_limits=most
        )

    def _bare_size(self, unit: int) -> int:
        """Return the tokens of a unit of which no line is chosen."""
        if unit in self._staying:
            return 0
        changed = dict(self._changes({unit}, {}))
        return sum(
            self._size(part, changed.get(PartIndex(index, at)))
            for index in self.request.units[unit]
            for at, part in enumerate(self._messages[index].parts)
        )

    def _size(self, part: Part, text: str | None) -> int:
        if text is None:
            return self._meter.part(part)
        tool = self._meter.text(part.tool) if isinstance(part, ToolCallPart) else 0
        return tool + self._text_size(text)

    def _text_size(self, text: str) -> int:
        if text not in self._tried:
            self._tried[text] = self._meter.text_uncached(text)
        return self._tried[text]

    def _changes(
        self, units: set[int] | frozenset[int], chosen: Mapping[PartIndex, Sequence[Fragment]]
    ) -> Iterator[tuple[PartIndex, str]]:
        """Yield the new content of the parts of these units that have one."""
        cut = sorted(units - self._whole)
        indices = sorted(index for unit in cut for index in self.request.units[unit])
        for index in indices:
            for at, part in enumerate(self._messages[index].parts):
                place = PartIndex(index, at)
                if place in self.request.immutable:
                    continue
                text = self._content(place, part, chosen.get(place, ()))
                if text is not None:
                    yield place, text

    def _content(self, place: PartIndex, part: Part, chosen: Sequence[Fragment]) -> str | None:
        """Return the new content of a part, None where it stays as it is."""
        if isinstance(part, TextPart) and part.typed:
            # What a person typed would no longer be told from what a client put around it.
            return None
        number = self._passages.get(place)
        if number is not None and number in self._kept:
            text = self._kept[number]
            is_cut = isinstance(part, TextPart) and text != part.text.strip()
            return text if is_cut and is_replaceable(part) else None
        match part:
            case TextPart(embedded=False, typed="", text=old):
                new = _marked(old, _shortened(old, chosen, gaps=self.request.digest.mark_gaps))
                return new if len(new) < len(old) else None
            case ToolCallPart(embedded=False):
                lines = {line for each in chosen for line in _line_variants(each.text)}
                lines |= _beginning(None if number is None else self._found[number].pair)
                gaps = self.request.digest.mark_gaps
                new = self.request.reword(part, lambda text: _with_lines(text, lines, gaps=gaps))
                return new if new != part.arguments else None
            case (
                TextPart(embedded=False, text=old)
                | FilePart(text=old)
                | ToolResultPart(cleared=False, media=(), text=old)
            ):
                new = _shortened(old, chosen, gaps=self.request.digest.mark_gaps)
                return new if len(new) < len(old) else None
            case _:
                return None


def _beginning(pair: ToolPair | None) -> set[str]:
    """Return the piece that a command begins with, which always stays."""
    command = pair.command if pair else None
    pieces = pieces_of(0, command or "")
    return {text.strip() for place, piece, text in pieces if not (place.line or piece)}


def _shortened(text: str, chosen: Sequence[Fragment], *, gaps: bool) -> str:
    """Return the lines of a text that were chosen, with a mark where others are left out."""
    rows = text_lines(text)
    lines: list[str] = []
    after = 0
    ordered = sorted(chosen, key=lambda each: (each.line.line, each.piece))
    for row, pieces in groupby(ordered, key=lambda each: each.line.line):
        between = _between(rows[after:row])
        is_marked = gaps and not NUMBER.match(rows[row])
        lines += between if is_marked or between != (GAP,) else ()
        lines.append(join_pieces(list(pieces)))
        after = row + 1
    return "\n".join((*lines, *_between(rows[after:])))


def _marked(text: str, lines: str) -> str:
    """Return ``lines`` of a client's text such that it still reads as the client's.

    Its first line, a mark or the beginning of a block, always stays; so does its last where that
    is needed to end the block. Where both are not enough, all of ``text`` stays.
    """
    first, _, rest = text.strip().partition("\n")
    last = rest.rpartition("\n")[2].strip()
    marks = {first.strip(), last}
    inner = [line for line in lines.strip().split("\n") if line.strip() not in marks]
    texts = ("\n".join((first, *inner)), "\n".join((first, *inner, last)))
    # A text that no mark gives away is known by its record, or by how it begins.
    is_marked = typed_in(text) == ""
    return next((new for new in texts if not (is_marked and typed_in(new))), text)


def _between(rows: Sequence[str]) -> Sequence[str]:
    """Return what stands for rows that were not chosen: those that say nothing stay."""
    return rows if all(len(row.strip()) < MIN_CHARS for row in rows) else (GAP,)


def _with_lines(text: str, lines: set[str], *, gaps: bool) -> str:
    """Return a text with only those of its lines, or pieces of them, that were chosen."""
    found: list[Fragment] = []
    for place, piece, part in pieces_of(0, text):
        if part.strip() in lines:
            found.append(
                Fragment(group=FragmentGroup("course"), line=place, piece=piece, text=part)
            )
    return _shortened(text, found, gaps=gaps)


def _line_variants(line: str) -> tuple[str, str]:
    """Return a line of a call, also without the name of the argument that it may begin."""
    return line.strip(), line.partition(": ")[2].strip()
