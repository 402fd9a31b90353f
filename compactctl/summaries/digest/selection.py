"""Which fragments a digest holds: the most of what is needed for each token."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from compactctl.summaries.digest.fragments import QUOTED, DigestSection, Fragment, FragmentGroup

# Of the demand for an entity, what its mere name is worth, and a second line about it.
_NAMED = 0.65
_SECOND = 0.15
# By how much a line next to a chosen one is worth more for its own sake.
_NEIGHBOUR = 0.5
_ROUNDS = 5
_MAX_SCALE = 3.0
# Fewer tokens than these are not worth another round.
_SLACK = 30
# What each token of a line is worth at least where room is to be filled; the newest come first.
_ANY_LINE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class FragmentPool:
    """What there is to choose from.

    Attributes:
        fragments: the fragments, those preferred among equals first.
        tokens: what each of them costs, its line end included.
        headings: what each heading costs, and the entities that it names.
        demand: the demand for each entity.
        demand_unit: the demand for an entity that is needed; facts are worth multiples of it.
        name_share: of the demand for an entity, what its mere name is worth.
        section_limits: tokens that all fragments of a section may take, headings included.
        fill_spare_room: whether room that nothing needs goes to lines nevertheless.
    """

    fragments: Sequence[Fragment]
    tokens: Sequence[int]
    headings: Mapping[FragmentGroup, tuple[int, tuple[str, ...]]]
    demand: Mapping[str, float]
    demand_unit: float
    name_share: float = _NAMED
    section_limits: Mapping[DigestSection, int] = field(default_factory=dict)
    fill_spare_room: bool = False


class Selection:
    """A lazy greedy choice: the value of a fragment mostly falls with what is chosen before it."""

    def __init__(self, offer: FragmentPool, mentioned: Iterable[str]) -> None:
        """Start with what is ``mentioned`` elsewhere, with words around it."""
        self._offer = offer
        self._mentioned = tuple(mentioned)
        self._used: Counter[DigestSection] = Counter()
        self._chosen_neighbours: Counter[int] = Counter()
        self._members: dict[FragmentGroup, list[int]] = {}
        self._rows: dict[tuple[int, int], int] = {}
        self._heap: list[tuple[float, int]] = []
        self.chosen: dict[int, None] = {}
        self._recount(())
        for index, fragment in enumerate(offer.fragments):
            self._members.setdefault(fragment.group, []).append(index)
            if _is_line(fragment) and not fragment.piece:
                self._rows[fragment.line.passage, fragment.line.line] = index

    @property
    def fragments(self) -> list[Fragment]:
        """What is chosen, but for bare names that stand in something else by now."""
        found = (self._offer.fragments[index] for index in self.chosen)
        return [
            fragment
            for fragment in found
            if not (_is_bare(fragment) and self._shown.issuperset(fragment.mentions))
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
            scale = min(_MAX_SCALE, priced / max(1, before - room))
        return room

    def fill(self, room: int) -> int:
        """Choose more, for at most ``room`` tokens; return what that costs."""
        left = room
        offered = range(len(self._offer.fragments))
        self._heap = [(-self._density(n), n) for n in offered if n not in self.chosen]
        heapq.heapify(self._heap)
        while self._heap and left > 0:
            promised, index = heapq.heappop(self._heap)
            if index in self.chosen:
                continue
            density, price = self._density(index), self._price(index)
            if density <= 0 or price > min(left, self._section_room(index)):
                continue
            if density < -promised:
                heapq.heappush(self._heap, (-density, index))
                continue
            left -= price
            self._used[self._section(index)] += price
            self._choose(index)
        return room - left

    def drop(self, tokens: int) -> None:
        """Give back what was chosen last, until about ``tokens`` are free again.

        What it alone told is told no longer, and may be chosen in another way.
        """
        while self.chosen and tokens > 0:
            index, _ = self.chosen.popitem()
            tokens -= self._offer.tokens[index]
            self._used[self._section(index)] -= self._offer.tokens[index]
        self._recount(self.chosen)

    def _section(self, index: int) -> DigestSection:
        return self._offer.fragments[index].group.section

    def _section_room(self, index: int) -> float:
        section = self._section(index)
        return self._offer.section_limits.get(section, inf) - self._used[section]

    def _price(self, index: int) -> int:
        group = self._offer.fragments[index].group
        heading = 0 if group in self._opened else self._offer.headings[group][0]
        return max(1, self._offer.tokens[index] + heading)

    def _density(self, index: int) -> float:
        fragment, unit = self._offer.fragments[index], self._offer.demand_unit
        value = self._worth(fragment.describes, fragment.mentions)
        value += sum(unit * fact.value for fact in fragment.facts if fact.name not in self._facts)
        value += unit * fragment.reuse_value * (1 + _NEIGHBOUR * self._chosen_neighbours[index])
        if fragment.group not in self._opened:
            value += self._worth((), self._offer.headings[fragment.group][1])
        least = _ANY_LINE if self._offer.fill_spare_room and _is_line(fragment) else 0.0
        return max(least, value / self._price(index))

    def _worth(self, tells: Sequence[str], names: Sequence[str]) -> float:
        return sum(map(self._of_line, tells)) + sum(map(self._of_name, names))

    def _of_name(self, entity: str) -> float:
        known = entity in self._named
        return 0.0 if known else self._offer.name_share * self._offer.demand.get(entity, 0.0)

    def _of_line(self, entity: str) -> float:
        share = (1 - self._offer.name_share, _SECOND, 0.0)[min(2, self._mention_counts[entity])]
        return self._of_name(entity) + share * self._offer.demand.get(entity, 0.0)

    def _recount(self, numbers: Iterable[int]) -> None:
        """Note anew what is told where exactly these fragments are chosen."""
        self._mention_counts = Counter(self._mentioned)
        self._named, self._shown = set(self._mention_counts), set(self._mention_counts)
        self._facts: set[str] = set()
        self._opened: set[FragmentGroup] = set()
        for index in numbers:
            self._add(self._offer.fragments[index])

    def _add(self, fragment: Fragment) -> None:
        heading = () if fragment.group in self._opened else self._offer.headings[fragment.group][1]
        self._mention_counts.update(fragment.describes)
        self._named.update(fragment.describes, fragment.mentions, heading)
        self._facts.update(fact.name for fact in fragment.facts)
        self._opened.add(fragment.group)
        if not _is_bare(fragment):
            self._shown.update(fragment.describes, fragment.mentions, heading)

    def _choose(self, index: int) -> None:
        fragment = self._offer.fragments[index]
        is_first = fragment.group not in self._opened
        self.chosen[index] = None
        self._add(fragment)
        if is_first:
            self._requeue(self._members[fragment.group])
        if _is_line(fragment):
            self._requeue(self._neighbours(fragment))

    def _neighbours(self, fragment: Fragment) -> list[int]:
        rows = (
            self._rows.get((fragment.line.passage, fragment.line.line + step)) for step in (-1, 1)
        )
        found = [row for row in rows if row is not None]
        self._chosen_neighbours.update(found)
        return found

    def _requeue(self, numbers: Iterable[int]) -> None:
        """Offer fragments anew that have become worth more."""
        for index in numbers:
            if index not in self.chosen:
                heapq.heappush(self._heap, (-self._density(index), index))


def _is_line(fragment: Fragment) -> bool:
    return fragment.group.section in QUOTED and bool(fragment.text)


def _is_bare(fragment: Fragment) -> bool:
    return fragment.group.section == "names"
