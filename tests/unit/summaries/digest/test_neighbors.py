"""Which fragments are shown beside one another."""

import pytest
from builders import assistant, conversation, user

from compactctl.summaries.digest.fragments import collect_fragments
from compactctl.summaries.digest.neighbors import find_neighbors
from compactctl.summaries.extract.entities import EntityDemand, Lexicon
from compactctl.summaries.extract.passages import read_passages

LINES = [f"The gauge_{name} reads too high." for name in "abcd"]


@pytest.mark.parametrize(
    ("between", "are_neighbors"),
    [("\n", True), ("\n{\n}\n", True), ("\n\n\n\n\n", True), ("\n\n\n\n\n\n", False),
     ("\n" + "x" * 120 + "\n", True), ("\n" + "x" * 121 + "\n", False)],
)  # fmt: skip
def test_neighbors_have_only_a_few_short_lines_between_them(
    between: str,
    are_neighbors: bool,  # noqa: FBT001
) -> None:
    passages = read_passages(
        conversation(user("go"), assistant(between.join(LINES[:2])), assistant(LINES[2]))
    )
    demand = {f"gauge_{name}": 1.0 for name in "abcd"}
    fragments = [
        f
        for f in collect_fragments(passages, {}, EntityDemand(demand=demand, lexicon=Lexicon()))
        if f.describes
    ]
    rows = {fragment.text: index for index, fragment in enumerate(fragments)}
    neighbors = find_neighbors(passages, fragments)
    assert (neighbors[rows[LINES[0]]] == (rows[LINES[1]],)) is are_neighbors
    assert (neighbors[rows[LINES[1]]] == (rows[LINES[0]],)) is are_neighbors
    assert neighbors[rows[LINES[2]]] == ()
