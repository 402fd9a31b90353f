"""How much each entity of a conversation is likely to be needed again."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.passages import Passage

_GIVEN_KINDS = frozenset({"result", "file", "reminder", "instruction"})
# Demand = FRESH / (1 + age / HALF_LIFE) + OFTEN ln(1 + n) - GIVEN ln(1 + given): what was used
# lately, often and by the model itself is needed again. Means of a logistic fit on the sessions of
# seven projects, each left out once (area under the curve 0.76).
_FRESH, _HALF_LIFE, _OFTEN, _GIVEN = 3.4, 20, 2.5, 1.65
# Contrast between what is needed and what is not.
_POWER = 1.75
# The entities of which the mean demand is the unit.
_NEEDED = 60


@dataclass(slots=True)
class EntityUses:
    """In how many passages each entity stands, and in how many that the model did not write."""

    all: Counter[str] = field(default_factory=Counter)
    given: Counter[str] = field(default_factory=Counter)
    age: dict[str, int] = field(default_factory=dict)

    def add(self, entities: Iterable[str], passage: Passage) -> None:
        """Count the entities of a passage; passages come oldest first."""
        entities = tuple(entities)
        self.all.update(entities)
        self.age.update(dict.fromkeys(entities, passage.age))
        if passage.kind in _GIVEN_KINDS:
            self.given.update(entities)

    def demand(self, entity: str) -> float:
        """Return the demand for an entity that was added, never less than 0."""
        fresh = _FRESH / (1 + self.age[entity] / _HALF_LIFE)
        often = _OFTEN * math.log1p(self.all[entity])
        given = _GIVEN * math.log1p(self.given[entity])
        return max(0.0, fresh + often - given)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityDemand:
    """What will be needed of a conversation, and how it is found in a text.

    ``needed`` is the demand for each entity of what is sent again.
    """

    needed: Mapping[str, float]
    lexicon: Lexicon

    @classmethod
    def of(cls, found: Sequence[Passage], lexicon: Lexicon) -> "EntityDemand":
        """Weigh the entities of all passages but thinking, which is not sent again."""
        uses = EntityUses()
        for passage in found:
            if passage.kind != "thought":
                uses.add(lexicon.entities(passage.text), passage)
        needed = {entity: uses.demand(entity) ** _POWER for entity in uses.all}
        return cls(needed=needed, lexicon=lexicon)

    @property
    def unit(self) -> float:
        """The mean demand for the entities that are needed most."""
        most = sorted(self.needed.values(), reverse=True)[:_NEEDED]
        return sum(most) / len(most) if most else 1.0
