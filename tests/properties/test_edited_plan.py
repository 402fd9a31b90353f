"""However a plan is edited, it is refused, or hides and parts nothing that must stay."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import pytest
from examples import tries
from hypothesis import assume, given
from hypothesis import strategies as st
from properties.chats import SHAPES
from properties.halves import parted
from properties.jobs import CLAUDE, FAST, Written, bench, read, written
from properties.plans import LONG_PLANS, Step
from unit.commands.planning.planned import with_fate

from compactctl.commands.compact.compact import compact
from compactctl.commands.measuring.measure import measure
from compactctl.commands.planning.apply_plan import apply_plan
from compactctl.commands.planning.plan import PlanOptions
from compactctl.commands.planning.plan_file import PlanFile, PlannedMessage, PlannedText
from compactctl.errors import ChangedError, UsageError
from compactctl.history.protection import ProtectOptions
from compactctl.history.turns import leading_system_count, split_conversations
from compactctl.model.message import GroupId, Message, MessageId
from compactctl.model.transcript import Transcript
from compactctl.records import replace


class Change(NamedTuple):
    """An edit of an entry; numbers choose the entry, and the group or place that it gets."""

    kind: Literal["hide", "regroup", "keep", "rewrite", "move", "take out"]
    entry: int
    other: int


CHANGES = st.lists(
    st.builds(
        Change,
        st.sampled_from(["hide", "regroup", "regroup", "keep", "rewrite", "move", "take out"]),
        st.integers(0, 3) | st.integers(0, 200),
        st.integers(0, 200),
    ),
    min_size=1,
    max_size=3,
)


def edited(plan: PlanFile, changes: Sequence[Change]) -> PlanFile:
    rows = list(plan.messages)
    groups = [row.group for row in rows if row.group] or [GroupId("none")]
    for kind, entry, other in changes:
        at = entry % len(rows)
        row, group = rows[at], groups[other % len(groups)]
        match kind:
            case "hide":
                rows[at] = replace(with_fate(row, "hidden"), group=None, texts=())
            case "regroup":
                rows[at] = replace(with_fate(row, "hidden"), group=group, texts=())
            case "keep":
                rows[at] = with_fate(row, "kept")
            case "rewrite":
                texts = (PlannedText(part=other % 2, text="{}"),)
                rows[at] = replace(with_fate(row, "rewritten"), group=group, texts=texts)
            case _:
                stand_ins = [each for each in rows if each.written is not None]
                if stand_ins:
                    chosen = stand_ins[entry % len(stand_ins)]
                    rows.remove(chosen)
                    if kind == "move":
                        rows.insert(other % (len(rows) + 1), chosen)
    return replace(plan, messages=tuple(map(whole, rows)))


def whole(row: PlannedMessage) -> PlannedMessage:
    """Return an entry as one that is read: what is written has no other fate."""
    if row.written is None:
        return row
    return replace(with_fate(row, "written"), group=row.written.group)


def staying(messages: Sequence[Message]) -> set[MessageId]:
    front = leading_system_count(messages)
    return {
        message.id
        for index, message in enumerate(messages)
        if index < front or message.locks.immutable_reason or message.locks.unmovable_reason
    } | {messages[-1].id}


# Each shape as often as any other, and what opens a conversation in front.
OPENING = Step(kind="system", number=1, size=5, style=0)
SYSTEM_FIRST = LONG_PLANS.map(lambda plan: (OPENING, *plan))
WRITTEN = st.builds(written, LONG_PLANS | SYSTEM_FIRST, st.sampled_from((*SHAPES, CLAUDE)))
HIDING = PlanOptions(stages=("truncate",), settings={"truncate": {"fraction": 0.9}})


def planned(transcript_of: Written) -> tuple[Transcript, PlanFile]:
    """Return a transcript and the plan of a compaction that hides much of it."""
    with bench(transcript_of.data) as at:
        transcript = read(at).transcript
        assume(transcript.effective)
        options = at.options(
            plan=HIDING, protect=ProtectOptions(keep_turns=0), dry_run=True, plan_out="plan.json"
        )
        plan = compact(options).requested.plan_file
    assert plan is not None
    return transcript, plan


@tries(100)
@given(transcript_of=WRITTEN, changes=CHANGES)
def test_what_must_stay_is_there_and_no_pair_is_parted(
    transcript_of: Written, changes: list[Change]
) -> None:
    transcript, plan = planned(transcript_of)
    try:
        after = apply_plan(
            transcript, edited(plan, changes), measure(transcript, FAST)
        ).applied.after
    except (UsageError, ChangedError):
        return
    shown = {message.id for message in after}
    for messages in split_conversations(transcript.effective):
        assert staying(messages) <= shown
    assert parted(after) <= parted(transcript.effective)


@tries(60)
@given(transcript_of=WRITTEN)
def test_what_must_stay_cannot_be_put_behind_a_marker(transcript_of: Written) -> None:
    transcript, plan = planned(transcript_of)
    assume(any(row.written is not None for row in plan.messages))
    measured = measure(transcript, FAST)
    for messages in split_conversations(transcript.effective)[:1]:
        for name in sorted(staying(messages))[:4]:
            at = next(n for n, row in enumerate(plan.messages) if row.id == name)
            for group in range(2):
                with pytest.raises(UsageError):
                    apply_plan(transcript, edited(plan, [Change("regroup", at, group)]), measured)
