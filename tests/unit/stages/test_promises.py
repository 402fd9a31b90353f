"""What every stage promises about every conversation."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from examples import tries
from hypothesis import example, given
from hypothesis import strategies as st
from stage_examples import why_idle
from unit.stages.support.plans import PLANS, build
from unit.stages.support.trials import carried_out, meter, view

from compactctl.history.conversation_view import ConversationView, Protection
from compactctl.history.pairs import find_orphans
from compactctl.history.protection import hideable, protected_messages
from compactctl.model.edit import Hide, Proposal, Replace
from compactctl.model.message import Message, is_replaceable
from compactctl.model.summary import SummaryInputs
from compactctl.model.transcript import RecordStats
from compactctl.pipeline.run import StageStep, run
from compactctl.stages.registry import ALL_STAGES
from compactctl.stages.support.stage import Stage

UNSENT = {"copies": RecordStats(count=3, n_bytes=300)}
IN_SHORT = SummaryInputs(summary="in short")
SIXTHS = st.sets(st.integers(0, 29), max_size=5)
STAGES = pytest.mark.parametrize("stage", ALL_STAGES, ids=lambda stage: stage.name)
# Of the drawn ones some stages find something to do in one of six, so that few of them may show
# nothing at all: this gives work to every stage, without a target or with one.
WORK = [
    *(("user", 0, 40), ("assistant", 0, 9), ("result", 0, 31)),
    *((kind, n % 5, 31) for n in range(10) for kind in ("user", "call", "result")),
    *(("image", 0, 0), ("image", 1, 0)),
]
TARGETS = (None, 60)


def outcome(stage: Stage[Any], of: ConversationView) -> Proposal | None:
    found = stage.propose(of, meter(), eager(stage))
    return found if isinstance(found, Proposal) else None


def eager(stage: Stage[Any]) -> Any:
    return stage.example or stage.options()


def seen(
    plan: list[tuple[str, int, int]], pinned: set[int], target: int | None
) -> ConversationView:
    """Return a view of a planned conversation; ``pinned`` are the numbers of protected messages."""
    return view(
        build(plan),
        protected=[f"m{n}" for n in pinned],
        target=target,
        summary_inputs=IN_SHORT,
        unsent=UNSENT,
    )


def conversations(test: Callable[..., None]) -> Callable[..., None]:
    """Try a test with drawn conversations, and with one that gives every stage work."""
    for target in TARGETS:
        test = example(before=seen(WORK, set(), target))(test)
    drawn = st.builds(seen, PLANS, pinned=SIXTHS, target=st.none() | st.integers(0, 200))
    return given(before=drawn)(test)


def newest_protected(messages: Sequence[Message], target: int) -> ConversationView:
    return ConversationView(
        messages=tuple(messages),
        protection=Protection(reasons=protected_messages(messages)),
        target=target,
        summary_inputs=IN_SHORT,
    )


@STAGES
@tries(60)
@conversations
def test_a_proposal_shrinks_the_view_and_breaks_nothing(
    stage: Stage[Any], before: ConversationView
) -> None:
    proposal = outcome(stage, before)
    if proposal is None:
        return
    after = carried_out(before, proposal)
    if stage.only_trims_file:
        assert after.messages == before.messages
    elif not stage.repairs:
        assert meter().total(after.messages) < meter().total(before.messages)
    assert find_orphans(after.messages) <= find_orphans(before.messages)


@STAGES
@tries(60)
@conversations
def test_what_is_protected_fixed_or_anchored_stays(
    stage: Stage[Any], before: ConversationView
) -> None:
    proposal = outcome(stage, before)
    edits = proposal.edits if proposal else ()
    gone = {name for edit in edits if isinstance(edit, Hide) for name in edit.ids}
    changed = {edit.id for edit in edits if isinstance(edit, Replace)}
    for one in before.messages:
        if one.locks.immutable_reason or one.id in before.protection.reasons:
            assert one.id not in gone | changed
        assert not (one.locks.unmovable_reason and one.id in gone)
    assert gone == set(hideable(before, gone))


@STAGES
@tries(60)
@conversations
def test_what_only_a_provider_understands_is_never_rewritten(
    stage: Stage[Any], before: ConversationView
) -> None:
    proposal = outcome(stage, before)
    parts = {one.id: one.parts for one in before.messages}
    for edit in proposal.edits if proposal else ():
        assert not isinstance(edit, Replace) or is_replaceable(parts[edit.id][edit.part])


@STAGES
@tries(60)
@conversations
def test_no_content_becomes_empty(stage: Stage[Any], before: ConversationView) -> None:
    proposal = outcome(stage, before)
    # Providers refuse a block of text with nothing in it.
    for edit in proposal.edits if proposal else ():
        assert not isinstance(edit, Replace) or edit.text.strip()


@STAGES
@tries(60)
@conversations
def test_a_second_run_proposes_nothing(stage: Stage[Any], before: ConversationView) -> None:
    proposal = outcome(stage, before)
    if proposal is not None:
        assert outcome(stage, carried_out(before, proposal)) is None


@STAGES
@tries(60)
@given(plan=PLANS, target=st.integers(-50, 100))
def test_a_second_run_changes_nothing_though_the_target_is_out_of_reach(
    stage: Stage[Any], plan: list[tuple[str, int, int]], target: int
) -> None:
    step = StageStep(stage=stage, options=eager(stage))
    first = run(newest_protected(build(plan), target), [step], meter())
    again = run(newest_protected(first.view.messages, target), [step], meter())
    assert not again.edits, again.stages


@STAGES
@tries(40)
@conversations
def test_a_marker_or_summary_never_lands_inside_a_pair(
    stage: Stage[Any], before: ConversationView
) -> None:
    proposal = outcome(stage, before)
    if proposal is None:
        return
    after = carried_out(before, proposal).messages
    calls: dict[str, int] = {}
    for index, one in enumerate(after):
        calls.update({part.call_id: index for part in one.calls})
        for part in one.results:
            between = after[calls.get(part.call_id, index) : index]
            assert not any(item.origin.is_synthetic for item in between)


@STAGES
def test_the_generated_conversations_give_the_stage_work(stage: Stage[Any]) -> None:
    assert any(
        outcome(stage, view(build(WORK), target=target, unsent=UNSENT)) for target in TARGETS
    ), why_idle(
        stage,
        "a few messages of up to 40 words, among them calls of Read with results of 31 words"
        " (WORK in tests/unit/stages/test_promises.py)",
    )
