"""What the stages that put a summary in place of messages have in common."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from compactctl.history.conversation_view import View
from compactctl.history.pairs import cut_points
from compactctl.history.protection import hideable
from compactctl.history.stand_ins import is_stand_in, is_unchanged, newest_id
from compactctl.model.edit import Edit, Hide, Insert, Proposal, Replace, Skipped
from compactctl.model.message import GroupId, Message, MessageId, Role, Synthetic
from compactctl.model.summary import BUILT_IN, Summary, SummaryRequest
from compactctl.stages.support.stage import StageOptions, group_id
from compactctl.stages.support.truncation import insertion_point, newest_start, room_beside, without
from compactctl.summaries.document import offline
from compactctl.summaries.extract.user_requests import SHORTEST_USEFUL
from compactctl.tokens.meter import Meter

# One message is its own best summary; agent-code refuses below two as well.
FEWEST_HIDDEN = 2
COUNT = "{count}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryShape:
    """What a summary looks like in the conversation.

    Attributes:
        prefix: what its text starts with; ``{count}`` is the number of messages it stands for.
        role: the role it is sent with.
        shadow: text of a user message in front of it, "" for none; the summary then is the answer.
        suffix: what its text ends with, on a line of its own unless it starts with a space or a
            line end.
    """

    prefix: str
    role: Role = "user"
    shadow: str = ""
    suffix: str = ""

    def text(self, body: str, count: int) -> str:
        """Return the whole text of a summary of ``count`` messages."""
        end = self.suffix if self.suffix[:1] in ("", " ", "\n") else f"\n{self.suffix}"
        return self.prefix.replace(COUNT, f"{count:,}") + body + end

    def tokens(self, body: str, count: int, meter: Meter) -> int:
        """Return the tokens of all that is put in place of ``count`` messages."""
        shadow = meter.text(self.shadow) if self.shadow else 0
        return meter.text(self.text(body, count)) + shadow


def older(view: View, end: int) -> tuple[Message, ...]:
    """Return the messages before index ``end``, a cut point, that may be hidden."""
    ids = set(hideable(view, (message.id for message in view.messages[:end])))
    return tuple(message for message in view.messages if message.id in ids)


def last_cut(view: View, limit: int) -> int:
    """Return the last cut point that is not behind index ``limit``, 0 when there is none."""
    return max((cut for cut in cut_points(view.messages) if cut <= limit), default=0)


def end_of_older(view: View, keep: int) -> int:
    """Return the cut point before the newest ``keep`` messages and the newest protected ones."""
    return last_cut(view, min(len(view.messages) - keep, newest_start(view)))


def nothing_older(
    stage: str,
    view: View,
    hidden: Sequence[Message],
    detail: str,
    which: str = "messages are older than those to keep",
) -> Skipped | None:
    """Refuse when nothing is new since the last summary, or too few messages are old.

    ``detail`` says what to do about too few, ``which`` says too few of what there are.
    """
    if _nothing_new(view.messages):
        return Skipped(stage=stage, reason="nothing was added since the last summary")
    return too_few(stage, hidden, detail, which)


def too_few(
    stage: str,
    messages: Sequence[Message],
    detail: str,
    which: str = "messages are older than those to keep",
) -> Skipped | None:
    """Refuse when there is less than a summary is worth; ``detail`` says what to do."""
    if sum(not is_stand_in(message) for message in messages) < FEWEST_HIDDEN:
        return Skipped(stage=stage, reason=f"fewer than {FEWEST_HIDDEN} {which}", detail=detail)
    return None


def _nothing_new(messages: Sequence[Message]) -> bool:
    summaries = [m for m in messages if m.origin.is_synthetic and m.origin.is_summary]
    return bool(summaries) and is_unchanged(messages, summaries[-1])


def write(view: View, request: SummaryRequest, meter: Meter) -> Summary:
    """Let the view's summarizer write, the built-in one where the view names none."""
    return (view.summarizer or offline.write)(request, meter.text_once)


def originals(view: View, messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return what messages were before any stage worked on them; see ``with_originals``."""
    return with_originals(messages, view.originals)


def with_originals(
    messages: Sequence[Message], known: Mapping[MessageId, tuple[Message, ...]]
) -> tuple[Message, ...]:
    """Put the originals that are ``known`` in place of stand-ins and rewritten messages, in order.

    Nothing comes in place of other markers.
    """
    found = (each for message in messages for each in known.get(message.id, (message,)))
    return in_order({each.id: each for each in found if not _is_bare(each)}.values())


def in_order(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return messages by their rank, those without one last."""
    return tuple(sorted(messages, key=lambda m: sys.maxsize if m.rank is None else m.rank))


def with_ranks(view: View) -> View:
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


def known_after(view: View, edits: Sequence[Edit]) -> Mapping[MessageId, tuple[Message, ...]]:
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


def _is_bare(message: Message) -> bool:
    """Whether a message is a marker."""
    return is_stand_in(message) and not message.origin.is_summary


def request_for(
    view: View, meter: Meter, hidden: Sequence[Message], shape: SummaryShape, wanted: int = 0
) -> SummaryRequest:
    """Return the request for a summary of the originals of ``hidden`` in ``wanted`` tokens.

    0 chooses by their size. A summary that is more than half of what it tells about saves too
    little to be worth its loss; of what is left of that it takes a tenth less, and no more than
    the target leaves.
    """
    source, kept = originals(view, hidden), without(view.messages, hidden)
    told = meter.total(source)
    budget = min(
        wanted or offline.summary_budget(told),
        told // 2,
        meter.total(hidden) * 9 // 10,
        room_for(view, meter, kept, shape.tokens("", len(source), meter)),
    )
    first = next(n for n, message in enumerate(view.messages) if message.id == hidden[0].id)
    following = without(view.messages[first:], hidden)
    return SummaryRequest(messages=source, budget=budget, cwd=view.cwd, following=following)


def room_for(view: View, meter: Meter, kept: Sequence[Message], around: int) -> int:
    """Return the tokens that a summary may have beside what is ``kept`` and ``around`` it.

    That is what the target or the window leaves; where that is nothing they are out of reach, and
    it is what the shortest useful summary takes.
    """
    limit = view.window if view.target is None else view.target
    if limit is None:
        return sys.maxsize
    room = room_beside(view, meter, kept, limit) - around
    return room if room > 0 else SHORTEST_USEFUL


def no_smaller(stage: str, replaced: int) -> Skipped:
    """Refuse a summary that would be as large as what it replaces."""
    reason = f"a summary would be no smaller than the {replaced:,} tokens it replaces"
    return Skipped(stage=stage, reason=reason, detail="keep fewer messages as they are")


@dataclass(frozen=True, slots=True, kw_only=True)
class Condensing:
    """Which stage condenses, with which options, into what shape, and why what it hides goes."""

    stage: str
    options: StageOptions
    shape: SummaryShape
    reason: str = "older than the messages kept"


def condense(
    view: View, meter: Meter, hidden: Sequence[Message], summary: Summary, how: Condensing
) -> Proposal | Skipped:
    """Propose to hide messages behind a summary, if that makes the view smaller."""
    count = len(originals(view, hidden))
    tokens = how.shape.tokens(summary.text, count, meter)
    replaced = meter.total(hidden)
    if not summary.text and summary.note:
        return Skipped(stage=how.stage, reason=summary.note, detail="see --on-summarizer-failure")
    if not summary.text or tokens >= replaced:
        return no_smaller(how.stage, replaced)
    return hide_behind_summary(view, meter, hidden, summary, how)


def hide_behind_summary(
    view: View, meter: Meter, hidden: Sequence[Message], summary: Summary, how: Condensing
) -> Proposal:
    """Propose to hide messages behind a summary, whatever its size."""
    count = len(originals(view, hidden))
    tokens = how.shape.tokens(summary.text, count, meter)
    ids = tuple(message.id for message in hidden)
    # The text counts too: a model's is another one each time.
    group = group_id(how.stage, how.options, (*ids, summary.text))
    before = insertion_point(view.messages, ids[0])
    details = _details(summary, ids, tokens)
    written = _written(how.shape.text(summary.text, count), how.shape, group, details)
    through = newest_id(view.messages)
    inserts = tuple(Insert(before=before, message=replace(m, through=through)) for m in written)
    hide = Hide(ids=ids, group=group, kind="condense", reason=how.reason)
    writer = "" if summary.source == BUILT_IN else f", written by {summary.source}"
    notes = (f"messages summarized: {len(ids):,}, in {tokens:,} tokens{writer}", summary.note)
    return Proposal(stage=how.stage, edits=(*inserts, hide), notes=tuple(filter(None, notes)))


def _written(
    text: str, shape: SummaryShape, group: GroupId, details: dict[str, str | int]
) -> Iterator[Synthetic]:
    role = shape.role
    if shape.shadow:
        prompt = MessageId(f"summary-prompt-{group}")
        yield Synthetic(id=prompt, kind="summary", role="user", text=shape.shadow, group=group)
        role = "assistant"
    name = MessageId(f"summary-{group}")
    yield Synthetic(id=name, kind="summary", role=role, text=text, group=group, details=details)


def _details(summary: Summary, ids: Sequence[MessageId], tokens: int) -> dict[str, str | int]:
    details: dict[str, str | int] = {
        "summarizesFrom": ids[0],
        "summarizesTo": ids[-1],
        "messages": len(ids),
        "tokens": tokens,
        "summarizer": summary.source,
    }
    return {**details, "fallback": summary.note} if summary.note else details
