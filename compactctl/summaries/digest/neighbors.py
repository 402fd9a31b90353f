"""Find the fragments that stand beside one another, with nothing to mark between them."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from compactctl.summaries.digest.fragments import QUOTED_SECTIONS, Fragment
from compactctl.summaries.digest.lines import is_small_gap, quotable_lines
from compactctl.summaries.extract.passages import Passage


def find_neighbors(
    passages: Sequence[Passage], fragments: Sequence[Fragment]
) -> list[tuple[int, ...]]:
    """Return the neighbors of each fragment, at most two; none of what is not quoted.

    Both are shown without a mark between them: pieces of a line that follow one another, or lines
    between which there are only a few short ones.
    """
    members_of: dict[int, list[int]] = {}
    for index, fragment in enumerate(fragments):
        if fragment.group.section in QUOTED_SECTIONS and fragment.text:
            members_of.setdefault(fragment.line.passage, []).append(index)
    neighbors: list[tuple[int, ...]] = [()] * len(fragments)
    for number, members in members_of.items():
        for before, after in _pairs(passages[number], fragments, members):
            neighbors[before] += (after,)
            neighbors[after] += (before,)
    return neighbors


def _pairs(
    passage: Passage, fragments: Sequence[Fragment], members: Sequence[int]
) -> Iterator[tuple[int, int]]:
    lines = [line.text for line in quotable_lines(passage)]
    ordered = sorted(members, key=lambda index: (fragments[index].line, fragments[index].span))
    for before, after in pairwise(ordered):
        first, second = fragments[before], fragments[after]
        if first.span.removed != second.span.removed:
            continue
        if first.line == second.line:
            is_joined = first.span.end == second.span.start
        else:
            row = first.line.line + first.span.rows
            is_whole = first.span.rows > 1 or first.span.end == len(lines[row - 1])
            is_joined = (
                is_whole and not second.span.start and is_small_gap(lines[row : second.line.line])
            )
        if is_joined:
            yield before, after
