"""What the stages that put a summary in place of messages have in common."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import cut_points
from compactctl.history.protection import hideable
from compactctl.history.stand_ins import is_stand_in, is_unchanged, newest_id
from compactctl.model.edit import Edit, Hide, Insert, Proposal, Replace, Skipped
from compactctl.model.message import GroupId, Message, MessageId, Role, Synthetic
from compactctl.model.summary import BUILTIN_SUMMARIZER, Summary, SummaryRequest
from compactctl.stages.support.stage import StageOptions, group_id
from compactctl.stages.support.truncation import (
    insertion_point,
    messages_without,
    protected_tail_start,
    room_for_text,
)
from compactctl.summaries.document import offline
from compactctl.summaries.extract.user_requests import MIN_USEFUL
from compactctl.tokens.meter import Meter

# One message is its own best summary; agent-code refuses below two as well.
MIN_HIDDEN = 2
COUNT = "{count}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryFormat:
    """What a summary looks like in the conversation.

    Attributes:
        prefix: what its text starts with; ``{count}`` is the number of messages it stands for.
        role: the role it is sent with.
        prompt: text of a user message in front of it, "" for none; the summary then is the answer.
        suffix: what its text ends with, on a line of its own unless it starts with a space or a
            line end.
    """

    prefix: str
    role: Role = "user"
    prompt: str = ""
    suffix: str = ""

    def text(self, body: str, count: int) -> str:
        """Return the whole text of a summary of ``count`` messages."""
        end = self.suffix if self.suffix[:1] in ("", " ", "\n") else f"\n{self.suffix}"
        return self.prefix.replace(COUNT, f"{count:,}") + body + end

    def tokens(self, body: str, count: int, meter: Meter) -> int:
        """Return the tokens of all that is put in place of ``count`` messages."""
        shadow = meter.text(self.prompt) if self.prompt else 0
        return meter.text(self.text(body, count)) + shadow


def hideable_before(view: ConversationView, end: int) -> tuple[Message, ...]:
    """Return the messages before index ``end``, a cut point, that may be hidden."""
    ids = set(hideable(view, (message.id for message in view.messages[:end])))
    return tuple(message for message in view.messages if message.id in ids)


def last_cut(view: ConversationView, limit: int) -> int:
    """Return the last cut point that is not behind index ``limit``, 0 when there is none."""
    return max((cut for cut in cut_points(view.messages) if cut <= limit), default=0)


def end_of_older(view: ConversationView, keep: int) -> int:
    """Return the cut point before the newest ``keep`` messages and the newest protected ones."""
    return last_cut(view, min(len(view.messages) - keep, protected_tail_start(view)))


def skip_if_nothing_older(
    stage: str,
    view: ConversationView,
    hidden: Sequence[Message],
    detail: str,
    which: str = "messages are older than those to keep",
) -> Skipped | None:
    """Refuse when nothing is new since the last summary, or too few messages are old.

    ``detail`` says what to do about too few, ``which`` says too few of what there are.
    """
    if _nothing_new(view.messages):
        return Skipped(stage=stage, reason="nothing was added since the last summary")
    return skip_if_too_few(stage, hidden, detail, which)


def skip_if_too_few(
    stage: str,
    messages: Sequence[Message],
    detail: str,
    which: str = "messages are older than those to keep",
) -> Skipped | None:
    """Refuse when there is less than a summary is worth; ``detail`` says what to do."""
    if sum(not is_stand_in(message) for message in messages) < MIN_HIDDEN:
        return Skipped(stage=stage, reason=f"fewer than {MIN_HIDDEN} {which}", detail=detail)
    return None


def _nothing_new(messages: Sequence[Message]) -> bool:
    summaries = [m for m in messages if m.origin.is_synthetic and m.origin.is_summary]
    return bool(summaries) and is_unchanged(messages, summaries[-1])


def write_summary(view: ConversationView, request: SummaryRequest, meter: Meter) -> Summary:
    """Let the view's summarizer write, the built-in one where the view names none."""
    return (view.summarizer or offline.write_offline_summary)(request, meter.text_uncached)


def originals(view: ConversationView, messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return what messages were before any stage worked on them; see ``with_originals``."""
    return with_originals(messages, view.originals)


def with_originals(
    messages: Sequence[Message], known: Mapping[MessageId, tuple[Message, ...]]
) -> tuple[Message, ...]:
    """Put the originals that are ``known`` in place of stand-ins and rewritten messages, in order.

    Nothing comes in place of other markers.
    """
    found = (each for message in messages for each in known.get(message.id, (message,)))
    return in_order({each.id: each for each in found if not _is_plain_marker(each)}.values())


def in_order(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return messages by their rank, those without one last."""
    return tuple(sorted(messages, key=lambda m: sys.maxsize if m.rank is None else m.rank))


def with_ranks(view: ConversationView) -> ConversationView:
    """Return the view with the originals of all its messages, which know where they stood.

    A stage may hide messages between which others stay, so that their originals alone do not tell.
    """
    source = with_originals(view.messages, view.originals)
    ranks = {each.id: rank for rank, each in enumerate(source)}
    known = {
        message.id: tuple(replace(each, rank=ranks.get(each.id)) for each in found)
        for message in view.messages
        for found in [view.originals.get(message.id, (message,))]
    }
    return replace(view, originals={**view.originals, **known})


def originals_after(
    view: ConversationView, edits: Sequence[Edit]
) -> Mapping[MessageId, tuple[Message, ...]]:
    """Return the originals that are known once a stage has carried out edits on a view.

    What a marker hides for good is not among them.
    """
    there = {message.id: message for message in view.messages}
    hidden = {edit.group: edit.ids for edit in edits if isinstance(edit, Hide)}
    known = dict(view.originals)
    for edit in edits:
        if isinstance(edit, Replace) and edit.id in there:
            known.setdefault(edit.id, (there[edit.id],))
        if isinstance(edit, Insert) and not edit.message.is_final:
            ids = hidden.get(edit.message.group, ())
            gone = [there[name] for name in ids if name in there]
            known[edit.message.id] = originals(view, gone)
    return known


def _is_plain_marker(message: Message) -> bool:
    """Whether a message is a marker."""
    return is_stand_in(message) and not message.origin.is_summary


def summary_request(
    view: ConversationView,
    meter: Meter,
    hidden: Sequence[Message],
    shape: SummaryFormat,
    wanted: int = 0,
) -> SummaryRequest:
    """Return the request for a summary of the originals of ``hidden`` in ``wanted`` tokens.

    0 chooses by their size. A summary that is more than half of what it tells about saves too
    little to be worth its loss; of what is left of that it takes a tenth less, and no more than
    the target leaves.
    """
    source, kept = originals(view, hidden), messages_without(view.messages, hidden)
    told = meter.total(source)
    budget = min(
        wanted or offline.summary_budget(told),
        told // 2,
        meter.total(hidden) * 9 // 10,
        summary_room(view, meter, kept, shape.tokens("", len(source), meter)),
    )
    first = next(n for n, message in enumerate(view.messages) if message.id == hidden[0].id)
    following = messages_without(view.messages[first:], hidden)
    return SummaryRequest(messages=source, budget=budget, cwd=view.cwd, following=following)


def summary_room(view: ConversationView, meter: Meter, kept: Sequence[Message], around: int) -> int:
    """Return the tokens that a summary may have beside what is ``kept`` and ``around`` it.

    That is what the target or the window leaves; where that is nothing they are out of reach, and
    it is what the shortest useful summary takes.
    """
    limit = view.window if view.target is None else view.target
    if limit is None:
        return sys.maxsize
    room = room_for_text(view, meter, kept, limit) - around
    return room if room > 0 else MIN_USEFUL


def skip_not_smaller(stage: str, replaced: int) -> Skipped:
    """Refuse a summary that would be as large as what it replaces."""
    reason = f"a summary would be no smaller than the {replaced:,} tokens it replaces"
    return Skipped(stage=stage, reason=reason, detail="keep fewer messages as they are")


@dataclass(frozen=True, slots=True, kw_only=True)
class CondenseSpec:
    """Which stage condenses, with which options, into what shape, and why what it hides goes."""

    stage: str
    options: StageOptions
    shape: SummaryFormat
    reason: str = "older than the messages kept"


def condense(
    view: ConversationView,
    meter: Meter,
    hidden: Sequence[Message],
    summary: Summary,
    spec: CondenseSpec,
) -> Proposal | Skipped:
    """Propose to hide messages behind a summary, if that makes the view smaller."""
    count = len(originals(view, hidden))
    tokens = spec.shape.tokens(summary.text, count, meter)
    replaced = meter.total(hidden)
    if not summary.text and summary.note:
        return Skipped(stage=spec.stage, reason=summary.note, detail="see --on-summarizer-failure")
    if not summary.text or tokens >= replaced:
        return skip_not_smaller(spec.stage, replaced)
    return hide_behind_summary(view, meter, hidden, summary, spec)


def hide_behind_summary(
    view: ConversationView,
    meter: Meter,
    hidden: Sequence[Message],
    summary: Summary,
    spec: CondenseSpec,
) -> Proposal:
    """Propose to hide messages behind a summary, whatever its size."""
    count = len(originals(view, hidden))
    tokens = spec.shape.tokens(summary.text, count, meter)
    ids = tuple(message.id for message in hidden)
    # The text counts too: a model's is another one each time.
    group = group_id(spec.stage, spec.options, (*ids, summary.text))
    before = insertion_point(view.messages, ids[0])
    details = _details(summary, ids, tokens)
    written = _written(spec.shape.text(summary.text, count), spec.shape, group, details)
    through = newest_id(view.messages)
    inserts = tuple(Insert(before=before, message=replace(m, through=through)) for m in written)
    hide = Hide(ids=ids, group=group, kind="condense", reason=spec.reason)
    writer = "" if summary.writer == BUILTIN_SUMMARIZER else f", written by {summary.writer}"
    notes = (f"messages summarized: {len(ids):,}, in {tokens:,} tokens{writer}", summary.note)
    return Proposal(stage=spec.stage, edits=(*inserts, hide), notes=tuple(filter(None, notes)))


def _written(
    text: str, shape: SummaryFormat, group: GroupId, details: dict[str, str | int]
) -> Iterator[Synthetic]:
    role = shape.role
    if shape.prompt:
        prompt = MessageId(f"summary-prompt-{group}")
        yield Synthetic(id=prompt, kind="summary", role="user", text=shape.prompt, group=group)
        role = "assistant"
    name = MessageId(f"summary-{group}")
    yield Synthetic(id=name, kind="summary", role=role, text=text, group=group, details=details)


def _details(summary: Summary, ids: Sequence[MessageId], tokens: int) -> dict[str, str | int]:
    details: dict[str, str | int] = {
        "summarizesFrom": ids[0],
        "summarizesTo": ids[-1],
        "messages": len(ids),
        "tokens": tokens,
        "summarizer": summary.writer,
    }
    return {**details, "fallback": summary.note} if summary.note else details
