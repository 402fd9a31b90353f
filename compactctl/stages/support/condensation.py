"""Shared by the stages that replace messages by a summary."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import dropwhile

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import cut_points
from compactctl.history.protection import hideable
from compactctl.history.stand_ins import (
    is_stand_in,
    is_unchanged,
    message_count,
    newest_id,
    newest_summary,
    own_texts,
)
from compactctl.model.edit import Edit, Hide, Insert, Proposal, Replace, SkippedStage
from compactctl.model.message import GroupId, Message, MessageId, Role, Synthetic
from compactctl.model.summary import BUILTIN_SUMMARIZER, Summary, SummaryRequest
from compactctl.records import Record, replace
from compactctl.stages.support.stage import group_id
from compactctl.stages.support.truncation import (
    insertion_point,
    messages_without,
    protected_tail_start,
    room_for_text,
    room_for_words,
    spoken_tokens,
)
from compactctl.summaries.extract.budget import MIN_USEFUL, summary_budget
from compactctl.tokens.meter import Meter

# One message is its own best summary; agent-code refuses below two as well.
MIN_HIDDEN = 2
_OLDER = "messages are older than those to keep"
COUNT = "{count}"


class SummaryFormat(Record):
    """How a summary appears in the conversation.

    Attributes:
        prefix: the start of its text; ``{count}`` is the number of messages it replaces.
        role: the role it is sent with.
        prompt: the text of a user message before it, which makes the summary the assistant's
            answer; "" for none.
        suffix: the end of its text, on a line of its own unless it starts with a space or a line
            break.
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
        """Return the tokens of the summary of ``count`` messages, with the prompt before it."""
        prompt_tokens = meter.text(self.prompt) if self.prompt else 0
        return meter.text(self.text(body, count)) + prompt_tokens


def hideable_before(view: ConversationView, end: int) -> tuple[Message, ...]:
    """Return the messages before index ``end``, a cut point, that may be hidden."""
    ids = set(hideable(view, (message.id for message in view.messages[:end])))
    return tuple(message for message in view.messages if message.id in ids)


def last_cut(view: ConversationView, limit: int) -> int:
    """Return the last cut point up to index ``limit``, 0 when there is none."""
    return max((cut for cut in cut_points(view.messages) if cut <= limit), default=0)


def end_of_older(view: ConversationView, keep: int) -> int:
    """Return the cut point before the newest ``keep`` messages and the newest protected ones."""
    return last_cut(view, min(len(view.messages) - keep, protected_tail_start(view)))


def skip_if_nothing_older(
    stage: str,
    view: ConversationView,
    hidden: Sequence[Message],
    detail: str,
    which: str = _OLDER,
) -> SkippedStage | None:
    """Return a refusal if nothing is new since the last summary, or too few messages are old.

    For too few, ``detail`` says what to do, and ``which`` names the messages.
    """
    return skip_if_nothing_new(stage, view) or skip_if_too_few(stage, hidden, detail, which)


def skip_if_too_few(
    stage: str,
    messages: Sequence[Message],
    detail: str,
    which: str = _OLDER,
    at_least: int = MIN_HIDDEN,
) -> SkippedStage | None:
    """Return a refusal if there are too few messages for a summary; ``detail`` says what to do."""
    if sum(not is_stand_in(message) for message in messages) < max(1, at_least):
        reason = f"fewer than {at_least} {which}" if at_least > 1 else f"no {which}"
        return SkippedStage(stage=stage, reason=reason, detail=detail)
    return None


def skip_if_nothing_new(stage: str, view: ConversationView) -> SkippedStage | None:
    """Return a refusal if nothing was added since the last summary."""
    summary = newest_summary(view.messages)
    if summary and is_unchanged(view.messages, summary):
        return SkippedStage(stage=stage, reason="nothing was added since the last summary")
    return None


def write_summary(view: ConversationView, request: SummaryRequest, meter: Meter) -> Summary:
    """Write a summary with the view's summarizer, or the built-in one if it has none."""
    # Imported here, as by other stages, since --help loads all of them.
    from compactctl.summaries.document.offline import write_offline_summary

    return (view.summarizer or write_offline_summary)(request, meter.text_retried)


def originals_of(view: ConversationView, messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return what these messages were before any compaction; see ``with_originals``."""
    return with_originals(messages, view.originals)


def with_originals(
    messages: Sequence[Message], originals: Mapping[MessageId, tuple[Message, ...]]
) -> tuple[Message, ...]:
    """Replace stand-ins and rewritten messages by their originals, in order of the conversation.

    Markers without originals are dropped unless they say how many messages they stand for.
    """
    sources = (source for message in messages for source in originals.get(message.id, (message,)))
    return in_order(
        {source.id: source for source in sources if not _is_plain_marker(source)}.values()
    )


def in_order(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Sort messages by rank, those without one last."""
    return tuple(sorted(messages, key=lambda m: sys.maxsize if m.rank is None else m.rank))


def with_ranks(view: ConversationView) -> ConversationView:
    """Return the view with an original for each message, ranked by its position.

    A stage may hide messages around one that stays. Without ranks, the originals behind the summary
    and that message could not be put back in order.
    """
    source = with_originals(view.messages, view.originals)
    ranks = {original.id: rank for rank, original in enumerate(source)}
    ranked = {
        message.id: tuple(_ranked(original, ranks.get(original.id)) for original in originals)
        for message in view.messages
        for originals in [view.originals.get(message.id, (message,))]
    }
    return replace(view, originals={**view.originals, **ranked})


def _ranked(message: Message, rank: int | None) -> Message:
    return message if message.rank == rank else replace(message, rank=rank)


def originals_after(
    view: ConversationView, edits: Sequence[Edit]
) -> Mapping[MessageId, tuple[Message, ...]]:
    """Return ``view.originals`` plus the messages that these edits replaced or hid.

    Messages behind a final marker are left out: they must not come back in a later summary.
    """
    by_id = {message.id: message for message in view.messages}
    hidden = {edit.group: edit.ids for edit in edits if isinstance(edit, Hide)}
    originals = dict(view.originals)
    for edit in edits:
        if isinstance(edit, Replace) and edit.id in by_id:
            originals.setdefault(edit.id, (by_id[edit.id],))
        if isinstance(edit, Insert) and not edit.message.is_final:
            ids = hidden.get(edit.message.group, ())
            hidden_messages = [by_id[message_id] for message_id in ids if message_id in by_id]
            originals[edit.message.id] = originals_of(view, hidden_messages)
    return originals


def _is_plain_marker(message: Message) -> bool:
    """Whether a message is one of our markers that does not say how many messages it hides."""
    is_marker = is_stand_in(message) and not message.origin.is_summary
    return is_marker and not any(text.count for text in own_texts(message))


def summary_request(
    view: ConversationView,
    meter: Meter,
    hidden: Sequence[Message],
    summary_format: SummaryFormat,
    max_tokens: int = 0,
) -> SummaryRequest:
    """Return the request for a summary of the originals of ``hidden``.

    Its budget is ``max_tokens``, or chosen by the size of the originals if that is 0, and no less
    than ``words_with_rest``. It is at most half of the originals, since a longer summary saves too
    little to be worth its loss; nine tenths of what is hidden, which may be earlier summaries; and
    the room beside the other messages.
    """
    source = originals_of(view, hidden)
    kept_messages = messages_without(view.messages, hidden)
    source_tokens = meter.total(source)
    budget = min(
        max(
            max_tokens or summary_budget(source_tokens),
            words_with_rest(view, meter, kept_messages, source),
        ),
        source_tokens // 2,
        meter.total(hidden) * 9 // 10,
        summary_room(
            view, meter, kept_messages, summary_format.tokens("", message_count(source), meter)
        ),
    )
    return SummaryRequest(
        messages=source,
        budget=budget,
        words_room=room_for_words(view, meter, kept_messages),
        cwd=view.cwd,
        following=following(view, hidden),
    )


def following(view: ConversationView, hidden: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages that stay behind the first of the ``hidden`` ones."""
    hidden_ids = {message.id for message in hidden}
    later = dropwhile(lambda message: message.id not in hidden_ids, view.messages)
    return tuple(message for message in later if message.id not in hidden_ids)


def words_with_rest(
    view: ConversationView,
    meter: Meter,
    kept_messages: Sequence[Message],
    source: Sequence[Message],
) -> int:
    """Return the tokens that the user's words in a summary of ``source`` take with a target.

    With ``MIN_USEFUL`` for the rest of the summary. It is 0 without a target.
    """
    room = room_for_words(view, meter, kept_messages)
    return 0 if room is None else min(spoken_tokens(meter, source), room) + MIN_USEFUL


def summary_room(
    view: ConversationView, meter: Meter, kept_messages: Sequence[Message], overhead: int
) -> int:
    """Return the tokens that a summary may have beside ``kept_messages`` and its own overhead.

    This is what remains of the target, or else of the window. If nothing remains, the target is
    out of reach either way; return the size of the shortest useful summary.
    """
    limit = view.window if view.target is None else view.target
    if limit is None:
        return sys.maxsize
    room = room_for_text(view, meter, kept_messages, limit) - overhead
    return room if room > 0 else MIN_USEFUL


def skip_not_smaller(stage: str, replaced: int) -> SkippedStage:
    """Return the refusal of a summary as large as the ``replaced`` tokens."""
    reason = f"a summary would be no smaller than the {replaced:,} tokens it replaces"
    return SkippedStage(stage=stage, reason=reason, detail="keep fewer messages as they are")


class CondenseSpec(Record):
    """How to condense.

    Attributes:
        stage: the name of the stage.
        options: its options.
        format: what the summary looks like.
        reason: why the messages are hidden, shown to users.
    """

    stage: str
    options: Record
    format: SummaryFormat
    reason: str = "older than the messages kept"


def condense(
    view: ConversationView,
    meter: Meter,
    hidden: Sequence[Message],
    summary: Summary,
    spec: CondenseSpec,
) -> Proposal | SkippedStage:
    """Propose to hide messages behind a summary, if that makes the view smaller."""
    count = message_count(originals_of(view, hidden))
    tokens = spec.format.tokens(summary.text, count, meter)
    replaced = meter.total(hidden)
    if not summary.text and summary.note:
        return SkippedStage(
            stage=spec.stage, reason=summary.note, detail="see --on-summarizer-failure"
        )
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
    """Propose to hide messages behind a summary, without looking at its size."""
    count = message_count(originals_of(view, hidden))
    tokens = spec.format.tokens(summary.text, count, meter)
    ids = tuple(message.id for message in hidden)
    # The text is part of the id because a model writes a different one each time.
    group = group_id(spec.stage, spec.options, (*ids, summary.text))
    before = insertion_point(view.messages, ids[0])
    details = _details(summary, ids, tokens)
    messages = _synthetic_messages(
        spec.format.text(summary.text, count), spec.format, group, details
    )
    through = newest_id(view.messages)
    inserts = tuple(Insert(before=before, message=replace(m, through=through)) for m in messages)
    hide = Hide(ids=ids, group=group, kind="condense", reason=spec.reason)
    writer = "" if summary.writer == BUILTIN_SUMMARIZER else f"; written by {summary.writer}"
    notes = (
        f"messages summarized: {len(ids):,}, tokens in the summary: {tokens:,}{writer}",
        summary.note,
    )
    return Proposal(stage=spec.stage, edits=(*inserts, hide), notes=tuple(filter(None, notes)))


def _synthetic_messages(
    text: str, summary_format: SummaryFormat, group: GroupId, details: dict[str, str | int]
) -> Iterator[Synthetic]:
    role = summary_format.role
    if summary_format.prompt:
        prompt_id = MessageId(f"summary-prompt-{group}")
        yield Synthetic(
            id=prompt_id, kind="summary", role="user", text=summary_format.prompt, group=group
        )
        role = "assistant"
    summary_id = MessageId(f"summary-{group}")
    yield Synthetic(
        id=summary_id, kind="summary", role=role, text=text, group=group, details=details
    )


def _details(summary: Summary, ids: Sequence[MessageId], tokens: int) -> dict[str, str | int]:
    details: dict[str, str | int] = {
        "summarizesFrom": ids[0],
        "summarizesTo": ids[-1],
        "messages": len(ids),
        "tokens": tokens,
        "summarizer": summary.writer,
    }
    return {**details, "fallback": summary.note} if summary.note else details
