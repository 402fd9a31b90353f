"""Shared by the stages that hide messages behind a marker."""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import cut_points
from compactctl.history.protection import hideable
from compactctl.history.stand_ins import is_marker, is_own_marker, is_unchanged, newest_id
from compactctl.history.turns import preamble
from compactctl.model.edit import Hide, Insert, Proposal, SkippedStage
from compactctl.model.message import FINAL_KEY, Message, MessageId, Role, Synthetic, TextPart
from compactctl.records import Record, replace
from compactctl.stages.support.stage import group_id
from compactctl.tokens.meter import Meter

COUNT = "{count}"


# In tokens: a prefix and a text joined may count as more than both alone.
_MARGIN = 4


class Marker(Record):
    """The marker of a stage, which replaces the messages that it hides.

    Attributes:
        stage: the stage's name.
        prefix: the start of the marker's id.
        template: the marker's text; ``{count}`` is the number of hidden messages.
        reason: why the messages are hidden, shown to users.
        role: the role it is sent with, in formats with system messages among the others.
        final: whether no later stage may summarize what it hides.
    """

    stage: str
    prefix: str
    template: str
    reason: str
    role: Role = "user"
    final: bool = False

    def text(self, count: int) -> str:
        """Return the text of a marker that replaces ``count`` messages."""
        return self.template.replace(COUNT, f"{count:,}")

    def matches(self, message: Message) -> bool:
        """Whether a message is a marker with this text."""
        return self._match(message) is not None

    def count_in(self, message: Message) -> int:
        """Return how many messages a marker with this text replaces; 0 if it does not say."""
        match = self._match(message)
        return int(match[1].replace(",", "")) if match and match.re.groups else 0

    def _match(self, message: Message) -> re.Match[str] | None:
        count = re.escape(COUNT)
        pattern = re.escape(self.template).replace(count, r"(\d[\d,]{0,20})", 1)
        pattern = pattern.replace(count, r"[\d,]+")
        texts = [part.text for part in message.parts if isinstance(part, TextPart)]
        is_alone = is_own_marker(message) and len(texts) == 1
        return re.fullmatch(pattern, texts[0]) if is_alone else None


class HidePlanner:
    """Estimate the size of a view after hiding messages behind one marker.

    Summaries and markers are never hidden: they are all that remains of the messages they replace.
    Only an earlier marker of the same kind gives way to the new one, which counts its messages.
    """

    def __init__(self, view: ConversationView, meter: Meter, marker: Marker) -> None:
        self.view = view
        self.marker = marker
        self.total = meter.total(view.messages)
        self._meter = meter
        self._hideable = set(hideable(view, _original_ids(view.messages)))
        earlier = earlier_markers(view, marker)
        self._earlier_ids = {message.id for message in earlier}
        self.total_without_markers = self.total - meter.total(earlier)
        self._earlier_count = _count_behind(view, marker, earlier)

    def hideable_ids(self, start: int, end: int) -> tuple[MessageId, ...]:
        """Return the hideable messages from index ``start`` up to ``end``, both cut points."""
        return tuple(m.id for m in self.view.messages[start:end] if m.id in self._hideable)

    def tokens_after(self, ids: Collection[MessageId]) -> int:
        """Return the tokens of the view, with the marker, after hiding these messages."""
        hidden_ids = set(ids)
        hidden_tokens = self._meter.total(m for m in self.view.messages if m.id in hidden_ids)
        remaining = self.total_without_markers - hidden_tokens
        return remaining + self.marker_tokens(len(hidden_ids))

    def fits(self, ids: Sequence[MessageId]) -> bool:
        """Whether the view reaches its target, which may depend on what remains, without these."""
        hidden_ids = {*ids, *self._earlier_ids}
        hidden = [message for message in self.view.messages if message.id in hidden_ids]
        remaining = messages_without(self.view.messages, hidden)
        text = TextPart(text=self.marker.text(len(ids) + self._earlier_count))
        marker = Message(id=MessageId("marker"), role=self.marker.role, parts=(text,), line=0)
        target = replace(self.view, messages=(marker, *remaining)).with_current_target().target
        return target is None or self._meter.total((marker, *remaining)) <= target

    def fitting_end(self, start: int, ends: Sequence[int], target: int) -> int | None:
        """Return the first of ``ends`` with which the view fits ``target`` tokens, None if none."""
        remaining, count = self.total_without_markers, 0
        for first, end in pairwise((start, *ends)):
            hidden = [m for m in self.view.messages[first:end] if m.id in self._hideable]
            remaining -= self._meter.total(hidden)
            count += len(hidden)
            # Counting the marker is slow, so only do it when the rest fits.
            if remaining <= target and remaining + self.marker_tokens(count) <= target:
                return end
        return None

    def has_nothing_new(self) -> bool:
        """Whether nothing was added since the stage last wrote its marker."""
        messages = self.view.messages
        markers = [message for message in messages if self.marker.matches(message)]
        return bool(markers) and is_unchanged(messages, markers[-1])

    def marker_tokens(self, count: int) -> int:
        """Return the tokens of the marker that hides ``count`` more messages."""
        return self._meter.text(self.marker.text(count + self._earlier_count))


def earlier_markers(view: ConversationView, marker: Marker) -> tuple[Message, ...]:
    """Return the markers that a new one replaces: those with its text that may be hidden."""
    markers = [message for message in view.messages if marker.matches(message)]
    ids = set(hideable(view, (message.id for message in markers)))
    return tuple(message for message in markers if message.id in ids)


def _count_behind(view: ConversationView, marker: Marker, markers: Sequence[Message]) -> int:
    """Return how many messages markers stand for: as known, or else as they say."""
    originals = (view.originals.get(message.id, ()) for message in markers)
    return sum(
        len(behind) if behind and behind[0].id != message.id else marker.count_in(message)
        for message, behind in zip(markers, originals, strict=True)
    )


def hide_range(
    planner: HidePlanner,
    start: int,
    end: int,
    options: Record,
) -> Proposal | SkippedStage:
    """Propose to hide a range behind a marker, if that makes the view smaller."""
    return hide_messages(planner, planner.hideable_ids(start, end), options)


def hide_messages(
    planner: HidePlanner,
    ids: Sequence[MessageId],
    options: Record,
) -> Proposal | SkippedStage:
    """Propose to hide whole units, wherever they are, if that makes the view smaller."""
    view, stage = planner.view, planner.marker.stage
    tokens_after = planner.tokens_after(ids)
    if not ids or tokens_after >= planner.total:
        reason = "the messages that can be hidden are no larger than the marker"
        detail = "the others are protected, pinned or held by the client"
        return SkippedStage(stage=stage, reason=reason, detail=detail)
    notes = [f"messages hidden: {len(ids):,}"]
    if view.target is not None and tokens_after > view.target:
        notes.append("still over the target")
    return hide_behind_marker(view, planner.marker, ids, options, notes)


def hide_behind_marker(
    view: ConversationView,
    marker: Marker,
    ids: Sequence[MessageId],
    options: Record,
    notes: Iterable[str],
) -> Proposal:
    """Propose to hide messages, wherever they are, behind one marker before the first.

    ``ids`` must be in order of the conversation, not empty, and whole units. Earlier markers with
    the same text are hidden with them.
    """
    earlier = earlier_markers(view, marker)
    count = len(ids) + _count_behind(view, marker, earlier)
    chosen = {*ids, *(message.id for message in earlier)}
    ids = [message.id for message in view.messages if message.id in chosen]
    group = group_id(marker.stage, options, ids)
    details: dict[str, str | int] = {"messages": count}
    if marker.final:
        details[FINAL_KEY] = 1
    marker_message = Synthetic(
        id=MessageId(f"{marker.prefix}-{group}"),
        kind="marker",
        role=marker.role,
        text=marker.text(count),
        group=group,
        through=newest_id(view.messages),
        details=details,
    )
    insert = Insert(before=insertion_point(view.messages, ids[0]), message=marker_message)
    hide = Hide(ids=tuple(ids), group=group, kind="truncate", reason=marker.reason)
    return Proposal(stage=marker.stage, edits=(insert, hide), notes=tuple(notes))


def insertion_point(messages: Sequence[Message], first: MessageId) -> MessageId:
    """Return the message before which a stand-in for ``first`` goes.

    That is ``first`` or an earlier message, so that nothing lands between a call and its result.
    """
    index = next(i for i, message in enumerate(messages) if message.id == first)
    return messages[max(cut for cut in cut_points(messages) if cut <= index)].id


def protected_tail_start(view: ConversationView) -> int:
    """Return the index of the first of the protected messages at the end, always a cut point.

    At least the newest unit counts as protected.
    """
    messages = view.messages
    hideable_ids = set(hideable(view, (message.id for message in messages)))
    hideable_indices = (n for n, message in enumerate(messages) if message.id in hideable_ids)
    limit = min(max(hideable_indices, default=-1) + 1, len(messages) - 1)
    return max((cut for cut in cut_points(messages) if cut <= limit), default=0)


def _original_ids(messages: Iterable[Message]) -> Iterable[MessageId]:
    return (m.id for m in messages if not (m.origin.is_summary or is_marker(m)))


def messages_without(messages: Sequence[Message], hidden: Sequence[Message]) -> tuple[Message, ...]:
    """Return ``messages`` without the ``hidden`` ones."""
    hidden_ids = {message.id for message in hidden}
    return tuple(message for message in messages if message.id not in hidden_ids)


def tail_start(view: ConversationView, meter: Meter, room: int) -> int:
    """Return the cut point from which the newest messages take at most ``room`` tokens.

    Protected messages at the end are always included, whatever their size.
    """
    tail = protected_tail_start(view)
    remaining = room - meter.total(view.messages[tail:])
    end = tail
    for cut in reversed([cut for cut in cut_points(view.messages) if cut < tail]):
        remaining -= meter.total(view.messages[cut:end])
        if remaining < 0:
            break
        end = cut
    return end


def room_for_text(
    view: ConversationView, meter: Meter, kept_messages: Sequence[Message], target: int
) -> int:
    """Return the tokens that ``target`` leaves for a text beside ``kept_messages``; may be < 0."""
    kept_tokens = meter.total(kept_messages)
    room = target - kept_tokens
    # The target depends on the messages that remain, so measure it with a text of the size of the
    # room, and reduce that until the text fits.
    while view.target_for is not None and room > 0:
        remaining = view.target_for((*kept_messages, _message_of_size(room))) - kept_tokens
        if remaining >= room:
            break
        room = remaining
    return room - _MARGIN


def room_for_words(
    view: ConversationView, meter: Meter, kept_messages: Sequence[Message]
) -> int | None:
    """Return the tokens that the user's words may take in a text beside ``kept_messages``.

    Together with those in ``kept_messages`` they may take half of what the target leaves beside the
    preamble; may be < 0. None without a target.
    """
    if view.target is None:
        return None
    room = view.target - meter.total(preamble(view.messages))
    return room // 2 - spoken_tokens(meter, kept_messages)


def spoken_tokens(meter: Meter, kept_messages: Sequence[Message]) -> int:
    """Return the tokens of what the user wrote in messages, without the preamble."""
    return word_tokens(meter, messages_without(kept_messages, preamble(kept_messages)))


def word_tokens(meter: Meter, messages: Iterable[Message]) -> int:
    """Return the tokens of what the user wrote in messages."""
    texts = (text for message in messages for text in map(message.words, message.parts))
    return sum(meter.text(text) for text in texts if text)


def _message_of_size(tokens: int) -> Message:
    """Return a message of about this size, to measure with."""
    text = TextPart(text="word " * tokens)
    return Message(id=MessageId("text"), role="user", parts=(text,), line=0)
