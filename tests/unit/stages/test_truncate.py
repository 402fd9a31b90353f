import pytest
from builders import assistant, call, conversation, message, result, summary, system, user
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
from compactctl.stages.truncate import STAGE


def chat(count: int, size: int = 30) -> tuple[Message, ...]:
    kinds = (user, assistant)
    return conversation(*(kinds[n % 2](words(size)) for n in range(count)))


@pytest.mark.parametrize(
    ("count", "fraction", "removed"),
    [
        (6, 0.5, 2), (7, 0.5, 2), (9, 0.5, 2), (10, 0.5, 4), (11, 0.5, 4), (20, 0.5, 8),
        (100, 0.5, 48), (20, 0.75, 12), (20, 0.9, 16),
    ],
)  # fmt: skip
def test_an_even_number_after_the_first_pair_is_hidden(
    count: int, fraction: float, removed: int
) -> None:
    proposal = propose(STAGE, view(chat(count)), fraction=fraction)
    assert hidden(proposal) == [f"m{n}" for n in range(2, 2 + removed)]


@pytest.mark.parametrize(("count", "fraction"), [(4, 0.5), (5, 0.5), (20, 0.05), (20, 0.0)])
def test_too_little_to_hide(count: int, fraction: float) -> None:
    assert skips(STAGE, view(chat(count)), fraction=fraction)
    assert skips(STAGE, view(()))


def test_twenty_messages_become_thirteen() -> None:
    of = view(chat(20))
    proposal = propose(STAGE, of)
    marker = inserted(proposal).message
    after = carried_out(of, proposal).messages
    assert [m.id for m in after[:4]] == ["m0", "m1", marker.id, "m10"]
    assert len(after) == 13
    assert marker.id.startswith("truncation-")
    assert (marker.role, marker.kind, marker.through) == ("user", "marker", "m19")
    assert marker.text == ("[Earlier messages truncated: 8 messages hidden to reduce context]")


def test_the_newest_message_stays_whatever_the_fraction() -> None:
    assert hidden(propose(STAGE, view(chat(20)), fraction=1.0))[-1] == "m18"


def test_a_target_hides_the_oldest_until_it_fits_with_its_marker() -> None:
    of = view(chat(20), target=400)
    proposal = propose(STAGE, of, even=False)
    after = carried_out(of, proposal)
    left = meter().total(after.messages)
    assert 400 - 30 < left <= 400
    assert hidden(proposal) == [f"m{n}" for n in range(2, 9)]
    assert proposal.notes == ("messages hidden: 7",)
    assert skipped(STAGE, after).reason == "already within the target of 400 tokens"


def test_a_lower_target_hides_more_without_new_messages() -> None:
    of = view(chat(20), target=400)
    after = carried_out(of, propose(STAGE, of, even=False))
    [marker] = [m for m in after.messages if m.origin.is_synthetic]
    lower = propose(STAGE, view(after.messages, target=200))
    assert hidden(lower)[:2] == [marker.id, "m9"]
    # The marker counts the seven that the earlier one stands for.
    count = len(hidden(lower)) - 1 + 7
    text = f"[Earlier messages truncated: {count} messages hidden to reduce context]"
    assert inserted(lower).message.text == text


def test_what_cannot_fit_is_reported() -> None:
    of = view(joined(user(words(500)), assistant(words(500)), *chat(4)), target=600)
    proposal = propose(STAGE, of)
    assert hidden(proposal) == ["m2", "m3"]
    assert proposal.notes == ("messages hidden: 2", "still over the target")
    assert skips(STAGE, carried_out(of, proposal))


def test_tool_pairs_stay_whole_at_both_ends() -> None:
    pairs = ((call(f"c{n}", "Bash"), result(f"c{n}", words(30))) for n in range(10))
    of = view(conversation(user("go"), *(m for pair in pairs for m in pair)))
    proposal = propose(STAGE, of)
    after = carried_out(of, proposal).messages
    assert find_orphans(after) == frozenset()
    assert [m.id for m in after[:3]] == ["m0", "m1", "m2"]
    assert hidden(proposal)[0] == "m3"


def test_the_first_exchange_has_no_system_injected_or_written_messages() -> None:
    messages = joined(
        system("be good"), user("memory", is_injected=True), summary("before"), *chat(10)
    )
    assert hidden(propose(STAGE, view(messages)))[0] == "m5"


def test_summaries_and_pinned_messages_stay() -> None:
    messages = joined(*chat(4), summary(words(90)), *chat(10))
    proposal = propose(STAGE, view(messages, protected=["m3"]), fraction=0.9)
    assert {"m3", "m4"}.isdisjoint(hidden(proposal))
    assert "m5" in hidden(proposal)


def test_protected_newest_messages_stay() -> None:
    of = view(chat(20), protected=[f"m{n}" for n in range(6, 20)])
    assert hidden(propose(STAGE, of, fraction=0.9)) == ["m2", "m3", "m4", "m5"]


def test_a_marker_must_pay_for_itself() -> None:
    outcome = skipped(STAGE, view(chat(10, size=2)))
    assert outcome.reason == "the messages that can be hidden are no larger than the marker"


def test_a_second_run_finds_nothing_until_something_is_added() -> None:
    of = view(chat(40))
    after = carried_out(of, propose(STAGE, of))
    assert skipped(STAGE, after).reason == "nothing was added since the last truncation"
    more = (*after.messages, message("user", *user("next").parts, id="n1"))
    assert propose(STAGE, view(more)).edits


def test_the_marker_says_how_many_in_the_users_words() -> None:
    proposal = propose(STAGE, view(chat(20)), marker="({count} gone) {this} stays")
    assert inserted(proposal).message.text == "(8 gone) {this} stays"


def test_the_number_need_not_be_even() -> None:
    of = view(chat(9))
    assert len(hidden(propose(STAGE, of))) == 2
    assert len(hidden(propose(STAGE, of, even=False))) == 3


@pytest.mark.parametrize(
    ("target", "margin", "hides"), [(480, 0.0, 5), (480, 0.15, 6), (480, 0.5, 12), (590, 0.01, 1)]
)
def test_a_margin_hides_more_than_the_target_needs(target: int, margin: float, hides: int) -> None:
    proposal = propose(STAGE, view(chat(20), target=target), margin=margin, even=False)
    assert len(hidden(proposal)) == hides


@pytest.mark.parametrize("target", range(200, 600, 40))
def test_down_to_a_target_the_number_is_even_too(target: int) -> None:
    of = view(chat(20), target=target)
    odd, even = (hidden(propose(STAGE, of, even=even)) for even in (False, True))
    assert len(even) == len(odd) + len(odd) % 2


def test_an_odd_number_is_hidden_where_only_that_fits() -> None:
    of = view(chat(6), target=105)
    assert hidden(propose(STAGE, of)) == ["m2", "m3", "m4"]


def test_a_margin_never_hides_less_than_the_target_needs() -> None:
    small = joined(*chat(2), *(user(words(5)) for _ in range(10)), *chat(4, size=100))
    of = view(small, target=300)
    without = hidden(propose(STAGE, of))
    assert hidden(propose(STAGE, of, margin=0.15)) == without


@pytest.mark.parametrize(
    ("target", "step", "hides"),
    # The share is that of the excess, at least 0.1: 0.2 (2 of 18 messages), 0.75, then 0.95.
    [(560, 0.25, 2), (150, 0.25, 16), (480, 0.0, 6)],
)
def test_shares_grow_by_a_step(target: int, step: float, hides: int) -> None:
    proposal = propose(STAGE, view(chat(20), target=target), margin=0.15, step=step)
    assert len(hidden(proposal)) == hides


def test_a_target_out_of_reach_hides_the_largest_share() -> None:
    proposal = propose(STAGE, view(chat(42), target=1), margin=0.15, step=0.25)
    assert len(hidden(proposal)) == 38


@pytest.mark.parametrize("role", ["user", "system"])
def test_the_role_of_the_marker_can_be_chosen(role: str) -> None:
    assert inserted(propose(STAGE, view(chat(20)), marker_role=role)).message.role == role
