"""Repair: hide, or complete, tool calls without their result and results without their call."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import PartIndex, iter_parts, orphan_parts
from compactctl.history.protection import hideable
from compactctl.history.stand_ins import newest_id
from compactctl.model.edit import Insert, Proposal, Skipped
from compactctl.model.message import (
    CallId,
    GroupId,
    Message,
    MessageId,
    Synthetic,
    ToolCallPart,
    ToolResultPart,
    is_replaceable,
)
from compactctl.model.operation import neurolink_schema
from compactctl.stages.support.stage import Stage, group_id, option
from compactctl.stages.support.truncation import Marker, hide_behind
from compactctl.tokens.meter import Meter

NAME = "repair"
TOOL = "{tool}"
# OpenAI and Anthropic refuse a call that names no tool.
UNKNOWN_TOOL = "unknown"
RepairPolicy = Literal["drop", "synth"]
_PairHalf = ToolCallPart | ToolResultPart
Orphans = Mapping[PartIndex, _PairHalf]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairOptions:
    """How to repair; the texts are those of NeuroLink."""

    policy: RepairPolicy = option(
        "drop",
        '"drop" hides messages that hold nothing but calls without a result or results without a '
        'call; "synth" writes the missing half beside them instead, in the formats neurolink, '
        "openai-chat, anthropic-messages, spring-ai and agent-code.",
    )
    marker: str = option(
        "[Tool calls and results without their other half were removed: {count}]",
        "What stands in place of the hidden messages; ``{count}`` is their number.",
    )
    result_text: str = option(
        "[Tool result unavailable - conversation was compacted]",
        'With "synth", the result of a call whose own one is missing.',
    )
    call_text: str = option(
        "[Tool call for {tool} - conversation was compacted]",
        'With "synth", what a written call says; ``{tool}`` is the tool\'s name.',
    )


def propose(view: ConversationView, meter: Meter, options: RepairOptions) -> Proposal | Skipped:  # noqa: ARG001 - a broken conversation is repaired whatever its size
    """Propose to hide or complete every tool pair of which one half is missing.

    Calls of the newest response may still get their results, so they are left alone.
    """
    orphans = _orphans(view.messages)
    if not orphans:
        reason = "every tool call has its result and every result its call"
        return Skipped(stage=NAME, reason=reason)
    return _POLICIES[options.policy](view, options, orphans)


def _orphans(messages: Sequence[Message]) -> Orphans:
    waiting = _pending_response(messages)
    orphans = {**orphan_parts(messages), **_unmatched_results(messages)}
    return {
        place: part
        for place, part in sorted(orphans.items(), key=lambda item: item[0])
        if not (isinstance(part, ToolCallPart) and place.message in waiting)
    }


def _unmatched_results(messages: Sequence[Message]) -> Orphans:
    """Return the results that no call fits, where results are joined to calls by their order.

    They have no call id; where calls have none either, nothing can be said.
    """
    if any(not call.call_id for message in messages for call in message.calls):
        return {}
    return {
        place: part
        for place, part in iter_parts(messages)
        if isinstance(part, ToolResultPart) and not part.call_id
    }


def _pending_response(messages: Sequence[Message]) -> range:
    """Return the messages of the newest response, whose results may be still to come."""
    end = len(messages)
    while end and (messages[end - 1].results or messages[end - 1].origin.is_injected):
        end -= 1
    start = end
    while start and _calls_with(messages[start - 1], messages[end - 1].response_id):
        start -= 1
    return range(start, end)


def _calls_with(message: Message, response_id: str | None) -> bool:
    same = response_id is not None and message.response_id == response_id
    return message.role == "assistant" and (same or bool(message.calls))


def _hide_orphans(
    view: ConversationView, options: RepairOptions, orphans: Orphans
) -> Proposal | Skipped:
    whole = [
        message.id
        for index, message in enumerate(view.messages)
        if message.parts and all(PartIndex(index, n) in orphans for n in range(len(message.parts)))
    ]
    ids = hideable(view, whole)
    if not ids:
        reason = f"{len(orphans):,} calls or results without their other half may not be hidden"
        detail = "they are protected or share a message with others; see --repair-policy synth"
        return Skipped(stage=NAME, reason=reason, detail=detail)
    marker = Marker(
        stage=NAME,
        prefix="repair",
        template=options.marker,
        reason="its other half is missing",
    )
    hidden = set(ids)
    fixed = [part for place, part in orphans.items() if view.messages[place.message].id in hidden]
    proposal = hide_behind(view, marker, ids, options, _notes(fixed))
    return replace(proposal, figures=_figures(fixed))


def _complete_pairs(
    view: ConversationView, options: RepairOptions, orphans: Orphans
) -> Proposal | Skipped:
    if not view.can_write_assistant:
        reason = "tool calls and results cannot be written in this format"
        return Skipped(stage=NAME, reason=reason, detail="see --repair-policy drop")
    messages = view.messages
    placed = tuple(_completable_halves(messages, orphans))
    if not placed:
        reason = "there is no place for the other halves: what follows must stay as it is"
        if not any(map(is_replaceable, orphans.values())):
            reason = "only the provider can write the other halves: it runs the tools itself"
        return Skipped(stage=NAME, reason=reason, detail="see --repair-policy drop")
    group = group_id(NAME, options, [messages[index].id for index, _ in placed])
    newest = newest_id(messages)
    inserts = tuple(
        Insert(before=messages[index].id, message=_missing_half(part, options, group, n, newest))
        for n, (index, part) in enumerate(placed, 1)
    )
    fixed = [part for _, part in placed]
    return Proposal(stage=NAME, edits=inserts, notes=_notes(fixed), figures=_figures(fixed))


def _completable_halves(
    messages: Sequence[Message], orphans: Orphans
) -> Iterator[tuple[int, _PairHalf]]:
    """Yield each half that can be completed and the index before which its other half goes.

    Results that repeat an id need one call. A call whose id is used again before its result can
    be given stays as it is: that result would be the later call's. So do halves of tools that the
    provider runs, as it accepts no others.
    """
    called: set[CallId] = set()
    for place, part in orphans.items():
        at = _insertion_index(messages, place, part, orphans)
        # What must stay exactly as it is may not be a record among others but part of a request.
        if at == len(messages) or messages[at].locks.immutable_reason or not is_replaceable(part):
            continue
        if isinstance(part, ToolCallPart):
            taken = _calls_between(messages, place, at)
        else:
            taken = called - {CallId("")}
            called.add(part.call_id)
        if part.call_id not in taken:
            yield at, part


def _calls_between(messages: Sequence[Message], place: PartIndex, end: int) -> set[CallId]:
    own = messages[place.message].parts[place.part + 1 :]
    behind = (part for message in messages[place.message + 1 : end] for part in message.parts)
    return {part.call_id for part in (*own, *behind) if isinstance(part, ToolCallPart)}


def _insertion_index(
    messages: Sequence[Message], place: PartIndex, part: _PairHalf, orphans: Orphans
) -> int:
    """Return the index before which the other half goes.

    A call goes right before its result. A result goes behind those of calls made together with
    its own: they are in a row, and so are their results. One whose own call is missing is none of
    them.
    """
    if isinstance(part, ToolResultPart):
        return place.message
    at = place.message + 1
    while at < len(messages) and messages[at].calls and not messages[at].results:
        at += 1
    while at < len(messages) and _only_answers(messages[at], at, orphans):
        at += 1
    return at


def _only_answers(message: Message, index: int, orphans: Orphans) -> bool:
    count = len(message.parts)
    known = all(PartIndex(index, part) not in orphans for part in range(count))
    return known and 0 < count == len(message.results)


def _missing_half(
    part: _PairHalf,
    options: RepairOptions,
    group: GroupId,
    number: int,
    newest: MessageId | None,
) -> Synthetic:
    tool = part.tool or UNKNOWN_TOOL
    missing_result = isinstance(part, ToolCallPart)
    kind: Literal["call", "result"] = "result" if missing_result else "call"
    text = options.result_text if missing_result else options.call_text.replace(TOOL, tool)
    return Synthetic(
        id=MessageId(f"repair-{kind}-{group}-{number}"),
        kind=kind,
        role="tool" if missing_result else "assistant",
        text=text,
        group=group,
        through=newest,
        tool=tool,
        call_id=part.call_id,
    )


def _notes(fixed: Sequence[_PairHalf]) -> tuple[str, ...]:
    calls, results = _figures(fixed).values()
    return (f"orphaned calls fixed: {calls:,}", f"orphaned results fixed: {results:,}")


def _figures(fixed: Sequence[_PairHalf]) -> dict[str, int]:
    calls = sum(isinstance(part, ToolCallPart) for part in fixed)
    return {"orphanedCallsFixed": calls, "orphanedResultsFixed": len(fixed) - calls}


_POLICIES: Mapping[
    RepairPolicy, Callable[[ConversationView, RepairOptions, Orphans], Proposal | Skipped]
] = {
    "drop": _hide_orphans,
    "synth": _complete_pairs,
}

STAGE = Stage(
    name=NAME,
    title="hide, or complete, tool calls without their result and results without their call",
    options=RepairOptions,
    propose=propose,
    repairs=True,
    figures=("orphanedCallsFixed", "orphanedResultsFixed"),
    foreign_schemas=(
        neurolink_schema(
            "RepairResult",
            repaired="applied",
            orphanedCallsFixed="orphanedCallsFixed",
            orphanedResultsFixed="orphanedResultsFixed",
        ),
    ),
)
