"""Messages between two that an API does not take side by side."""

from builders import assistant, conversation, user
from unit.pipeline.edits import hide, insert, rewrite
from unit.stages.support.trials import view

from compactctl.model.edit import Edit, Insert, Proposal
from compactctl.model.message import Message, Role
from compactctl.pipeline.gaps import GAP_TEXT, fill_gaps
from compactctl.records import replace

TALK = conversation(
    user("a"), assistant("b"), user("c"), assistant("d"), user("e"), user("f"), assistant("g")
)


def between(first: Message, second: Message) -> tuple[Role, ...]:
    return ("assistant",) if first.role == second.role == "user" else ()


def filled(*edits: Edit, fixed: str = "", has_rule: bool = True) -> list[tuple[str, str, str]]:
    """Return where messages are inserted, with their ids and roles."""
    messages = [
        replace(m, locks=replace(m.locks, immutable_reason="signed")) if m.id == fixed else m
        for m in TALK
    ]
    of = view(messages, roles_between=between if has_rule else None)
    proposal = fill_gaps(of, Proposal(stage="s", edits=edits))
    assert proposal.edits[: len(edits)] == edits
    added = proposal.edits[len(edits) :]
    assert all(isinstance(edit, Insert) and edit.message.text == GAP_TEXT for edit in added)
    return [
        (edit.before, edit.message.id, edit.message.role)
        for edit in added
        if isinstance(edit, Insert)
    ]


def test_a_gap_is_filled_where_a_message_went() -> None:
    assert filled(hide("m1")) == [("m2", "between-g-1", "assistant")]
    assert filled(hide("m1", "m3")) == [
        ("m2", "between-g-1", "assistant"), ("m4", "between-g-2", "assistant"),
    ]  # fmt: skip


def test_messages_that_were_side_by_side_before_stay_so() -> None:
    assert filled(hide("m6")) == []
    assert filled(hide("m0")) == []


def test_numbers_go_on_behind_what_is_inserted_already() -> None:
    assert filled(insert("m6", "x"), hide("m1")) == [
        ("m2", "between-g-2", "assistant"), ("x", "between-g-3", "assistant"),
    ]  # fmt: skip


def test_nothing_is_inserted_before_a_message_that_may_be_no_record() -> None:
    assert filled(hide("m1"), fixed="m2") == []


def test_without_a_rule_or_a_gap_the_proposal_is_as_it_was() -> None:
    assert filled(hide("m1"), has_rule=False) == []
    assert filled(rewrite("m1", "x")) == []
    of, proposal = view(TALK, roles_between=between), Proposal(stage="s", edits=(hide("m6"),))
    assert fill_gaps(of, proposal) is proposal
