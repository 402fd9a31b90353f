"""How much of what is asked for a context still holds."""

from functools import cache

import pytest
from builders import assistant, call, conversation, user
from hypothesis import given
from hypothesis import strategies as st
from unit.lab.garden import BROKEN, CHANGED, CHECK, RULE, line, session

from compactctl.lab.controls import CONTROLS
from compactctl.lab.cuts import cuts_at
from compactctl.lab.score import MEASURES, EvaluationCase
from compactctl.lab.tally import Tally
from compactctl.lab.text_content import TextReader
from compactctl.model.message import Message
from compactctl.records import replace
from compactctl.tokens.counters.estimates import CharsCounter
from compactctl.tokens.meter import Meter

METER = Meter(CharsCounter(1))


def case(messages: tuple[Message, ...] | None = None) -> EvaluationCase:
    (cut,) = cuts_at(messages or session(), [0.6], METER.message)
    return EvaluationCase(cut, TextReader(), None)


@cache
def usual_case() -> EvaluationCase:
    return case()


def scored(found: EvaluationCase, *texts: str) -> dict[str, float | None]:
    score = found.score(conversation(*map(assistant, texts)))
    return {name: tally.share for name, tally in score.tallies.items()}


@given(
    before=st.integers(4, 12),
    after=st.integers(8, 12),
    odd=st.text(max_size=200),
)
def test_of_the_whole_prefix_everything_is_there(before: int, after: int, odd: str) -> None:
    odder = user(f"{odd}\nalways mind the rain_gauge")
    messages = session(odder, before=before, after=after)
    for cut in cuts_at(messages, [0.2, 0.4, 0.5], METER.message):
        score = EvaluationCase(cut, TextReader(), None).score(cut.prefix)
        assert list(score.tallies) == list(MEASURES)
        assert all(tally.hits == tally.asked for tally in score.tallies.values())
        assert score.pair_errors == 0


def test_of_nothing_nothing_is_there() -> None:
    found = case()
    score = found.score(())
    assert all(tally.hits == 0 for tally in score.tallies.values())
    assert all(
        tally.asked for name, tally in score.tallies.items() if name not in ("tasks", "rereads")
    )


def test_a_list_of_names_is_recall_without_support() -> None:
    found = case()
    shares = scored(found, *found.demand.entities)
    assert (shares["recall"], shares["support"], shares["lines"]) == (1, 0, 0)


def test_a_name_that_stands_only_at_the_end_of_a_path_asks_for_no_support() -> None:
    odd = user("Look into /tmp/shed-key for the key_of_shed.")
    later = call("odd", "Bash", command="cat shed-key key_of_shed")
    found = case((*session(odd)[:-2], *conversation(later)))
    assert {"shed-key", "key_of_shed"} <= set(found.demand.entities)
    tally = found.score(found.cut.prefix).tallies["support"]
    assert tally.hits == tally.asked


def test_a_line_with_most_of_its_words_is_support() -> None:
    # What later edits replace, as ``garden.session`` writes it.
    shares = scored(case(), *(line(plot, 3) for plot in range(12)))
    assert (shares["support"], shares["statements"], shares["lines"]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("measure", "text"),
    [
        ("rules", f"> - {RULE}"),
        ("first", f"Make   garden/beds.py tidy. {RULE}"),
        ("last", "[L30] Go on with the plots, one by one."),
        ("errors", f"> {BROKEN}"),
        ("commands", f"$ {CHECK}\nfailed"),
        ("changed", f"/home/me/{CHANGED}"),
        ("read", " ".join(f"garden/plot_{number}.py" for number in range(12))),
    ],
)
def test_a_probe_is_answered_by_what_it_asks_for(measure: str, text: str) -> None:
    found = case()
    shares = scored(found, text)
    assert shares[measure] == 1
    others = {name for name, share in scored(found, "Nothing is known.").items() if share}
    assert not others


def test_rules_stand_letter_by_letter() -> None:
    assert scored(case(), RULE.replace("before", "until"))["rules"] == 0


def test_parted_pairs_are_counted_unless_they_were_parted() -> None:
    found = case(session(call("lost", "Bash", command="sleep 9")))
    prefix = found.cut.prefix
    kept = [message for message in prefix if not any(r.call_id == "look3" for r in message.results)]
    assert found.score(kept).pair_errors == 1


def test_soon_counts_the_first_requests() -> None:
    found = case(session(before=30, after=30))
    tallies = found.score(()).tallies
    assert 0 < tallies["soon"].asked < tallies["recall"].asked


def test_a_tally_without_questions_has_no_share() -> None:
    assert Tally(0, 0).share is None
    assert Tally(1, 4).share == 0.25


@pytest.mark.parametrize("name", CONTROLS)
@given(room=st.integers(0, 40_000), seed=st.integers(0, 3))
def test_a_control_has_the_size_asked_for_and_is_the_same_again(
    name: str, room: int, seed: int
) -> None:
    prefix = usual_case().cut.prefix
    context = CONTROLS[name](prefix, room, METER, seed)
    assert context == CONTROLS[name](prefix, room, METER, seed)
    if name in {"newest", "random"}:
        assert METER.total(context) <= room
    if name == "mask":
        calls = [replace(message, parts=message.calls) for message in prefix]
        assert [replace(m, parts=m.calls) for m in context] == calls
    assert usual_case().score(context).pair_errors == 0 or name == "random"


def test_another_seed_draws_other_lines() -> None:
    prefix = case().cut.prefix
    drawn = {CONTROLS["random"](prefix, 5_000, METER, seed) for seed in range(3)}
    assert len(drawn) == 3
