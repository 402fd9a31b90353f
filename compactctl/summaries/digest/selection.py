"""Select the fragments of a digest: those with the highest value per token."""

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import Literal

from compactctl.records import Record, field
from compactctl.summaries.digest.fragments import (
    QUOTED_SECTIONS,
    DigestSection,
    Fragment,
    FragmentGroup,
)
from compactctl.summaries.digest.hunks import Hunk

# Share of the demand for an entity that its bare name, and a second line about it, are worth.
_NAMED = 0.6
_SECOND = 0.15
# Bonus on the reuse value of a line for each chosen neighbor.
_NEIGHBOR = 0.5
# The tokens that it is worth to avoid a mark for omitted lines. Tuned on sessions of two projects:
# with less, more than one line in ten is such a mark; with more, fewer statements are quoted.
_GAP_TOKENS = 12
_ROUNDS = 5
_MAX_SCALE = 3.0
# After so many times of undoing what is missing, each time undoes twice as much, so that it ends.
_EXACT_DROPS = 20
# Fewer tokens than this are not worth another round.
_SLACK = 30
# The minimum value per token of a line if spare room is to be filled; the newest come first.
_ANY_LINE = 1e-9


class FragmentPool(Record):
    """The fragments to choose from.

    Attributes:
        fragments: the fragments; of equally valuable ones, the first is chosen.
        tokens: the cost of each, line end included.
        hunks: fragments that may also be chosen together.
        neighbors: of each fragment, those that are shown without a mark between them.
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
    hunks: Sequence[Hunk] = ()
    neighbors: Sequence[Sequence[int]]
    name_share: float = _NAMED
    section_limits: Mapping[DigestSection, int] = field(default_factory=dict)
    fill_spare_room: bool = False


class Selection:
    """A lazy greedy selection by value per token.

    The value of a fragment depends on what is already chosen. For an entity with demand 10, after
    0, 1 and 2 lines about it were chosen:

        another line about it: 10.0, 1.5, 0.0        its bare name: 6.0, 0.0, 0.0

    Facts count once, headings are paid once, and a line gains by chosen neighbors. A line that is
    quoted apart from the others below its heading is weighed with the mark between them, and one
    that stands between two others without the mark that it replaces:

        tokens that a line of 30 is weighed with, beside 0, 1 and 2 chosen neighbors: 42, 30, 18

    A candidate is a fragment, or what a hunk still lacks; the indexes of hunks follow those of
    fragments.
    """

    def __init__(self, pool: FragmentPool, mentioned: Iterable[str]) -> None:
        """Start with the entities that texts elsewhere mention, once per mention."""
        self._pool = pool
        numbers = {group: number for number, group in enumerate(pool.headings)}
        self._headings = tuple(pool.headings.values())
        self._candidates = (*pool.fragments, *(hunk.whole for hunk in pool.hunks))
        self._first_hunk = len(pool.fragments)
        self._hunk_of = {
            member: self._first_hunk + number
            for number, hunk in enumerate(pool.hunks)
            for member in hunk.members
        }
        # The tokens of each candidate without its heading; of a hunk, those not chosen yet.
        self._tokens = [*pool.tokens, *(0 for _ in pool.hunks)]
        for member, hunk in self._hunk_of.items():
            self._tokens[hunk] += pool.tokens[member]
        self._heading_of = [numbers[candidate.group] for candidate in self._candidates]
        self._is_line = list(map(_is_line, self._candidates))
        self._is_name = list(map(_is_bare_name, self._candidates))
        # The tokens that remain of each limited section.
        self._section_rooms = dict(pool.section_limits)
        self._chosen_neighbors = [0] * len(self._candidates)
        self._members: dict[int, list[int]] = {}
        # The density that each queued candidate has now, and the entries whose density changed.
        self._queued: dict[int, float] = {}
        self._heap: list[tuple[float, int]] = []
        # A dict rather than a set: ``drop`` needs the order.
        self.chosen: dict[int, None] = {}
        for index in range(self._first_hunk):
            self._members.setdefault(self._heading_of[index], []).append(index)
        # How many texts elsewhere and chosen fragments describe, name or show an entity, how many
        # chosen ones show a fact, how many share a heading, and how many lines it has.
        self._describing = defaultdict(int, Counter(mentioned))
        self._naming = defaultdict(int, dict.fromkeys(self._describing, 1))
        self._showing = self._naming.copy()
        self._facts: defaultdict[str, int] = defaultdict(int)
        self._sharing = [0] * len(self._headings)
        self._quoted = [0] * len(self._headings)
        self._line_values: defaultdict[str, float] = defaultdict(float)
        self._name_values: defaultdict[str, float] = defaultdict(float)
        # The value of each candidate without its heading; None if it has to be worked out anew.
        self._values: list[float | None] = [None] * len(self._candidates)
        self._users: defaultdict[str, list[int]] = defaultdict(list)
        self._revalue(pool.demand)
        for index, candidate in enumerate(self._candidates):
            for name in (*candidate.describes, *candidate.mentions, *_fact_names(candidate)):
                self._users[name].append(index)

    @property
    def fragments(self) -> list[Fragment]:
        """The chosen fragments, without bare names that other chosen fragments mention."""
        return [self.fragment(index) for index in self.listed(self.chosen)]

    def listed(self, indexes: Iterable[int]) -> list[int]:
        """Return those of these fragments that are not bare names which chosen ones mention."""
        return [n for n in indexes if not (self._is_name[n] and self._is_mentioned(n))]

    def _is_mentioned(self, name: int) -> bool:
        return all(map(self._showing.get, self._candidates[name].mentions))

    def fragment(self, index: int) -> Fragment:
        """Return a fragment of the pool."""
        return self._pool.fragments[index]

    def grow(self, room_left: Callable[[], int]) -> int:
        """Choose as much as there is room for; return the remaining tokens.

        ``room_left`` renders what is chosen and returns the tokens that remain. They are negative
        if even the text without any fragment exceeds the budget.
        """
        room, scale = self._undo(room_left), 1.0
        for _ in range(_ROUNDS):
            if room < _SLACK:
                break
            before, priced = room, self.fill(round(room * scale))
            room = self._undo(room_left)
            # Together, fragments cost less than the sum of their prices.
            scale = min(_MAX_SCALE, priced / max(1, before - room))
        return room

    def _undo(self, room_left: Callable[[], int]) -> int:
        """Undo choices until the rest fits; return the remaining tokens."""
        drops = 0
        while (room := room_left()) < 0 and self.chosen:
            # Where choices save less than their prices, a few more are undone each time.
            self.drop(-room << max(0, drops - _EXACT_DROPS))
            drops += 1
        return room

    def fill(self, room: int) -> int:
        """Choose fragments for at most ``room`` tokens; return the tokens used."""
        # Lazy greedy: a value mostly falls when something else is chosen, so re-evaluate an entry
        # when it is popped and push it back if it fell. Headings and neighbors raise values; those
        # are re-queued. What takes more tokens without its heading than remain never fits. Sorting
        # all at first, with a heap only for what changes, is faster than one heap.
        remaining, tokens = room, self._tokens
        fitting = [n for n, size in enumerate(tokens) if size <= room and n not in self.chosen]
        self._queued = {n: self._density(n) for n in fitting}
        queue = sorted([(-density, n) for n, density in self._queued.items()], reverse=True)
        self._heap = heap = list[tuple[float, int]]()
        smallest = max(1, min(self._pool.tokens, default=0))
        while (heap or queue) and remaining >= smallest:
            is_changed = bool(heap) and not (queue and queue[-1] < heap[0])
            negative_density, index = heapq.heappop(heap) if is_changed else queue.pop()
            # An older entry of the same candidate counts no more.
            if self._queued.get(index) != -negative_density or tokens[index] > remaining:
                continue
            density, price = self._density(index), self._price(index)
            if density <= 0 or price > min(remaining, self._section_room(index)):
                continue
            if density < -negative_density:
                self._push(index, density)
                continue
            remaining -= price
            self._use(index, price)
            self._choose(index)
        return room - remaining

    def _missing(self, hunk: int) -> list[int]:
        """Return the fragments of a hunk that are not chosen yet."""
        members = self._pool.hunks[hunk - self._first_hunk].members
        return [member for member in members if member not in self.chosen]

    def drop(self, tokens: int) -> None:
        """Undo the newest choices until about ``tokens`` tokens are free.

        What only they showed counts as missing again.
        """
        while self.chosen and tokens > 0:
            index, _ = self.chosen.popitem()
            tokens -= self._pool.tokens[index]
            self._use(index, -self._pool.tokens[index])
            self._count(index, -1)

    def _section_room(self, index: int) -> float:
        return self._section_rooms.get(self._candidates[index].group.section, inf)

    def _use(self, index: int, tokens: int) -> None:
        """Subtract ``tokens`` from what remains of a candidate's section, if that is limited."""
        section = self._candidates[index].group.section
        if section in self._section_rooms:
            self._section_rooms[section] -= tokens

    def _price(self, index: int) -> int:
        heading = self._heading_of[index]
        cost = 0 if self._sharing[heading] else self._headings[heading][0]
        return max(1, self._tokens[index] + cost)

    def _density(self, index: int) -> float:
        """Return the value per token of a candidate, given what is chosen."""
        price = self._tokens[index]
        if not price and index >= self._first_hunk:
            return 0.0
        value = self._values[index]
        if value is None:
            value = self._values[index] = self._value(self._candidates[index], index)
        heading = self._heading_of[index]
        if not self._sharing[heading]:
            cost, names = self._headings[heading]
            price += cost
            if names:
                value += self._value_of_names(names)
        if self._is_line[index] and self._quoted[heading]:
            price += _GAP_TOKENS * self._new_gaps(index)
        density = value / max(1, price)
        if density < _ANY_LINE and self._pool.fill_spare_room:
            return _ANY_LINE if self._is_line[index] else density
        return density

    def _new_gaps(self, index: int) -> int:
        """Return how many more marks for omitted lines there are with another line, -1 to 1."""
        if index < self._first_hunk:
            return 1 - self._chosen_neighbors[index]
        members = self._pool.hunks[index - self._first_hunk].members
        return 0 if any(member in self.chosen for member in members) else 1

    def _value(self, fragment: Fragment, index: int) -> float:
        """Return the value of a candidate without its heading, given what is chosen."""
        unit = self._pool.demand_unit
        value = 0.0
        if fragment.describes:
            value = sum(map(self._line_values.__getitem__, fragment.describes))
        if fragment.mentions:
            value += self._value_of_names(fragment.mentions)
        if fragment.facts:
            new = (fact for fact in fragment.facts if not self._facts[fact.name])
            value += sum(unit * fact.value for fact in new)
        if fragment.reuse_value:
            value += unit * fragment.reuse_value * (1 + _NEIGHBOR * self._chosen_neighbors[index])
        return value

    def _value_of_names(self, entities: Sequence[str]) -> float:
        return sum(map(self._name_values.__getitem__, entities))

    def _choose(self, index: int) -> None:
        if index < self._first_hunk:
            self._choose_fragment(index)
            return
        for member in self._missing(index):
            self._choose_fragment(member)
        self._queued.pop(index, None)

    def _choose_fragment(self, index: int) -> None:
        heading = self._heading_of[index]
        self.chosen[index] = None
        self._queued.pop(index, None)
        self._count(index, 1)
        if index in self._hunk_of:
            self._requeue((self._hunk_of[index],))
        if self._sharing[heading] == 1:
            self._requeue(self._members[heading])
        if self._is_line[index]:
            self._requeue(self._pool.neighbors[index])

    def _count(self, index: int, step: Literal[1, -1]) -> None:
        """Count what a fragment says, 1 when it is chosen and -1 when that is undone.

        The heading counts with the first fragment below it, whose choice is undone last.
        """
        fragment, heading = self._pool.fragments[index], self._heading_of[index]
        others = self._sharing[heading] - (step < 0)
        self._sharing[heading] = others + (step > 0)
        self._quoted[heading] += step * self._is_line[index]
        for neighbor in self._pool.neighbors[index]:
            self._chosen_neighbors[neighbor] += step
            self._values[neighbor] = None
        heading_names = () if others else self._headings[heading][1]
        named = {*fragment.describes, *fragment.mentions, *heading_names}
        if index in self._hunk_of:
            self._tokens[self._hunk_of[index]] -= step * self._pool.tokens[index]
        for entity in fragment.describes:
            self._describing[entity] += step
        for name in _fact_names(fragment):
            self._facts[name] += step
            self._forget(name)
        is_shown = not self._is_name[index]
        for entity in named:
            self._naming[entity] += step
            self._showing[entity] += step * is_shown
        self._revalue(named)

    def _revalue(self, entities: Iterable[str]) -> None:
        """Work out what further lines about these entities, and their names, are worth."""
        share = self._pool.name_share
        shares = (1 - share, _SECOND, 0.0)
        for entity in entities:
            demand = self._pool.demand.get(entity)
            if demand is None:
                continue
            if self._naming[entity]:
                line_value, name_value = shares[min(2, self._describing[entity])] * demand, 0.0
            else:
                line_value, name_value = share * demand + (1 - share) * demand, share * demand
            if (line_value, name_value) != (self._line_values[entity], self._name_values[entity]):
                self._line_values[entity], self._name_values[entity] = line_value, name_value
                self._forget(entity)

    def _forget(self, name: str) -> None:
        """Let the values of all candidates with this entity or fact be worked out anew."""
        for index in self._users.get(name, ()):
            self._values[index] = None

    def _requeue(self, indexes: Iterable[int]) -> None:
        """Push fragments whose value has risen with their new value."""
        for index in indexes:
            if index not in self.chosen:
                density = self._density(index)
                if density > self._queued.get(index, 0.0):
                    self._push(index, density)

    def _push(self, index: int, density: float) -> None:
        self._queued[index] = density
        heapq.heappush(self._heap, (-density, index))


def _fact_names(fragment: Fragment) -> Sequence[str]:
    return [fact.name for fact in fragment.facts]


def _is_line(fragment: Fragment) -> bool:
    return fragment.group.section in QUOTED_SECTIONS and bool(fragment.text)


def _is_bare_name(fragment: Fragment) -> bool:
    return fragment.group.section == "names"
