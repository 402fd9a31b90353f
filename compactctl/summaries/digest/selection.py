"""Which fragments a digest holds: the most of what is needed for each token."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from compactctl.summaries.digest.fragments import QUOTED, DigestSection, Fragment, Group

# Of the demand for an entity, what its mere name is worth, and a second line about it.
_NAMED = 0.65
_SECOND = 0.15
# By how much a line next to a chosen one is worth more for its own sake.
_NEIGHBOUR = 0.5
_ROUNDS = 5
_MOST_SCALE = 3.0
# Fewer tokens than these are not worth another round.
_SLACK = 30
# What each token of a line is worth at least where room is to be filled; the newest come first.
_ANY_LINE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What there is to choose from.

    Attributes:
        fragments: the fragments, those preferred among equals first.
        tokens: what each of them costs, its line end included.
        headings: what each heading costs, and the entities that it names.
        needed: the demand for each entity.
        unit: the demand for an entity that is needed; facts are worth multiples of it.
        named: of the demand for an entity, what its mere name is worth.
        most: tokens that all fragments of a section may take, headings included.
        is_filled: whether room that nothing needs goes to lines nevertheless.
    """

    fragments: Sequence[Fragment]
    tokens: Sequence[int]
    headings: Mapping[Group, tuple[int, tuple[str, ...]]]
    needed: Mapping[str, float]
    unit: float
    named: float = _NAMED
    most: Mapping[DigestSection, int] = field(default_factory=dict)
    is_filled: bool = False


class Selection:
    """A lazy greedy choice: the value of a fragment mostly falls with what is chosen before it."""

    def __init__(self, offer: Offer, mentioned: Iterable[str]) -> None:
        """Start with what is ``mentioned`` elsewhere, with words around it."""
        self._offer = offer
        self._mentioned = tuple(mentioned)
        self._used: Counter[DigestSection] = Counter()
        self._boost: Counter[int] = Counter()
        self._members: dict[Group, list[int]] = {}
        self._rows: dict[tuple[int, int], int] = {}
        self._heap: list[tuple[float, int]] = []
        self.chosen: dict[int, None] = {}
        self._note(())
        for number, each in enumerate(offer.fragments):
            self._members.setdefault(each.group, []).append(number)
            if _is_line(each) and not each.piece:
                self._rows[each.place.passage, each.place.row] = number

    @property
    def fragments(self) -> list[Fragment]:
        """What is chosen, but for bare names that stand in something else by now."""
        found = (self._offer.fragments[number] for number in self.chosen)
        return [
            each for each in found if not (_is_bare(each) and self._shown.issuperset(each.names))
        ]

    def grow(self, room_left: Callable[[], int]) -> int:
        """Choose as much as there is room for; return the tokens left.

        ``room_left`` measures what is left once all that is chosen is written down; it is less
        than 0 where what had to be written before anything was chosen takes more than there is.
        """
        room, scale = room_left(), 1.0
        for _ in range(_ROUNDS):
            if room < _SLACK:
                break
            before, priced = room, self.fill(round(room * scale))
            while (room := room_left()) < 0 and self.chosen:
                self.drop(-room)
            # Fragments that stand together cost less than each does alone.
            scale = min(_MOST_SCALE, priced / max(1, before - room))
        return room

    def fill(self, room: int) -> int:
        """Choose more, for at most ``room`` tokens; return what that costs."""
        left = room
        offered = range(len(self._offer.fragments))
        self._heap = [(-self._density(n), n) for n in offered if n not in self.chosen]
        heapq.heapify(self._heap)
        while self._heap and left > 0:
            promised, number = heapq.heappop(self._heap)
            if number in self.chosen:
                continue
            density, price = self._density(number), self._price(number)
            if density <= 0 or price > min(left, self._left(number)):
                continue
            if density < -promised:
                heapq.heappush(self._heap, (-density, number))
                continue
            left -= price
            self._used[self._section(number)] += price
            self._take(number)
        return room - left

    def drop(self, tokens: int) -> None:
        """Give back what was chosen last, until about ``tokens`` are free again.

        What it alone told is told no longer, and may be chosen in another way.
        """
        while self.chosen and tokens > 0:
            number, _ = self.chosen.popitem()
            tokens -= self._offer.tokens[number]
            self._used[self._section(number)] -= self._offer.tokens[number]
        self._note(self.chosen)

    def _section(self, number: int) -> DigestSection:
        return self._offer.fragments[number].group.section

    def _left(self, number: int) -> float:
        section = self._section(number)
        return self._offer.most.get(section, inf) - self._used[section]

    def _price(self, number: int) -> int:
        group = self._offer.fragments[number].group
        heading = 0 if group in self._opened else self._offer.headings[group][0]
        return max(1, self._offer.tokens[number] + heading)

    def _density(self, number: int) -> float:
        each, unit = self._offer.fragments[number], self._offer.unit
        value = self._worth(each.tells, each.names)
        value += sum(unit * fact.worth for fact in each.facts if fact.name not in self._facts)
        value += unit * each.again * (1 + _NEIGHBOUR * self._boost[number])
        if each.group not in self._opened:
            value += self._worth((), self._offer.headings[each.group][1])
        least = _ANY_LINE if self._offer.is_filled and _is_line(each) else 0.0
        return max(least, value / self._price(number))

    def _worth(self, tells: Sequence[str], names: Sequence[str]) -> float:
        return sum(map(self._of_line, tells)) + sum(map(self._of_name, names))

    def _of_name(self, entity: str) -> float:
        known = entity in self._named
        return 0.0 if known else self._offer.named * self._offer.needed.get(entity, 0.0)

    def _of_line(self, entity: str) -> float:
        share = (1 - self._offer.named, _SECOND, 0.0)[min(2, self._told[entity])]
        return self._of_name(entity) + share * self._offer.needed.get(entity, 0.0)

    def _note(self, numbers: Iterable[int]) -> None:
        """Note anew what is told where exactly these fragments are chosen."""
        self._told = Counter(self._mentioned)
        self._named, self._shown = set(self._told), set(self._told)
        self._facts: set[str] = set()
        self._opened: set[Group] = set()
        for number in numbers:
            self._add(self._offer.fragments[number])

    def _add(self, each: Fragment) -> None:
        heading = () if each.group in self._opened else self._offer.headings[each.group][1]
        self._told.update(each.tells)
        self._named.update(each.tells, each.names, heading)
        self._facts.update(fact.name for fact in each.facts)
        self._opened.add(each.group)
        if not _is_bare(each):
            self._shown.update(each.tells, each.names, heading)

    def _take(self, number: int) -> None:
        each = self._offer.fragments[number]
        is_first = each.group not in self._opened
        self.chosen[number] = None
        self._add(each)
        if is_first:
            self._again(self._members[each.group])
        if _is_line(each):
            self._again(self._neighbours(each))

    def _neighbours(self, each: Fragment) -> list[int]:
        rows = (self._rows.get((each.place.passage, each.place.row + step)) for step in (-1, 1))
        found = [row for row in rows if row is not None]
        self._boost.update(found)
        return found

    def _again(self, numbers: Iterable[int]) -> None:
        """Offer fragments anew that have become worth more."""
        for number in numbers:
            if number not in self.chosen:
                heapq.heappush(self._heap, (-self._density(number), number))


def _is_line(each: Fragment) -> bool:
    return each.group.section in QUOTED and bool(each.text)


def _is_bare(each: Fragment) -> bool:
    return each.group.section == "names"
