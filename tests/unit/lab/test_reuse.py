"""What a future writes again of a past, word for word, and how much of it a context holds."""

import pytest
from builders import assistant, call, conversation, result, thinking, user
from hypothesis import given
from hypothesis import strategies as st

from compactctl.lab.reuse import Reuse, ReuseLookup, find_reuse
from compactctl.model.message import Message
from compactctl.summaries.extract.passages import read_passages

STATEMENT = "The scarecrow_bed wants two liters of water before noon."
CODE = "water_needed = tank.level - rain.today * slope"
OLD = f"{CODE}\nreturn round(water_needed, 2)"
PATH = "garden/beds.py"
# The newest texts ask for nothing, so these stand between what is asked for and the cut.
FILLER = tuple(assistant(f"Row {number} is done.") for number in range(6))


def reuse_of(past: list[Message], *future: list[Message]) -> Reuse:
    prefix = read_passages(conversation(*past, *FILLER))
    return find_reuse(prefix, [read_passages(conversation(*messages)) for messages in future])


def shares(reuse: Reuse, *context: Message) -> dict[str, float | None]:
    tallies = ReuseLookup(reuse).tally(read_passages(conversation(*context)))
    return {measure: tally.share for measure, tally in tallies.items()}


def edit(old: str, name: str = "e") -> Message:
    return call(name, "Edit", file_path=PATH, old_string=old, new_string="pass")


def test_a_rare_word_that_the_agent_writes_again_is_asked_for() -> None:
    reuse = reuse_of([user(STATEMENT)], [assistant("Now the scarecrow_bed, before water.")])
    assert reuse.words == {"scarecrow_bed"}
    assert shares(reuse, user("scarecrow_bed"))["words"] == 1
    assert shares(reuse, user("scarecrow"))["words"] == 0


@pytest.mark.parametrize(
    "first",
    [
        user("And the scarecrow_bed?"),
        result("x", "garden\tscarecrow_bed"),
    ],
)
def test_a_word_that_others_show_first_is_not_asked_for(first: Message) -> None:
    assert not reuse_of([user(STATEMENT)], [first], [assistant("The scarecrow_bed!")]).words


def test_the_newest_texts_ask_for_nothing() -> None:
    past = [user(STATEMENT), *FILLER[:-1], assistant("Row 5 is done, like the scarecrow_bed.")]
    future = read_passages(conversation(assistant(f"The scarecrow_bed: {STATEMENT}")))
    reuse = find_reuse(read_passages(conversation(*past)), [future])
    assert "scarecrow_bed" not in reuse.words


def test_reasoning_neither_asks_nor_answers() -> None:
    assert not reuse_of([user(STATEMENT)], [thinking(STATEMENT)]).words
    reuse = reuse_of([user(STATEMENT)], [assistant(STATEMENT)])
    assert shares(reuse, thinking(STATEMENT))["words"] == 0


def test_a_statement_is_a_word_with_half_of_the_words_around_it() -> None:
    reuse = reuse_of([user(STATEMENT)], [assistant("Now the scarecrow_bed.")])
    assert shares(reuse, user("The scarecrow_bed wants water before noon!"))["statements"] == 1
    assert shares(reuse, user("Look at scarecrow_bed"))["statements"] == 0


def test_a_line_counts_whole_without_its_number_or_inside_a_longer_one() -> None:
    reuse = reuse_of([result("r", f"   12→  {CODE}")], [assistant(CODE)])
    assert reuse.lines == {CODE}
    assert shares(reuse, user(f"> 7: {CODE}"))["lines"] == 1
    assert shares(reuse, user(f"- [L12] {CODE} # liters"))["lines"] == 1
    assert shares(reuse, user(CODE[:-1]))["lines"] == 0


def test_an_edit_needs_its_lines_to_be_there() -> None:
    reuse = reuse_of([result("r", OLD)], [edit(OLD)])
    assert shares(reuse, user(OLD))["edits"] == 1
    assert shares(reuse, user(CODE))["edits"] == 0


@pytest.mark.parametrize("shown", [OLD, f"1\t{CODE}"])
def test_an_edit_of_lines_that_were_read_again_asks_for_nothing(shown: str) -> None:
    read = call("r", "Read", file_path=PATH)
    assert reuse_of([result("x", OLD)], [read, result("r", "nothing")], [edit(OLD)]).edits
    assert not reuse_of([result("x", OLD)], [read, result("r", shown)], [edit(OLD)]).edits


def test_the_old_side_of_a_patch_is_an_edit_per_hunk() -> None:
    patch = (
        f"*** Begin Patch\n*** Update File: {PATH}\n@@ tank level today\n-{CODE}\n+pass\n"
        "*** Update File: a.py\n return round(water_needed, 2)\n+pass\n*** End Patch"
    )
    reuse = reuse_of([result("r", OLD)], [call("p", "apply_patch", input=patch)])
    assert sorted(map(sorted, reuse.edits)) == [["return round(water_needed, 2)"], [CODE]]


def test_a_path_that_is_read_again_may_be_shortened() -> None:
    path = f"/home/me/{PATH}"
    read = call("r", "Read", file_path=path)
    reuse = reuse_of([read, result("r", "a = 1")], [read])
    assert shares(reuse, user(f"- .../{PATH} (read)"))["rereads"] == 1
    assert shares(reuse, user("- beds.py (read)"))["rereads"] == 0
    assert not reuse_of([user(path)], [read]).rereads


LINES = st.sampled_from(
    [STATEMENT, CODE, OLD, f"  4→{CODE}", "cactus_corner", f"see {PATH}", "soil-sensor: 4°", "…"]
)
TEXTS = st.lists(LINES, max_size=4).map("\n".join)
MESSAGES = st.one_of(
    st.tuples(st.sampled_from([user, assistant, thinking]), TEXTS).map(lambda two: two[0](two[1])),
    TEXTS.map(edit),
    TEXTS.map(lambda text: result("e", text)),
    st.just(call("r", "Read", file_path=PATH)),
)


@given(
    past=st.lists(MESSAGES, max_size=12),
    future=st.lists(st.lists(MESSAGES, max_size=3), max_size=4),
    context=st.lists(MESSAGES, max_size=4),
    more=st.lists(MESSAGES, max_size=2),
)
def test_all_is_in_the_past_nothing_in_nothing_and_more_text_never_scores_less(
    past: list[Message],
    future: list[list[Message]],
    context: list[Message],
    more: list[Message],
) -> None:
    prefix = read_passages(conversation(*past, assistant("Next."), *FILLER))
    reuse = find_reuse(prefix, [read_passages(conversation(*messages)) for messages in future])
    lookup = ReuseLookup(reuse)
    assert all(tally.hits == tally.asked for tally in lookup.tally(prefix).values())
    assert all(tally.hits == 0 for tally in lookup.tally(()).values())
    fewer, larger = (
        lookup.tally(read_passages(conversation(*messages)))
        for messages in (context, [*context, *more])
    )
    assert all(fewer[measure].hits <= larger[measure].hits for measure in fewer)
