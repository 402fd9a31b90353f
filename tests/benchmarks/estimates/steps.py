"""Collects the evidence for constants: what was sent, and by how much the context grew.

A step leads from one recorded request to the next, where neither a boundary nor a result that was
cleared lies between. What is in its answer, and in what was sent after that, is counted by kind:
with o200k_base, and with the vocabulary that ``ctok`` reconstructs where that is installed.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchmarks.estimates.recorded_session import (
    CTOK,
    OURS,
    RAW,
    Session,
    hide_reports_after,
    is_report_void,
)
from compactctl.commands.measuring.context_size import (
    context_size,
    continues_another,
    restored_after,
)
from compactctl.commands.measuring.measure import Measurement, MeasureOptions, measure
from compactctl.history.usage.calibration import context_growth
from compactctl.history.usage.requests import Request, find_requests
from compactctl.model.message import (
    FilePart,
    MediaPart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolDefinitionPart,
    ToolResultPart,
)
from compactctl.records import replace
from compactctl.tokens.client_sizes import WRITTEN
from compactctl.tokens.counters.claude import claude_is_installed
from compactctl.tokens.meter import Meter
from compactctl.tokens.models.lookup import resolve_model
from compactctl.tokens.overhead import RequestMeter, has_line_numbers, overhead_for

O200K, MADE_BY_CTOK = "o200k_base", "ctok"
Kinds = Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """From one request to the next; sizes are in tokens.

    ``growth`` is by how much the context grew, ``output`` what was reported of the answer between
    them, None where nothing was, and ``reasoning`` what of that. ``answer`` and ``entered`` are
    what is counted of the answer and of what was sent after it, by kind, for each counter.
    """

    family: str
    growth: int
    output: int | None
    reasoning: int
    answer: Mapping[str, Kinds]
    entered: Mapping[str, Kinds]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The evidence of a session: its steps, its overhead, and what its client restored, in tokens.

    ``overhead`` is that of its first request, None where none was reported; ``restored`` what its
    client added after each compaction. ``thought`` is the reported reasoning of answers that
    reason.
    """

    client: str
    steps: tuple[Step, ...]
    overhead: int | None
    restored: tuple[int, ...]
    thought: tuple[int, ...]


def collect_evidence(session: Session) -> Evidence:
    """Collect the evidence of a session."""
    found = tuple(steps(session))
    return Evidence(
        client=session.format.name,
        steps=found,
        overhead=_overhead(session),
        restored=tuple(_restored(session)),
        thought=tuple(step.reasoning for step in found if step.reasoning),
    )


def steps(session: Session) -> Iterator[Step]:
    """Yield the steps of a session."""
    messages = [m for m in session.transcript.messages if not m.origin.is_subagent]
    meters = dict(_meters(session))
    for meter in meters.values():
        meter.prime(messages)
    found = sorted(
        find_requests(messages, meters[O200K].message), key=lambda request: request.first_index
    )
    for (earlier, later), growth in zip(pairwise(found), _growths(session, found), strict=True):
        sent = _sent(messages, earlier, later)
        ends = (messages[earlier.first_index].line, messages[later.first_index].line)
        if _is_usable(session, ends, sent):
            answer = [_without_results(messages[at]) for at in earlier.message_indices]
            yield Step(
                family=session.family,
                growth=growth,
                output=earlier.output if earlier.is_output_reported else None,
                reasoning=earlier.reasoning,
                answer={name: _kinds(answer, meter) for name, meter in meters.items()},
                entered={name: _kinds(sent, meter) for name, meter in meters.items()},
            )


def _growths(session: Session, found: Sequence[Request]) -> list[int]:
    """Return by how much contexts grew, as if no reasoning had ended with its turn."""
    keeps = resolve_model(session.transcript.session.model).keeps_reasoning
    if keeps or not session.transcript.session.drops_past_reasoning:
        found = [replace(request, reasoning=0) for request in found]
    return context_growth(found)


def _meters(session: Session) -> Iterator[tuple[str, Meter]]:
    model = resolve_model(session.transcript.session.model)
    yield O200K, Meter(session.counter(RAW, model))
    if model.reconstruction and claude_is_installed():
        yield MADE_BY_CTOK, Meter(session.counter(CTOK, model))


def _sent(messages: Sequence[Message], earlier: Request, later: Request) -> list[Message]:
    """Return what was sent between two requests: all but the answer, whose results count."""
    return [
        replace(messages[at], parts=messages[at].results, role="tool")
        if at in earlier.message_indices
        else messages[at]
        for at in range(earlier.first_index, later.first_index)
    ]


def _without_results(message: Message) -> Message:
    kept = (part for part in message.parts if not isinstance(part, ToolResultPart))
    return replace(message, parts=tuple(kept))


def _is_usable(session: Session, ends: tuple[int, int], sent: Sequence[Message]) -> bool:
    """Whether all that was sent is in the file, and the client removed nothing."""
    is_whole = not any(ends[0] < line < ends[1] for line in session.transcript.compactions.lines)
    results = [result for message in sent for result in message.results]
    pictures = any(isinstance(part, MediaPart) for message in sent for part in message.parts)
    changed = any(result.cleared or result.media for result in results)
    return is_whole and not pictures and not changed and all(m.role != "assistant" for m in sent)


def _kinds(messages: Sequence[Message], meter: Meter) -> Kinds:
    """Count what is in messages by the kinds of the framing; kinds without tokens are missing."""
    found: Counter[str] = Counter()
    for message in messages:
        found["per_call"] += len(message.calls)
        found["per_result"] += len(message.results) + sum(bool(c.added) for c in message.calls)
        if message.origin.is_injected and message.role == "user":
            found["per_injected"] += 1
        elif any(isinstance(part, TextPart) for part in message.parts):
            found["per_prompt" if message.role == "user" else "per_text"] += 1
        for part in message.parts:
            found[_kind(part, message)] += meter.part(part)
            if isinstance(part, ReasoningPart) and part.sealed:
                where = "summed" if part.text else "sealed"
                found[where] += part.sealed
                found[f"per_{where}"] += 1
    return dict(+found)


def _kind(part: Part, message: Message) -> str:
    match part:
        case ToolResultPart():
            return "numbered" if has_line_numbers(part.text) else "result"
        case ToolCallPart():
            return "call"
        case ReasoningPart():
            return "thought"
        case FilePart() | ToolDefinitionPart():
            return "injected"
        case _ if message.role == "assistant":
            return "said"
        case _:
            return "injected" if message.origin.is_injected else "user"


def _overhead(session: Session) -> int | None:
    """Return what the first request held besides messages; None if the file begins later."""
    transcript = session.transcript
    if continues_another(transcript) or not session.requests:
        return None
    first = session.requests[0]
    sent = (m for m in transcript.messages[: first.place] if not m.origin.is_subagent)
    return round(first.context - sum(map(_measured(session).framed.total, sent)))


def _restored(session: Session) -> Iterator[int]:
    """Yield what the client restored after each of its compactions, if that is known."""
    if continues_another(session.transcript):
        return
    for place in sorted(session.boundaries):
        request = session.requests[place]
        before = session.before(request)
        if session.follows(request) and is_report_void(before, session.requests[place - 1]):
            seen = hide_reports_after(before, session.requests[place - 1])
            size = context_size(seen, _measured(session))
            if size.range is not None and restored_after(seen) is not WRITTEN:
                yield request.context - (size.total - size.restored)


def _measured(session: Session) -> Measurement:
    measured = measure(session.transcript, MeasureOptions())
    meter = Meter(session.counter(OURS, measured.model))
    framed = RequestMeter(meter, overhead_for(measured.model, meter.counter))
    return replace(measured, meter=meter, framed=framed)
