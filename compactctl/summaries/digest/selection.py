"""Select the fragments of a digest: those with the highest value per token."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from math import inf

from compactctl.records import dataclass
from compactctl.summaries.digest.facts import LineIndex
from compactctl.summaries.digest.fragments import (
    QUOTED_SECTIONS,
    DigestSection,
    Fragment,
    FragmentGroup,
)

# Share of the demand for an entity that its bare name, and a second line about it, are worth.
_NAMED = 0.65
_SECOND = 0.15
# Bonus on the reuse value of a line for each chosen neighbor.
_NEIGHBOR = 0.5
_ROUNDS = 5
_MAX_SCALE = 3.0
# Fewer tokens than this are not worth another round.
_SLACK = 30
# The minimum value per token of a line if spare room is to be filled; the newest come first.
_ANY_LINE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class FragmentPool:
    """The fragments to choose from.

    Attributes:
        fragments: the fragments; of equally valuable ones, the first is chosen.
        tokens: the cost of each, line end included.
        headings: the cost of each heading, and the entities that it names.
        demand: the demand for each entity.
        demand_unit: the unit of the values of facts and of reuse, in demand.
        name_share: share of the demand for an entity that its bare name is worth.
        section_limits: maximum tokens of a section, headings included.
        fill_spare_room: whether lines without value fill the room that remains.
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
    """A lazy greedy selection by value per token.

    The value of a fragment depends on what is already chosen. For an entity with demand 10, after
    0, 1 and 2 lines about it were chosen:

        another line about it: 10.0, 1.5, 0.0        its bare name: 6.5, 0.0, 0.0

    Facts count once, headings are paid once, and a line gains by chosen neighbors.
    """

    def __init__(self, pool: FragmentPool, mentioned: Iterable[str]) -> None:
        """Start with the entities that texts elsewhere mention, once per mention."""
        self._pool = pool
        self._mentioned = Counter(mentioned)
        self._used: Counter[DigestSection] = Counter()
        self._chosen_neighbors: Counter[int] = Counter()
        numbers = {group: number for number, group in enumerate(pool.headings)}
        self._headings = tuple(pool.headings.values())
        self._heading_of = [numbers[fragment.group] for fragment in pool.fragments]
        self._members: dict[int, list[int]] = {}
        self._index_of_line: dict[LineIndex, int] = {}
        self._heap: list[tuple[float, int]] = []
        # A dict rather than a set: ``drop`` needs the order.
        self.chosen: dict[int, None] = {}
        for index, fragment in enumerate(pool.fragments):
            self._members.setdefault(self._heading_of[index], []).append(index)
            if _is_line(fragment) and not fragment.piece:
                self._index_of_line[fragment.line] = index
        self._recount(())

    @property
    def fragments(self) -> list[Fragment]:
        """The chosen fragments, without bare names that other chosen fragments mention."""
        fragments = (self._pool.fragments[index] for index in self.chosen)
        return [
            fragment
            for fragment in fragments
            if not (_is_bare_name(fragment) and self._shown.issuperset(fragment.mentions))
        ]

    def grow(self, room_left: Callable[[], int]) -> int:
        """Choose as much as there is room for; return the remaining tokens.

        ``room_left`` renders what is chosen and returns the tokens that remain. They are negative
        if even the text without any fragment exceeds the budget.
        """
        room, scale = room_left(), 1.0
        for _ in range(_ROUNDS):
            if room < _SLACK:
                break
            before, priced = room, self.fill(round(room * scale))
            while (room := room_left()) < 0 and self.chosen:
                self.drop(-room)
            # Together, fragments cost less than the sum of their prices.
            scale = min(_MAX_SCALE, priced / max(1, before - room))
        return room

    def fill(self, room: int) -> int:
        """Choose fragments for at most ``room`` tokens; return the tokens used."""
        # Lazy greedy: a value mostly falls when something else is chosen, so re-evaluate an entry
        # when it is popped and push it back if it fell. Headings and neighbors raise values; those
        # are re-queued.
        remaining = room
        indexes = range(len(self._pool.fragments))
        self._heap = [(-self._density(n), n) for n in indexes if n not in self.chosen]
        heapq.heapify(self._heap)
        while self._heap and remaining > 0:
            negative_density, index = heapq.heappop(self._heap)
            if index in self.chosen:
                continue
            density, price = self._density(index), self._price(index)
            if density <= 0 or price > min(remaining, self._section_room(index)):
                continue
            if density < -negative_density:
                heapq.heappush(self._heap, (-density, index))
                continue
            remaining -= price
            self._used[self._section(index)] += price
            self._choose(index)
        return room - remaining

    def drop(self, tokens: int) -> None:
        """Undo the newest choices until about ``tokens`` tokens are free.

        What only they showed counts as missing again.
        """
        while self.chosen and tokens > 0:
            index, _ = self.chosen.popitem()
            tokens -= self._pool.tokens[index]
            self._used[self._section(index)] -= self._pool.tokens[index]
        self._recount(self.chosen)

    def _section(self, index: int) -> DigestSection:
        return self._pool.fragments[index].group.section

    def _section_room(self, index: int) -> float:
        section = self._section(index)
        return self._pool.section_limits.get(section, inf) - self._used[section]

    def _price(self, index: int) -> int:
        heading = self._heading_of[index]
        cost = 0 if heading in self._paid else self._headings[heading][0]
        return max(1, self._pool.tokens[index] + cost)

    def _density(self, index: int) -> float:
        """Return the value per token of a fragment, given what is chosen."""
        fragment, unit = self._pool.fragments[index], self._pool.demand_unit
        value = sum([self._line_values.get(entity, 0.0) for entity in fragment.describes])
        value += self._value_of_names(fragment.mentions)
        if fragment.facts:
            new = (fact for fact in fragment.facts if fact.name not in self._facts)
            value += sum(unit * fact.value for fact in new)
        if fragment.reuse_value:
            value += unit * fragment.reuse_value * (1 + _NEIGHBOR * self._chosen_neighbors[index])
        heading = self._heading_of[index]
        if heading not in self._paid:
            value += self._value_of_names(self._headings[heading][1])
        minimum = _ANY_LINE if self._pool.fill_spare_room and _is_line(fragment) else 0.0
        return max(minimum, value / self._price(index))

    def _value_of_names(self, entities: Sequence[str]) -> float:
        return sum([self._name_values.get(entity, 0.0) for entity in entities])

    def _recount(self, chosen: Iterable[int]) -> None:
        """Recompute what is mentioned, shown and paid if exactly these fragments are chosen."""
        self._line_counts = Counter(self._mentioned)
        self._shown = set(self._mentioned)
        self._facts: set[str] = set()
        self._paid: set[int] = set()
        demand, share = self._pool.demand, self._pool.name_share
        self._name_values = {entity: share * demand[entity] for entity in demand}
        self._line_values = {
            entity: self._name_values[entity] + (1 - share) * demand[entity] for entity in demand
        }
        self._lower_values(self._mentioned)
        for index in chosen:
            self._add(index)

    def _add(self, index: int) -> None:
        fragment, heading = self._pool.fragments[index], self._heading_of[index]
        names_in_heading = () if heading in self._paid else self._headings[heading][1]
        named = {*fragment.describes, *fragment.mentions, *names_in_heading}
        self._line_counts.update(fragment.describes)
        self._lower_values(named)
        self._facts.update(fact.name for fact in fragment.facts)
        self._paid.add(heading)
        if not _is_bare_name(fragment):
            self._shown |= named

    def _lower_values(self, named: Iterable[str]) -> None:
        """Lower what further lines about these entities, and their names, are worth."""
        shares = (1 - self._pool.name_share, _SECOND, 0.0)
        for entity in named:
            if entity in self._pool.demand:
                share = shares[min(2, self._line_counts[entity])]
                self._line_values[entity] = share * self._pool.demand[entity]
                self._name_values[entity] = 0.0

    def _choose(self, index: int) -> None:
        fragment, heading = self._pool.fragments[index], self._heading_of[index]
        is_first = heading not in self._paid
        self.chosen[index] = None
        self._add(index)
        if is_first:
            self._requeue(self._members[heading])
        if _is_line(fragment):
            neighbors = self._neighbors(fragment.line)
            self._chosen_neighbors.update(neighbors)
            self._requeue(neighbors)

    def _neighbors(self, line: LineIndex) -> list[int]:
        lines = (LineIndex(line.passage, line.line + step) for step in (-1, 1))
        indexes = (self._index_of_line.get(neighbor) for neighbor in lines)
        return [index for index in indexes if index is not None]

    def _requeue(self, indexes: Iterable[int]) -> None:
        """Push fragments whose value has risen with their new value."""
        for index in indexes:
            if index not in self.chosen:
                heapq.heappush(self._heap, (-self._density(index), index))


def _is_line(fragment: Fragment) -> bool:
    return fragment.group.section in QUOTED_SECTIONS and bool(fragment.text)


def _is_bare_name(fragment: Fragment) -> bool:
    return fragment.group.section == "names"
