"""Find the fragments that stand beside one another, with nothing to mark between them."""

from collections.abc import Sequence
from itertools import pairwise

from compactctl.summaries.digest.fragments import QUOTED_SECTIONS, Fragment
from compactctl.summaries.digest.lines import PieceSpan, QuotableText, is_small_gap, quotable_text
from compactctl.summaries.extract.passages import Passage
from compactctl.tokens.memory import Once, call


def find_neighbors(
    passages: Sequence[Passage], fragments: Sequence[Fragment], once: Once = call
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
        places = tuple([(fragments[at].line.line, fragments[at].span) for at in members])
        for first, second in once(_pairs, quotable_text(passages[number], once), places):
            neighbors[members[first]] += (members[second],)
            neighbors[members[second]] += (members[first],)
    return neighbors


def _pairs(text: QuotableText, places: tuple[tuple[int, PieceSpan], ...]) -> list[tuple[int, int]]:
    """Return which of these pieces of a text are neighbors, by their indexes, in order."""
    ordered = sorted(range(len(places)), key=places.__getitem__)
    return [
        (before, after)
        for before, after in pairwise(ordered)
        if _are_joined(text.texts, *places[before], *places[after])
    ]


def _are_joined(
    lines: Sequence[str], row: int, span: PieceSpan, next_row: int, next_span: PieceSpan
) -> bool:
    """Whether nothing is marked as omitted between two pieces."""
    if span.removed != next_span.removed:
        return False
    if row == next_row:
        return span.end == next_span.start
    end = row + span.rows
    is_whole = span.rows > 1 or span.end == len(lines[end - 1])
    return is_whole and not next_span.start and is_small_gap(lines[end:next_row])
