"""What is promised of a compaction is what the provider reported for what is left."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from real.choice import each_file, needs_files

from compactctl.commands.measuring.context_size import context_size
from compactctl.commands.measuring.measure import MeasureOptions, measure
from compactctl.commands.planning.plan import PlanOptions, Recipe, make_plan
from compactctl.commands.planning.run_stages import StageInputs, run_stages
from compactctl.commands.reading.transcript import InputOptions, load
from compactctl.history.usage.requests import Request
from compactctl.model.message import Message, ToolCallPart

# Of the next request. Growth between two requests is of all that entered at once, and what is cut
# within one message is estimated.
_OFF = 0.08
# With fewer requests since the context last fell little is known of what it holds.
_ENOUGH = 10


@pytest.mark.each_choice
@needs_files
@each_file
@pytest.mark.parametrize("stages", [("dedup", "prune"), ("window",)], ids="+".join)
def test_what_is_left_is_promised_as_it_was_reported(path: Path, stages: tuple[str, ...]) -> None:
    transcript = load(InputOptions(path=str(path))).transcript
    measured = measure(transcript, MeasureOptions())
    size = context_size(transcript, measured)
    if size.calibration is None or len(size.calibration.requests_since_edit) < _ENOUGH:
        pytest.skip("too little was reported")
    plan = make_plan(Recipe(plan=PlanOptions(stages=stages)), measured.limits)
    done = run_stages(transcript, plan, measured, StageInputs())
    before, left = transcript.effective, {message.id: message for message in done.applied.after}
    shares = [_left(message, left.get(message.id)) for message in before]
    estimate, visible = measured.framed.total, measured.framed.visible
    written = sum(estimate(m) for m in done.applied.after if m.id not in {b.id for b in before})

    found, turn = size.calibration.requests_since_edit, size.calibration.next_turn
    known = dict(_reported(found, turn))
    gone = sum(
        tokens * (1 - _mean([shares[i] for i in places], [visible(before[i]) for i in places]))
        for places, tokens in known.items()
    )
    told = {place for places in known for place in places}
    gone += sum(
        estimate(message) * (1 - shares[place])
        for place, message in enumerate(before)
        if place not in told
    )
    expected = size.total - gone + written
    assert done.outcome.after.request_tokens == pytest.approx(expected, rel=_OFF)


def _reported(found: Sequence[Request], turn: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield messages by their places, with what was reported for them together."""
    for request in found:
        yield (
            request.message_indices,
            request.answer - (request.expiring_tokens if request.turn < turn else 0),
        )
    for earlier, later in pairwise(found):
        ended = sum(r.expiring_tokens for r in found if r.turn == earlier.turn < later.turn)
        entered = tuple(
            i
            for i in range(earlier.first_index, later.first_index)
            if i not in earlier.message_indices
        )
        yield entered, later.context - earlier.context - earlier.answer + ended


def _left(message: Message, after: Message | None) -> float:
    """Return the share of a message's characters that is left."""
    if after is None:
        return 0.0
    return _length(after) / _length(message) if _length(message) else 1.0


def _length(message: Message) -> int:
    return sum(
        len(part.arguments if isinstance(part, ToolCallPart) else getattr(part, "text", ""))
        for part in message.parts
    )


def _mean(shares: Sequence[float], weights: Sequence[float]) -> float:
    pairs = zip(shares, weights, strict=True)
    return sum(s * w for s, w in pairs) / sum(weights) if sum(weights) > 0 else 1.0
