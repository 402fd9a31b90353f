"""Which items go into a summary of a given size."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from compactctl.summaries.document.sections import cost
from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.items import SummaryItem, clipped

# What the items under one label may take of the room while others wait.
LABEL_PERCENT = 30
# An item is not shortened to less than this.
SHORTEST_CLIP = 80
# Longer names cost more in an index than they are worth.
LONGEST_NAME = 80
_INDEX_LABEL = "Identifiers in use:"


def taken(items: Sequence[SummaryItem], *, room: int, pinned_room: int) -> list[SummaryItem]:
    """Choose items by value within ``room`` characters.

    Pinned items are chosen first, within ``pinned_room``. Then no label may hold more than its
    share, so that many items of one sort do not keep out all others. What is left goes to the
    most valuable of the rest.
    """
    ranked = sorted(items, key=lambda item: (-item.value, item.section, item.place))
    chosen, left = _filled(ranked, room=min(room, pinned_room), only_pinned=True)
    room -= sum(cost(item) for item in chosen)
    shared, left = _filled(left, room=room, share=room * LABEL_PERCENT // 100)
    room -= sum(cost(item) for item in shared)
    rest, _ = _filled(left, room=room)
    return chosen + shared + rest


def index_items(entities: Iterable[str], lexicon: Lexicon, room: int) -> Iterator[SummaryItem]:
    """Yield one item per kind that lists entities, in the order given, within ``room``."""
    by_kind: dict[str, list[str]] = {}
    for entity in entities:
        if len(entity) > LONGEST_NAME:
            continue
        if len(entity) + 2 > room:
            break
        room -= len(entity) + 2
        by_kind.setdefault(lexicon.kind(entity), []).append(entity)
    for place, kind in enumerate(sorted(by_kind)):
        text = f"{kind}: {', '.join(by_kind[kind])}"
        yield SummaryItem(section=2, label=_INDEX_LABEL, text=text, value=0, place=place)


def _filled(
    ranked: Iterable[SummaryItem], *, room: int, share: int | None = None, only_pinned: bool = False
) -> tuple[list[SummaryItem], list[SummaryItem]]:
    """Split items into those taken, in their order, and those left over."""
    used: Counter[tuple[int, str]] = Counter()
    chosen, left = [], []
    for item in ranked:
        label = (item.section, item.label)
        limit = room if share is None else min(room, share - used[label])
        fitting = _fitted(item, limit) if item.pinned or not only_pinned else None
        if fitting is None:
            left.append(item)
            continue
        chosen.append(fitting)
        used[label] += cost(fitting)
        room -= cost(fitting)
    return chosen, left


def _fitted(item: SummaryItem, room: int) -> SummaryItem | None:
    """Return the item, shortened where it may be, or None when it does not fit into ``room``."""
    if item.elastic and cost(item) > room >= SHORTEST_CLIP:
        item = replace(item, text=clipped(item.text, room - SHORTEST_CLIP // 2))
    return item if cost(item) <= room else None
