"""No stage can starve another: what earlier ones took away is there for those that come later."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from examples import tries
from hypothesis import assume, given
from hypothesis import strategies as st
from properties.jobs import FAST, LONG_TRANSCRIPTS, WAYS, Bench, Written, bench, read

from compactctl.commands.compact.compact import compact
from compactctl.commands.measuring.measure import measure
from compactctl.commands.operations.find_history import history_behind
from compactctl.commands.operations.states import originals_of
from compactctl.commands.planning.plan import PlanOptions, Recipe, make_plan
from compactctl.commands.planning.run_stages import SizedTranscript, StageInputs, run_stages
from compactctl.commands.reading.transcript import InputOptions, load
from compactctl.history.protection import ProtectOptions
from compactctl.model.message import Message, MessageId, Part, ToolCallPart
from compactctl.model.summary import Summary, SummaryRequest
from compactctl.records import replace
from compactctl.stages.support.condensation import with_originals
from compactctl.tokens.meter import part_texts

# These add messages, or take them out for good.
_LASTING = {"repair", "drop"}
_RUNS = st.lists(WAYS, min_size=1, max_size=3)


def taking_back(way: dict[str, Any]) -> dict[str, Any]:
    """Leave out of a way what is not to come back, and keep the tags that tell what is."""
    plan = way["plan"]
    stages = tuple(name for name in plan.stages if name not in _LASTING)
    assume(stages)
    return way | {"plan": replace(plan, stages=stages), "tags": True}


def contents(messages: Sequence[Message]) -> set[tuple[str, ...]]:
    """Return what messages say; of equal ones without ids of their own it counts one."""
    return {tuple(map(_said, message.parts)) for message in messages}


def _said(part: Part) -> str:
    if isinstance(part, ToolCallPart):
        return f"{part.tool} {part.arguments}"
    return " ".join(part_texts(part))


def known_at(at: Bench) -> Mapping[MessageId, tuple[Message, ...]]:
    """Return the originals of what is in the output."""
    loaded = load(InputOptions(path=str(at.out)))
    return originals_of(loaded, history_behind(loaded))


@tries(40)
@given(written=LONG_TRANSCRIPTS, ways=_RUNS)
def test_a_transcript_stands_for_all_that_it_ever_held(
    written: Written, ways: list[dict[str, Any]]
) -> None:
    with bench(written.data) as at:
        before = contents(read(at).transcript.effective)
        at.out.write_bytes(written.data)
        for way in ways:
            compact(at.options(**taking_back(way), path=str(at.out), output=None, in_place=True))
        shown = load(InputOptions(path=str(at.out))).transcript.effective
        assert contents(with_originals(shown, known_at(at))) == before


def summarized(at: Bench, *stages: str, plan: PlanOptions) -> list[Message]:
    """Run stages and a summary; return what that is made of."""
    loaded = read(at)
    told: list[Message] = []

    def noted(request: SummaryRequest, count: Callable[[str], int]) -> Summary:  # noqa: ARG001 - a Summarizer
        told.extend(request.messages)
        return Summary(text="said")

    measured = measure(loaded.transcript, FAST)
    recipe = Recipe(
        plan=replace(plan, stages=(*stages, "summarize"), target=None),
        protect=ProtectOptions(keep_turns=0),
    )
    chosen = make_plan(recipe, measured.limits)
    sized = SizedTranscript.of(loaded.transcript, measured)
    run_stages(sized, chosen, StageInputs(summarizer=noted))
    return told


@tries(40)
@given(written=LONG_TRANSCRIPTS, way=WAYS, order=st.randoms(use_true_random=False))
def test_a_summary_is_made_of_originals_whatever_ran_before_it(
    written: Written, way: dict[str, Any], order: Any
) -> None:
    plan = taking_back(way)["plan"]
    stages = [name for name in plan.stages if name != "summarize"]
    order.shuffle(stages)
    with bench(written.data) as at:
        before = contents(read(at).transcript.effective)
        told = summarized(at, *stages, plan=plan)
    assert contents(told) <= before
