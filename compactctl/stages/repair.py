"""Repair: hide or complete tool calls without a result and results without a call."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import (
    PartIndex,
    call_makers,
    iter_parts,
    orphan_parts,
    unpaired_parts,
)
from compactctl.history.protection import hideable
from compactctl.history.stand_ins import newest_id
from compactctl.model.edit import Insert, Proposal, SkippedStage
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
from compactctl.records import Record, replace
from compactctl.stages.support.stage import Stage, group_id, option
from compactctl.stages.support.truncation import Marker, hide_behind_marker
from compactctl.tokens.meter import Meter

NAME = "repair"
TOOL = "{tool}"
# OpenAI and Anthropic refuse a call that names no tool.
UNKNOWN_TOOL = "unknown"
RepairPolicy = Literal["drop", "synth"]
_PairHalf = ToolCallPart | ToolResultPart
Orphans = Mapping[PartIndex, _PairHalf]


class RepairOptions(Record):
    """How to repair; the texts are those of NeuroLink."""

    policy: RepairPolicy = option(
        "drop",
        '"drop" hides messages that contain only unpaired calls or results; "synth" writes the '
        "missing half, in the formats neurolink, openai-chat, anthropic-messages, spring-ai and "
        "agent-code.",
    )
    marker: str = option(
        "[Tool calls and results without their other half were removed: {count}]",
        "Text that replaces the hidden messages; ``{count}`` is their number.",
    )
    result_text: str = option(
        "[Tool result unavailable - conversation was compacted]",
        'With "synth", the text of a missing result.',
    )
    call_text: str = option(
        "[Tool call for {tool} - conversation was compacted]",
        'With "synth", the text of a missing call; ``{tool}`` is the name of the tool.',
    )


def propose(
    view: ConversationView,
    meter: Meter,  # noqa: ARG001 - a broken conversation is repaired whatever its size
    options: RepairOptions,
) -> Proposal | SkippedStage:
    """Propose to hide or complete every tool pair of which one half is missing.

    Calls of the newest response may still get their results, so they are not touched.
    """
    orphans = _find_orphans(view.messages)
    if not orphans:
        reason = "every tool call has its result and every result its call"
        return SkippedStage(stage=NAME, reason=reason)
    return _POLICIES[options.policy](view, options, orphans)


def _find_orphans(messages: Sequence[Message]) -> Orphans:
    pending = _pending_response(messages)
    makers = call_makers(messages)
    # Code that called a tool goes on when the result arrives.
    waiting_code = {maker for call, maker in makers.items() if call.message in pending}
    orphans = {**orphan_parts(messages), **_unmatched_results(messages)}
    return {
        part_index: part
        for part_index, part in sorted(orphans.items(), key=lambda item: item[0])
        if not (isinstance(part, ToolCallPart) and part_index.message in pending)
        and part_index not in waiting_code
    }


def _unmatched_results(messages: Sequence[Message]) -> Orphans:
    """Return the results without a call id; none if there are calls without one either.

    Without ids, results belong to calls by their order, which the format's reader has matched: a
    result that still has no id matched no call.
    """
    if any(not call.call_id for message in messages for call in message.calls):
        return {}
    return {
        part_index: part
        for part_index, part in iter_parts(messages)
        if isinstance(part, ToolResultPart) and not part.call_id
    }


def _pending_response(messages: Sequence[Message]) -> range:
    """Return the messages of the newest response, whose results may still arrive."""
    end = len(messages)
    while end and (messages[end - 1].results or messages[end - 1].origin.is_injected):
        end -= 1
    start = end
    while start and _belongs_to_response(messages[start - 1], messages[end - 1].response_id):
        start -= 1
    return range(start, end)


def _belongs_to_response(message: Message, response_id: str | None) -> bool:
    is_same_response = response_id is not None and message.response_id == response_id
    return message.role == "assistant" and (is_same_response or bool(message.calls))


def _hide_orphans(
    view: ConversationView, options: RepairOptions, orphans: Orphans
) -> Proposal | SkippedStage:
    orphan_ids = [
        message.id
        for index, message in enumerate(view.messages)
        if message.parts and all(PartIndex(index, n) in orphans for n in range(len(message.parts)))
    ]
    ids = hideable(view, orphan_ids)
    if not ids:
        reason = f"{len(orphans):,} unpaired calls or results cannot be hidden"
        detail = "they are protected or share a message with others; see --repair-policy synth"
        return SkippedStage(stage=NAME, reason=reason, detail=detail)
    marker = Marker(
        stage=NAME,
        prefix="repair",
        template=options.marker,
        reason="its other half is missing",
    )
    hidden = set(ids)
    halves = [
        part
        for part_index, part in orphans.items()
        if view.messages[part_index.message].id in hidden
    ]
    proposal = hide_behind_marker(view, marker, ids, options, _notes(halves))
    return replace(proposal, figures=_figures(halves))


def _complete_pairs(
    view: ConversationView, options: RepairOptions, orphans: Orphans
) -> Proposal | SkippedStage:
    if not view.can_write_assistant:
        reason = "tool calls and results cannot be written in this format"
        return SkippedStage(stage=NAME, reason=reason, detail="see --repair-policy drop")
    messages = view.messages
    # The code that made a call cannot be written: such a call and its result stay as they are.
    unpaired = unpaired_parts(messages).keys() | _unmatched_results(messages).keys()
    orphans = {index: part for index, part in orphans.items() if index in unpaired}
    completable = tuple(_completable_halves(messages, orphans))
    if not completable:
        reason = "there is no place for the missing halves: the next message must not change"
        if not any(map(is_replaceable, orphans.values())):
            reason = "only the provider can write the missing halves: it runs the tools"
        return SkippedStage(stage=NAME, reason=reason, detail="see --repair-policy drop")
    group = group_id(NAME, options, [messages[index].id for index, _ in completable])
    newest = newest_id(messages)
    inserts = tuple(
        Insert(before=messages[index].id, message=_missing_half(part, options, group, n, newest))
        for n, (index, part) in enumerate(completable, 1)
    )
    halves = [part for _, part in completable]
    return Proposal(stage=NAME, edits=inserts, notes=_notes(halves), figures=_figures(halves))


def _completable_halves(
    messages: Sequence[Message], orphans: Orphans
) -> Iterator[tuple[int, _PairHalf]]:
    """Yield each half that can be completed, with the index before which its other half goes.

    Several results with one id need only one call. Not completed are calls whose id is used again
    before the result could be inserted, which would then belong to the later call, and halves of
    tools that the provider runs, because it accepts only its own.
    """
    called_ids: set[CallId] = set()
    for part_index, part in orphans.items():
        index = _insertion_index(messages, part_index, part, orphans)
        # An immutable message may be part of the request instead of a record among others.
        if (
            index == len(messages)
            or messages[index].locks.immutable_reason
            or not is_replaceable(part)
        ):
            continue
        if isinstance(part, ToolCallPart):
            used_ids = _calls_between(messages, part_index, index)
        else:
            used_ids = called_ids - {CallId("")}
            called_ids.add(part.call_id)
        if part.call_id not in used_ids:
            yield index, part


def _calls_between(messages: Sequence[Message], part_index: PartIndex, end: int) -> set[CallId]:
    """Return the ids of the calls after a part and before the message at index ``end``."""
    index, number = part_index
    parts = list(messages[index].parts[number + 1 :])
    parts += (part for message in messages[index + 1 : end] for part in message.parts)
    return {part.call_id for part in parts if isinstance(part, ToolCallPart)}


def _insertion_index(
    messages: Sequence[Message], part_index: PartIndex, part: _PairHalf, orphans: Orphans
) -> int:
    """Return the index before which the other half goes.

    A call goes right before its result. A result goes after the results of parallel calls:

        call 1, call 2 (orphan), result 1, [result 2 goes here] user

    An orphaned result ends that row: it belongs to another call.
    """
    if isinstance(part, ToolResultPart):
        return part_index.message
    index = part_index.message + 1
    while index < len(messages) and messages[index].calls and not messages[index].results:
        index += 1
    while index < len(messages) and _holds_only_paired_results(messages[index], index, orphans):
        index += 1
    return index


def _holds_only_paired_results(message: Message, index: int, orphans: Orphans) -> bool:
    count = len(message.parts)
    is_paired = all(PartIndex(index, part) not in orphans for part in range(count))
    return is_paired and 0 < count == len(message.results)


def _missing_half(
    part: _PairHalf,
    options: RepairOptions,
    group: GroupId,
    number: int,
    newest: MessageId | None,
) -> Synthetic:
    tool = part.tool or UNKNOWN_TOOL
    is_call = isinstance(part, ToolCallPart)
    kind: Literal["call", "result"] = "result" if is_call else "call"
    text = options.result_text if is_call else options.call_text.replace(TOOL, tool)
    return Synthetic(
        id=MessageId(f"repair-{kind}-{group}-{number}"),
        kind=kind,
        role="tool" if is_call else "assistant",
        text=text,
        group=group,
        through=newest,
        tool=tool,
        call_id=part.call_id,
    )


def _notes(halves: Sequence[_PairHalf]) -> tuple[str, ...]:
    calls, results = _figures(halves).values()
    return (f"orphaned calls fixed: {calls:,}", f"orphaned results fixed: {results:,}")


def _figures(halves: Sequence[_PairHalf]) -> dict[str, int]:
    calls = sum(isinstance(part, ToolCallPart) for part in halves)
    return {"orphanedCallsFixed": calls, "orphanedResultsFixed": len(halves) - calls}


_POLICIES: Mapping[
    RepairPolicy, Callable[[ConversationView, RepairOptions, Orphans], Proposal | SkippedStage]
] = {
    "drop": _hide_orphans,
    "synth": _complete_pairs,
}

STAGE = Stage(
    name=NAME,
    title="hide or complete tool calls without a result and results without a call",
    options=RepairOptions,
    propose=propose,
    repairs=True,
    count_names=("orphanedCallsFixed", "orphanedResultsFixed"),
    foreign_schemas=(
        neurolink_schema(
            "RepairResult",
            repaired="applied",
            orphanedCallsFixed="orphanedCallsFixed",
            orphanedResultsFixed="orphanedResultsFixed",
        ),
    ),
)
