"""How much of a prefix a session that has nothing to do with it would seem to need."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compactctl.evaluation.score import Case
from compactctl.summaries.extract.entities import EntityKind

OTHERS = 8
"""Other sessions that each one is compared with, at most."""


@dataclass(frozen=True, slots=True)
class Witness:
    """The first cut of a session that counts."""

    project: str
    case: Case


@dataclass(frozen=True, slots=True)
class Noise:
    """Demand that is chance: entities that futures of other projects take up, per own demand.

    ``kinds`` has the same by kind of entity; ``pairs`` counts the comparisons.
    """

    share: float
    kinds: Mapping[EntityKind, float]
    pairs: int


def noise(witnesses: Sequence[Witness]) -> Noise | None:
    """Compare each session with the futures of other projects; None where there is one project."""
    own: Counter[EntityKind] = Counter()
    foreign: Counter[EntityKind] = Counter()
    pairs = 0
    for at, witness in enumerate(witnesses):
        rotated = (*witnesses[at + 1 :], *witnesses[:at])
        others = [each for each in rotated if each.project != witness.project][:OTHERS]
        for other in others:
            pairs += 1
            own.update(witness.case.kinds(witness.case.demand))
            foreign.update(other.case.kinds(witness.case.demanded_by(other.case.firsts)))
    if not own.total():
        return None
    kinds = {kind: foreign[kind] / count for kind, count in sorted(own.items())}
    return Noise(foreign.total() / own.total(), kinds, pairs)
