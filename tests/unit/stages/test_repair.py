import pytest
from builders import (
    assistant,
    call,
    call_part,
    conversation,
    message,
    result,
    result_part,
    system,
    user,
)
from examples import tries
from hypothesis import given
from unit.stages.support.plans import PLANS, build
from unit.stages.support.trials import (
    carried_out,
    hidden,
    inserted,
    propose,
    skipped,
    skips,
    view,
    words,
)

from compactctl.history.faults import Recipient
from compactctl.history.pairs import find_orphans
from compactctl.model.edit import DropPart, Insert, Proposal, Replace
from compactctl.model.message import CallId, MediaPart, Message, TextPart
from compactctl.profiles.refusals import load_refusals
from compactctl.records import replace
from compactctl.stages.repair import STAGE

CLAUDE = Recipient(provider="anthropic", rules=load_refusals(), pair_order="next turn")
GEMINI = replace(CLAUDE, provider="gemini")
GHOST = result("ghost", words(9))


def ids(messages: tuple[Message, ...]) -> list[str]:
    return [one.id for one in messages]


def test_a_whole_conversation_needs_no_repair() -> None:
    messages = conversation(
        user("go"), call("a", "Bash"), call("b", "Bash"), result("b", "x"), result("a", "y"),
    )  # fmt: skip
    for policy in ("drop", "synth"):
        outcome = skipped(STAGE, view(messages, can_write_assistant=True), policy=policy)
        assert outcome.reason == "every tool call has its result and every result its call"
    assert skips(STAGE, view(()))


def test_orphans_of_both_kinds_are_hidden_behind_one_marker() -> None:
    of = view(conversation(user("go"), call("a", "Bash"), user("on"), GHOST, user("done")))
    proposal = propose(STAGE, of)
    assert hidden(proposal) == ["m1", "m3"]
    assert proposal.notes == ("orphaned call fixed: 1", "orphaned result fixed: 1")
    marker = inserted(proposal)
    assert (marker.before, marker.message.kind) == ("m1", "marker")
    assert marker.message.text.endswith("removed: 2]")
    after = carried_out(of, proposal)
    assert find_orphans(after.messages) == frozenset()
    assert skips(STAGE, after)


def test_what_shares_a_message_with_an_orphan_stays() -> None:
    messages = conversation(
        message("assistant", *assistant("look").parts, call_part("a", "Bash")),
        message("user", result_part("ghost", "x"), *user("well").parts),
        call("b", "Bash"),
        message("user", result_part("b", "x"), result_part("ghost2", "y")),
        user("done"),
    )  # fmt: skip
    of = view(messages)
    proposal = propose(STAGE, of)
    dropped = [(edit.id, edit.part) for edit in proposal.edits if isinstance(edit, DropPart)]
    assert dropped == [("m0", 1), ("m1", 0), ("m3", 1)]
    assert len(proposal.edits) == 3
    after = carried_out(of, proposal)
    assert find_orphans(after.messages) == frozenset()
    assert skips(STAGE, after)


def test_protected_orphans_are_repaired_and_fixed_ones_stay() -> None:
    messages = conversation(
        user("go"),
        GHOST,
        message("tool", result_part("x", "y"), immutable_reason="held"),
        user("done"),
    )
    assert hidden(propose(STAGE, view(messages, protected=["m1"]))) == ["m1"]
    fixed = message("tool", result_part("x", "y"), immutable_reason="held")
    assert skips(STAGE, view(conversation(user("go"), fixed, user("done"))))


@pytest.mark.parametrize(
    "newest",
    [
        (call("a", "Bash"),),
        (call("a", "Bash"), call("b", "Bash"), result("b", "x")),
        (call("a", "Bash"), user("a reminder", is_injected=True)),
        (
            message("assistant", call_part("a", "Bash"), response_id="r"),
            assistant("look", response_id="r"),
        ),
    ],
)
def test_a_call_whose_result_may_still_come_is_left_alone(newest: tuple[Message, ...]) -> None:
    messages = conversation(user("go"), *newest)
    for policy in ("drop", "synth"):
        assert skips(STAGE, view(messages, can_write_assistant=True), policy=policy)


def test_a_call_before_other_prose_waits_for_nothing() -> None:
    messages = conversation(user("go"), call("a", "Bash"), assistant("something else"))
    assert hidden(propose(STAGE, view(messages))) == ["m1"]


def test_the_other_halves_are_written_where_they_belong() -> None:
    messages = conversation(
        user("go"), call("a", "Bash"), user("on"), result("ghost", "x", tool="Read"), user("done")
    )
    of = view(messages, can_write_assistant=True)
    proposal = propose(STAGE, of, policy="synth")
    answer, asked = (edit.message for edit in proposal.edits if isinstance(edit, Insert))
    assert (answer.kind, answer.role, answer.call_id, answer.tool) == (
        "result",
        "tool",
        "a",
        "Bash",
    )
    assert answer.text == "[Tool result unavailable - conversation was compacted]"
    assert (asked.kind, asked.role, asked.call_id) == ("call", "assistant", "ghost")
    assert asked.text == "[Tool call for Read - conversation was compacted]"
    after = carried_out(of, proposal)
    assert ids(after.messages) == ["m0", "m1", answer.id, "m2", asked.id, "m3", "m4"]
    assert find_orphans(after.messages) == frozenset()
    assert skips(STAGE, after, policy="synth")


def test_a_missing_result_follows_those_of_calls_made_together() -> None:
    messages = conversation(
        call("a", "Bash"), call("b", "Bash"), result("b", "x"), user("on"),
        message("assistant", call_part("c", "Bash"), call_part("d", "Bash")),
        message("user", result_part("c", "x"), *user("and").parts),
    )  # fmt: skip
    proposal = propose(STAGE, view(messages, can_write_assistant=True), policy="synth")
    places = [edit.before for edit in proposal.edits if isinstance(edit, Insert)]
    assert places == ["m3"]


def test_results_that_no_call_fits_by_order_are_orphans() -> None:
    lost = result("", words(9), tool="Read")
    messages = conversation(user("go"), lost, user("done"))
    assert hidden(propose(STAGE, view(messages))) == ["m1"]
    of = view(messages, can_write_assistant=True)
    assert skips(STAGE, carried_out(of, propose(STAGE, of, policy="synth")), policy="synth")
    without_ids = conversation(call("", "Read"), result("", "x"), user("done"))
    assert skips(STAGE, view(without_ids))


def test_a_call_of_an_unknown_tool_is_written_as_such() -> None:
    messages = conversation(user("go"), GHOST, user("done"))
    proposal = propose(STAGE, view(messages, can_write_assistant=True), policy="synth")
    written = inserted(proposal).message
    assert (written.tool, written.text[:22]) == ("unknown", "[Tool call for unknown")


def test_results_with_one_id_need_one_call_and_those_without_one_each() -> None:
    same = conversation(user("go"), result("x", "1"), user("on"), result("x", "2"), user("done"))
    of = view(same, can_write_assistant=True)
    calls = [edit for edit in propose(STAGE, of, policy="synth").edits if isinstance(edit, Insert)]
    assert [(edit.before, edit.message.kind) for edit in calls] == [("m1", "call")]
    assert calls[0].message.id.endswith("-1")
    without = conversation(user("go"), result("", "1"), result("", "2"), user("done"))
    of = view(without, can_write_assistant=True)
    calls = [edit for edit in propose(STAGE, of, policy="synth").edits if isinstance(edit, Insert)]
    assert [edit.before for edit in calls] == ["m1", "m2"]
    assert [edit.message.id[-2:] for edit in calls] == ["-1", "-2"]


def test_a_call_whose_id_is_used_again_before_its_result_stays_without_one() -> None:
    messages = conversation(
        message("assistant", call_part("a", "Bash"), call_part("a", "Read")), user("on"), user("x")
    )
    of = view(messages, can_write_assistant=True)
    inserts = [e for e in propose(STAGE, of, policy="synth").edits if isinstance(e, Insert)]
    assert [(edit.message.tool, edit.before) for edit in inserts] == [("Read", "m1")]


def test_nothing_is_written_where_the_format_cannot() -> None:
    messages = conversation(user("go"), GHOST, user("done"))
    outcome = skipped(STAGE, view(messages), policy="synth")
    assert outcome.reason == "tool calls and results cannot be written in this format"


def test_nothing_is_written_before_what_must_stay_as_it_is() -> None:
    messages = conversation(
        user("go"), call("a", "Bash"), assistant("answer", immutable_reason="logged")
    )
    assert skips(STAGE, view(messages, can_write_assistant=True), policy="synth")
    assert hidden(propose(STAGE, view(messages))) == ["m1"]


def test_a_result_goes_before_results_of_other_missing_calls() -> None:
    messages = conversation(
        user("go"),
        call("a", "Bash"),
        result("b", "x"),
        assistant("answer", immutable_reason="logged"),
    )
    of = view(messages, can_write_assistant=True)
    after = carried_out(of, propose(STAGE, of, policy="synth"))
    assert [m.role for m in after.messages[1:5]] == ["assistant", "tool", "assistant", "tool"]
    assert skips(STAGE, after, policy="synth")


def test_the_marker_stands_behind_the_system_prompt() -> None:
    of = view(conversation(system("be good"), GHOST, user("go"), assistant("ok")))
    assert [m.origin.is_synthetic for m in carried_out(of, propose(STAGE, of)).messages[:2]] == [
        False,
        True,
    ]


@tries(60)
@given(plan=PLANS)
def test_written_halves_never_make_orphans_and_a_second_run_finds_nothing(
    plan: list[tuple[str, int, int]],
) -> None:
    of = view(build(plan), can_write_assistant=True)
    outcome = STAGE.propose(of, None, STAGE.options(policy="synth"))  # type: ignore[arg-type]
    if isinstance(outcome, Proposal):
        after = carried_out(of, outcome)
        assert find_orphans(after.messages) < find_orphans(of.messages)
        again = STAGE.propose(after, None, STAGE.options(policy="synth"))  # type: ignore[arg-type]
        assert not hasattr(again, "edits")


def test_the_other_half_of_a_providers_own_tool_is_never_written() -> None:
    searched = replace(call_part("s", "web_search", query="rule"), embedded=True)
    found = result_part("f", words(9), tool="web_search", embedded=True)
    messages = conversation(
        user("Look it up."), message("assistant", searched), user("And this."),
        message("assistant", found), user("Go on."), assistant("Done."),
    )  # fmt: skip
    of = view(messages, can_write_assistant=True)
    assert "only the provider" in skipped(STAGE, of, policy="synth").reason
    assert hidden(propose(STAGE, of)) == ["m1", "m3"]


def test_halves_that_can_be_completed_are_though_others_cannot() -> None:
    server = replace(call_part("s", "search"), embedded=True)
    messages = conversation(
        user("go"), message("assistant", server), user("on"), result("lost", "x"), user("done")
    )
    of = view(messages, can_write_assistant=True)
    inserts = [e for e in propose(STAGE, of, policy="synth").edits if isinstance(e, Insert)]
    assert [(edit.before, edit.message.call_id) for edit in inserts] == [("m3", "lost")]


def test_a_call_of_missing_code_is_hidden_with_its_result_and_not_completed() -> None:
    lost = replace(call_part("a", "query"), caller=CallId("code"))
    messages = conversation(
        user("go"), message("assistant", lost), result("a", "x"), assistant("ok"), user("on")
    )
    assert hidden(propose(STAGE, view(messages))) == ["m1", "m2"]
    outcome = skipped(STAGE, view(messages, can_write_assistant=True), policy="synth")
    assert "only the provider" in outcome.reason


def test_code_that_waits_for_the_newest_result_is_no_orphan() -> None:
    made = replace(call_part("a", "query"), caller=CallId("code"))
    messages = conversation(
        user("go"), call("code", "run"), message("assistant", made), result("a", "x")
    )
    assert skips(STAGE, view(messages))


def test_a_moved_result_has_the_id_and_the_text_that_it_was_given() -> None:
    note = TextPart(text="words first")
    messages = conversation(
        user("go"),
        call("a b", "Read"),
        message("user", note, result_part("a b", "half \ud83d")),
        assistant("so"),
        user("on"),
    )
    of = view(messages, recipient=CLAUDE, can_write_results=True)
    after = carried_out(of, propose(STAGE, of))
    (moved,) = [part for one in after.messages for part in one.results]
    assert (moved.call_id, moved.text) == ("a_b", "half \ufffd")
    assert [len(one.parts) for one in after.messages].count(0) == 0
    assert skips(STAGE, after)


def test_a_result_between_two_texts_is_moved_once() -> None:
    note = TextPart(text="a note")
    messages = conversation(
        user("go"),
        call("a", "Read"),
        message("user", note, result_part("a", "x"), note),
        assistant("so"),
        user("on"),
    )
    of = view(messages, recipient=GEMINI, can_write_results=True)
    proposal = propose(STAGE, of)
    assert len([edit for edit in proposal.edits if isinstance(edit, Insert)]) == 1
    assert skips(STAGE, carried_out(of, proposal))


def test_an_unreadable_image_is_not_counted_with_those_beyond_the_limit() -> None:
    shown = [message("user", MediaPart(media_type="image/png", n_bytes=9)) for _ in range(100)]
    broken = message("user", MediaPart(media_type="image/png", n_bytes=9, real_type=""))
    of = view(conversation(*shown, broken), recipient=CLAUDE)
    proposal = propose(STAGE, of)
    assert [edit.id for edit in proposal.edits if isinstance(edit, Replace)] == ["m100"]


def test_halves_of_characters_go_and_the_image_beside_them_stays() -> None:
    shown = MediaPart(media_type="image/png", n_bytes=9)
    messages = conversation(
        user("go"),
        call("a", "Read"),
        message("user", result_part("a", "half \ud83d", media=(shown,))),
        assistant("so"),
        user("on"),
    )
    of = view(messages, recipient=CLAUDE)
    after = carried_out(of, propose(STAGE, of))
    (part,) = after.messages[2].results
    assert (part.text, part.media) == ("half \ufffd", (shown,))


def test_nothing_is_moved_from_where_it_must_stay() -> None:
    late = message("user", result_part("a", "x"), TextPart(text="b"), immutable_reason="held")
    messages = conversation(
        user("go"), call("a", "Read"), user("well"), assistant("wait"), late, assistant("so"),
        user("on"),
    )  # fmt: skip
    assert skips(STAGE, view(messages, recipient=CLAUDE, can_write_results=True))


def test_words_beside_a_call_stay_when_both_are_members_of_the_record() -> None:
    lost = replace(call_part("a", "f"), path=("messages", 1, "function_call", "arguments"))
    words = TextPart(text="precious", path=("messages", 1, "content"))
    answer = message("assistant", words, lost, record_path=("messages", 1))
    of = view(conversation(user("go"), answer, user("on")))
    drops = [edit.part for edit in propose(STAGE, of).edits if isinstance(edit, DropPart)]
    assert drops == [1]


def test_a_layout_that_keeps_originals_loses_no_message() -> None:
    empty = message("user", TextPart(text=""))
    of = view(conversation(empty, assistant("so"), user("on")), recipient=CLAUDE)
    assert [edit.id for edit in propose(STAGE, of).edits if isinstance(edit, DropPart)] == ["m0"]
    assert skips(STAGE, replace(of, keeps_originals=True))


def test_of_a_conversation_something_is_left() -> None:
    of = view(conversation(message("user", TextPart(text=""))), recipient=CLAUDE)
    assert skipped(STAGE, of).reason == "nothing would be left of the conversation"
