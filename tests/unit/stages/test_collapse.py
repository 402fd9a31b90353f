import pytest
from builders import assistant, call, conversation, message, result, user
from unit.stages.support.trials import (
    carried_out,
    hidden,
    inserted,
    joined,
    meter,
    propose,
    skipped,
    skips,
    view,
    words,
)

from compactctl.history.pairs import find_orphans
from compactctl.model.message import Message
from compactctl.stages import truncate
from compactctl.stages.collapse import STAGE

MARKER = 7


def turns(*sizes: int) -> tuple[Message, ...]:
    pairs = ((user(words(size - size // 2)), assistant(words(size // 2))) for size in sizes)
    return conversation(*(m for pair in pairs for m in pair))


@pytest.mark.parametrize(
    ("target", "groups"), [(950, 1), (500 + MARKER, 5), (500, 6), (50, 8), (999, 1)]
)
def test_turns_go_oldest_first_until_the_target_fits_with_its_marker(
    target: int, groups: int
) -> None:
    of = view(turns(*[100] * 10), target=target)
    proposal = propose(STAGE, of)
    assert hidden(proposal) == [f"m{n}" for n in range(2, 2 + 2 * groups)]
    assert meter().total(carried_out(of, proposal).messages) == 1_000 - 100 * groups + MARKER


def test_a_target_out_of_reach_is_reported() -> None:
    proposal = propose(STAGE, view(turns(*[100] * 10), target=50))
    assert proposal.notes == ("messages hidden: 16", "still over the target")


def test_the_first_and_the_last_turn_always_stay() -> None:
    proposal = propose(STAGE, view(turns(1_000, 10, 10, 1_000), target=500))
    assert hidden(proposal) == ["m2", "m3", "m4", "m5"]


def test_without_a_target_the_whole_middle_goes() -> None:
    assert len(hidden(propose(STAGE, view(turns(*[100] * 10))))) == 16
    assert len(hidden(propose(STAGE, view(turns(*[100] * 10)), groups=3))) == 6


def test_the_marker_follows_the_first_turn() -> None:
    of = view(turns(*[100] * 4))
    proposal = propose(STAGE, of)
    marker = inserted(proposal).message
    assert marker.text == "[Earlier messages collapsed to fit context window]"
    assert [m.id for m in carried_out(of, proposal).messages] == [
        "m0", "m1", marker.id, "m6", "m7",
    ]  # fmt: skip


def test_nothing_to_collapse() -> None:
    assert skips(STAGE, view(()))
    assert "no turn between" in skipped(STAGE, view(turns(100, 100))).reason
    within = skipped(STAGE, view(turns(*[100] * 4), target=400))
    assert within.reason == "already within the target of 400 tokens"


def test_a_turn_whose_result_comes_in_the_next_goes_with_it() -> None:
    messages = joined(
        *turns(50),
        user(words(50)), call("a", "Bash"),
        user(words(50)), result("a", words(50)), assistant(words(50)),
        *turns(50, 50),
    )  # fmt: skip
    of = view(messages)
    proposal = propose(STAGE, of, groups=1)
    assert hidden(proposal) == ["m2", "m3", "m4", "m5", "m6"]
    assert find_orphans(carried_out(of, proposal).messages) == frozenset()


def test_pinned_messages_stay() -> None:
    of = view(turns(*[100] * 4), protected=["m3"])
    assert hidden(propose(STAGE, of)) == ["m2", "m4", "m5"]


@pytest.mark.parametrize("groups", [0, 3])
def test_a_second_run_finds_nothing(groups: int) -> None:
    of = view(turns(*[100] * 10))
    assert skips(STAGE, carried_out(of, propose(STAGE, of, groups=groups)), groups=groups)


def test_new_turns_can_be_collapsed_later() -> None:
    of = view(turns(*[100] * 10))
    after = carried_out(of, propose(STAGE, of, groups=3)).messages
    later = view((*after, message("user", *user("next").parts, id="n1")))
    again = propose(STAGE, later, groups=1)
    # One marker stands for all of them.
    assert hidden(again) == [after[2].id, "m8", "m9"]
    left = carried_out(later, again).messages
    assert [m.id for m in left if m.origin.is_synthetic] == [inserted(again).message.id]


def test_a_marker_with_a_count_counts_what_an_earlier_one_hid() -> None:
    options = {"groups": 1, "marker": "[{count} collapsed]"}
    of = view(turns(*[100] * 10))
    after = carried_out(of, propose(STAGE, of, **options)).messages
    later = view((*after, message("user", *user("next").parts, id="n1")))
    assert inserted(propose(STAGE, later, **options)).message.text == "[4 collapsed]"


def test_a_truncation_marker_is_not_a_collapse_marker() -> None:
    of = view(turns(*[100] * 10))
    cut = carried_out(of, propose(truncate.STAGE, of))
    assert hidden(propose(STAGE, cut))


@pytest.mark.parametrize(
    ("keep", "first", "count"), [(0, "m0", 8), (1, "m2", 6), (2, "m4", 4), (3, "m6", 2)]
)
def test_more_or_no_turns_can_stay_at_the_front(keep: int, first: str, count: int) -> None:
    proposal = propose(STAGE, view(turns(*[100] * 5)), keep_first=keep)
    assert (hidden(proposal)[0], len(hidden(proposal))) == (first, count)


@pytest.mark.parametrize(
    ("count", "options", "reason"),
    [
        (1, {"keep_first": 0}, "no turn between the start and the last"),
        (2, {}, "no turn between the first and the last"),
        (3, {"keep_first": 2}, "no turn between the first 2 and the last"),
        (5, {"keep_first": 4}, "no turn between the first 4 and the last"),
        (2, {"unit": "steps"}, "no step between the first and the last"),
    ],
)
def test_too_many_turns_at_the_front_leave_nothing(
    count: int, options: dict[str, int | str], reason: str
) -> None:
    outcome = skipped(STAGE, view(turns(*[100] * count)), **options)
    assert outcome.reason == reason
    stage = "truncate" if "unit" in options else "steps"
    assert outcome.detail.split()[1] == stage


def test_steps_of_a_single_turn_can_be_hidden() -> None:
    pairs = ((call(f"c{n}", "Bash"), result(f"c{n}", words(50))) for n in range(5))
    of = view(
        joined(user("go"), user("mind", is_injected=True), *(m for pair in pairs for m in pair))
    )
    assert "--collapse-unit steps" in skipped(STAGE, of).detail
    proposal = propose(STAGE, of, unit="steps")
    assert hidden(proposal) == ["m4", "m5", "m6", "m7", "m8", "m9"]
    after = carried_out(of, proposal)
    assert find_orphans(after.messages) == frozenset()
    assert skips(STAGE, after, unit="steps")
    assert hidden(propose(STAGE, of, unit="steps", groups=1)) == ["m4", "m5"]


def test_a_prompt_goes_with_its_first_step() -> None:
    of = view(joined(*turns(50), *turns(50), assistant(words(50)), *turns(50)))
    proposal = propose(STAGE, of, unit="steps", groups=1)
    assert hidden(proposal) == ["m2", "m3"]
