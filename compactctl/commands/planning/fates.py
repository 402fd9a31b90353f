"""What became of each message of a compaction, by which stage, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from compactctl.commands.planning.run_stages import PlanOutcome
from compactctl.history.categories import Category, category_tokens
from compactctl.history.reads import file_reads
from compactctl.model.message import Message, ToolCallPart, ToolResultPart
from compactctl.pipeline.apply import fold, newest_edit
from compactctl.tokens.meter import Meter

MessageFate = Literal["kept", "hidden", "rewritten", "written"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """One message: where it is, how big it was and is, what became of it and why.

    ``line`` counts from 1; ``tokens_after`` is 0 for what is hidden.
    """

    line: int
    id: str
    role: str
    tools: tuple[str, ...]
    tokens: int
    tokens_after: int
    fate: MessageFate
    stage: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Judgement:
    fate: MessageFate
    stage: str
    reason: str


def explain(outcome: PlanOutcome, meter: Meter) -> tuple[Explained, ...]:
    """Return one row per message before, and one per written message, in the order they stand."""
    folded = fold(outcome.edits)
    left = {message.id: message for message in outcome.after}
    rows: list[Explained] = []
    for message in outcome.before:
        for item in folded.placed.get(message.id, ()):
            if item.id in left:
                judged = _Judgement("written", outcome.groups.get(item.group, ""), item.kind)
                rows.append(_row(left[item.id], judged, 0, meter.message(left[item.id])))
        after = meter.message(left[message.id]) if message.id in left else 0
        hide = folded.hidden.get(message.id)
        edits = folded.replaced.get(message.id)
        if hide is not None:
            judged = _Judgement("hidden", outcome.groups.get(hide.group, ""), hide.reason)
        elif edits:
            edit = newest_edit(edits)
            judged = _Judgement("rewritten", outcome.groups.get(edit.group, ""), edit.reason)
        else:
            reason = outcome.protected.get(message.id, "no stage chose it")
            judged = _Judgement("kept", "", reason)
        rows.append(_row(message, judged, meter.message(message), after))
    return tuple(rows)


def _row(message: Message, judged: _Judgement, tokens: int, after: int) -> Explained:
    parts = [part for part in message.parts if isinstance(part, ToolCallPart | ToolResultPart)]
    return Explained(
        line=message.line + 1,
        id=message.id,
        role=message.role,
        tools=tuple(dict.fromkeys(part.tool for part in parts if part.tool)),
        tokens=tokens,
        tokens_after=after,
        fate=judged.fate,
        stage=judged.stage,
        reason=judged.reason,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedMessage:
    """What became of a message; ``before`` is None of what was written, ``after`` of what went."""

    explained: Explained
    before: Message | None
    after: Message | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The messages in the order they stand, and the tokens by category before and after.

    These are of the largest next request before and of the largest after.
    """

    messages: tuple[ComparedMessage, ...]
    before: Mapping[Category, int]
    after: Mapping[Category, int]


def compare(
    outcome: PlanOutcome, explained: Sequence[Explained], meter: Meter, cwd: str | None
) -> Comparison:
    """Return the messages of ``explained``, which has all of them, with what they say."""
    before = {str(message.id): message for message in outcome.before}
    after = {str(message.id): message for message in outcome.after}
    return Comparison(
        messages=tuple(
            ComparedMessage(explained=each, before=before.get(each.id), after=after.get(each.id))
            for each in explained
        ),
        before=_categories(outcome.request_before.messages, meter, cwd),
        after=_categories(outcome.request_after.messages, meter, cwd),
    )


def _categories(
    messages: Sequence[Message], meter: Meter, cwd: str | None
) -> Mapping[Category, int]:
    return category_tokens(messages, file_reads(messages, cwd=cwd), meter)
