"""Repair: remove, complete or correct what the provider or the client refuses."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal

from compactctl.history.conversation_view import ConversationView, Protection
from compactctl.history.faults import Fault, find_faults
from compactctl.history.pair_faults import PAIR_RULES, unpaired_halves
from compactctl.history.pairs import PartIndex, unpaired_parts
from compactctl.history.protection import hideable
from compactctl.history.stand_ins import newest_id
from compactctl.model.edit import Insert, Proposal, SkippedStage
from compactctl.model.message import (
    CallId,
    GroupId,
    Message,
    MessageId,
    OmittedPart,
    ReasoningPart,
    Synthetic,
    ToolCallPart,
    ToolResultPart,
    is_replaceable,
)
from compactctl.model.operation import neurolink_schema
from compactctl.records import Record, replace
from compactctl.stages.support.corrections import (
    ROUNDS,
    UNKNOWN_TOOL,
    Corrections,
    Drops,
    can_write_half,
    place_of_result,
)
from compactctl.stages.support.stage import Stage, group_id, option
from compactctl.stages.support.truncation import Marker, hide_behind_marker
from compactctl.tokens.meter import Meter

NAME = "repair"
TOOL = "{tool}"
RepairPolicy = Literal["drop", "synth"]
_PairHalf = ToolCallPart | ToolResultPart
Orphans = Mapping[PartIndex, _PairHalf]


class RepairOptions(Record):
    """How to repair; the texts are those of NeuroLink."""

    policy: RepairPolicy = option(
        "drop",
        '"drop" removes unpaired calls and results; "synth" writes the missing half, in the '
        "formats neurolink, openai-chat, anthropic-messages, spring-ai and agent-code.",
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


_EMPTY_MARKER = Marker(
    stage=NAME,
    prefix="repair",
    template="[Messages without content were removed: {count}]",
    reason="it has no content",
)
# Why half of a pair is removed.
_HALF = "its other half is missing"
# The next pass repairs what edits of one left, such as reasoning without its call.
_MAX_PASSES = 4


def propose(
    view: ConversationView,
    meter: Meter,  # noqa: ARG001 - a broken conversation is repaired whatever its size
    options: RepairOptions,
) -> Proposal | SkippedStage:
    """Propose edits after which the next request is accepted.

    Protected messages are repaired too: sessions break at their end. Calls of the newest response
    may still get their results, so they are not touched.
    """
    # As stored: what the client would fix by itself is repaired too.
    view = replace(view, messages=view.stored or view.messages, protection=Protection())
    faults = find_faults(view.messages, (), view.refused, view.recipient)
    halves = unpaired_halves(view.messages)
    # Of the file, what may be meant so is only offered to the user.
    others = [
        fault
        for fault in faults
        if fault.rule.id not in PAIR_RULES and (fault.record is None or fault.rule.certain)
    ]
    if not halves and not others:
        reason = "every tool call has its result and every result its call"
        return SkippedStage(stage=NAME, reason=reason)
    corrections = Corrections(view, _group(view, options, halves, others))
    corrections.correct_file(others)
    pairs = _PairRepair(corrections, options)
    for _ in range(_MAX_PASSES):
        n_edits = len(corrections.edits)
        _repair_once(corrections, pairs, options)
        if len(corrections.edits) == n_edits:
            break
    corrections.drop_lone_ids()
    if not corrections.edits:
        return pairs.refusal or _cannot_be_repaired(others, view)
    if not corrections.view.messages:
        return SkippedStage(stage=NAME, reason="nothing would be left of the conversation")
    return Proposal(
        stage=NAME,
        edits=tuple(corrections.edits),
        notes=(
            *pairs.notes,
            *(f"{what}: {count:,}" for what, count in corrections.repaired.items()),
        ),
        figures=pairs.figures,
    )


def _group(
    view: ConversationView, options: RepairOptions, halves: Orphans, faults: Sequence[Fault]
) -> GroupId:
    places = [f"{fault.rule.id} {fault.message} {fault.part} {fault.line}" for fault in faults]
    places += [f"{view.messages[index].id} {part}" for index, part in halves]
    return group_id(NAME, options, places)


def _repair_once(corrections: Corrections, pairs: "_PairRepair", options: RepairOptions) -> None:
    for rules in ROUNDS:
        corrections.correct(rules)
    pairs.add()
    _hide_empty(corrections, options)
    corrections.put_user_first()


def _hide_empty(corrections: Corrections, options: RepairOptions) -> None:
    faults = corrections.faults(frozenset({"message-empty"}))
    ids = hideable(
        corrections.view, (fault.message for fault in faults if fault.message is not None)
    )
    if ids:
        corrections.add(hide_behind_marker(corrections.view, _EMPTY_MARKER, ids, options, ()).edits)
        corrections.repaired[faults[0].rule.repaired] += len(ids)


def _cannot_be_repaired(faults: Sequence[Fault], view: ConversationView) -> SkippedStage:
    if view.keeps_originals:
        reason = "what is refused cannot be left out of a file that keeps its originals"
        return SkippedStage(stage=NAME, reason=reason, detail="see --layout split")
    advice = next((fault.rule.advice for fault in faults if fault.rule.advice), "")
    reason = f"only the user can fix it: {faults[0].text} (line {faults[0].line + 1:,})"
    return SkippedStage(stage=NAME, reason=reason, detail=advice)


class _PairRepair:
    """The repair of unpaired calls and results, by one of the policies.

    Attributes:
        refusal: why it can do nothing, None if it did something or had nothing to do.
        halves: those that were removed or completed.
    """

    def __init__(self, corrections: Corrections, options: RepairOptions) -> None:
        self.corrections, self.options = corrections, options
        self.refusal: SkippedStage | None = None
        self.halves: list[_PairHalf] = []

    def add(self) -> None:
        """Add the edits for the halves that are unpaired now."""
        orphans = unpaired_halves(self.corrections.view.messages)
        if not orphans:
            return
        outcome = _POLICIES[self.options.policy](self.corrections, self.options, orphans)
        if isinstance(outcome, SkippedStage):
            self.refusal = outcome
        else:
            self.halves += outcome

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done."""
        if not self.halves:
            return ()
        calls, results = self.figures.values()
        return (f"orphaned call fixed: {calls:,}", f"orphaned result fixed: {results:,}")

    @property
    def figures(self) -> dict[str, int]:
        """How many halves were removed or completed."""
        calls = sum(isinstance(half, ToolCallPart) for half in self.halves)
        return {"orphanedCallsFixed": calls, "orphanedResultsFixed": len(self.halves) - calls}


def _is_only_of(message: Message, orphans: AbstractSet[int]) -> bool:
    """Whether a message has unpaired halves, and nothing beside them but reasoning."""
    rest = [part for n, part in enumerate(message.parts) if n not in orphans]
    return bool(orphans) and all(isinstance(part, ReasoningPart | OmittedPart) for part in rest)


def _remove_halves(
    corrections: Corrections, options: RepairOptions, orphans: Orphans
) -> list[_PairHalf] | SkippedStage:
    """Hide messages that hold only unpaired halves, and drop the halves in other messages."""
    view = corrections.view
    parts: dict[int, set[int]] = defaultdict(set)
    for message, part in orphans:
        parts[message].add(part)
    only_halves = (
        view.messages[message].id
        for message, halves in sorted(parts.items())
        if _is_only_of(view.messages[message], halves)
    )
    hidden = hideable(view, only_halves)
    drops = Drops(view, corrections.group)
    removed: list[_PairHalf] = []
    for (message, part), half in orphans.items():
        holder = view.messages[message]
        is_fixed = holder.locks.immutable_reason is not None
        if holder.id in hidden or (not is_fixed and drops.add(message, (part,), _HALF)):
            removed.append(half)
    if not removed:
        reason = f"{len(orphans):,} unpaired calls or results cannot be hidden"
        return SkippedStage(stage=NAME, reason=reason, detail="they must stay as they are")
    if hidden:
        marker = Marker(stage=NAME, prefix="repair", template=options.marker, reason=_HALF)
        corrections.add(hide_behind_marker(view, marker, hidden, options, ()).edits)
    corrections.add(tuple(drops.edits()))
    return removed


def _complete_pairs(
    corrections: Corrections, options: RepairOptions, orphans: Orphans
) -> list[_PairHalf] | SkippedStage:
    view = corrections.view
    if not view.can_write_assistant:
        reason = "tool calls and results cannot be written in this format"
        return SkippedStage(stage=NAME, reason=reason, detail="see --repair-policy drop")
    messages = view.messages
    # The code that made a call cannot be written: such a call and its result stay as they are.
    unpaired = unpaired_parts(messages)
    orphans = {
        index: part for index, part in orphans.items() if index in unpaired or not part.call_id
    }
    completable = tuple(_completable_halves(view, orphans))
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
    corrections.add(inserts)
    return [half for _, half in completable]


def _completable_halves(
    view: ConversationView, orphans: Orphans
) -> Iterator[tuple[int, _PairHalf]]:
    """Yield each half that can be completed, with the index before which its other half goes.

    Several results with one id need only one call. Not completed are calls whose id is used again
    before the result could be inserted, which would then belong to the later call, and halves of
    tools that the provider runs, because it accepts only its own.
    """
    messages, called_ids = view.messages, set[CallId]()
    for part_index, part in orphans.items():
        index = _insertion_index(messages, part_index, part, orphans)
        if not is_replaceable(part) or not can_write_half(view, index):
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
    messages: Sequence[Message], place: PartIndex, part: _PairHalf, orphans: Orphans
) -> int:
    """Return the index before which the other half goes; a call goes right before its result."""
    is_result = isinstance(part, ToolResultPart)
    return place.message if is_result else place_of_result(messages, place, orphans)


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


_POLICIES: Mapping[
    RepairPolicy, Callable[[Corrections, RepairOptions, Orphans], list[_PairHalf] | SkippedStage]
] = {
    "drop": _remove_halves,
    "synth": _complete_pairs,
}

STAGE = Stage(
    name=NAME,
    title="remove, complete or correct what the provider or the client refuses",
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
