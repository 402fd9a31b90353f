"""What the stages that hide messages behind a marker have in common."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import cut_points
from compactctl.history.protection import hideable
from compactctl.history.stand_ins import is_marker, is_unchanged, newest_id
from compactctl.model.edit import Hide, Insert, Proposal, Skipped
from compactctl.model.message import FINAL_KEY, Message, MessageId, Role, Synthetic, TextPart
from compactctl.stages.support.stage import StageOptions, group_id
from compactctl.tokens.meter import Meter

COUNT = "{count}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """How a stage marks what it hides.

    Attributes:
        stage: the stage's name.
        prefix: what the marker's id starts with.
        template: the marker's text; ``{count}`` is the number of hidden messages.
        reason: why the messages are hidden, in a user's words.
        role: the role it is sent with, where the format has system messages among the others.
        final: no later stage is to work on what it hides.
    """

    stage: str
    prefix: str
    template: str
    reason: str
    role: Role = "user"
    final: bool = False

    def text(self, count: int) -> str:
        """Return the text of a marker that stands for ``count`` messages."""
        return self.template.replace(COUNT, f"{count:,}")

    def matches(self, message: Message) -> bool:
        """Whether a message is a marker with this text."""
        pattern = re.escape(self.template).replace(re.escape(COUNT), r"[\d,]+")
        texts = [part.text for part in message.parts if isinstance(part, TextPart)]
        return is_marker(message) and any(re.fullmatch(pattern, text) for text in texts)


class HidePlanner:
    """What hiding messages of a view behind one marker would come to.

    Summaries and markers are never hidden this way: they are all that is left of what they
    stand for.
    """

    def __init__(self, view: ConversationView, meter: Meter, marker: Marker) -> None:
        self.view = view
        self.marker = marker
        self.total = meter.total(view.messages)
        self._meter = meter
        self._hideable = set(hideable(view, _original_ids(view.messages)))

    def ids(self, start: int, end: int) -> tuple[MessageId, ...]:
        """Return the messages hidden from index ``start`` up to ``end``, both cut points."""
        return tuple(m.id for m in self.view.messages[start:end] if m.id in self._hideable)

    def tokens_after(self, ids: Collection[MessageId]) -> int:
        """Return the view's tokens, marker included, once these messages are hidden."""
        gone = set(ids)
        hidden = self._meter.total(m for m in self.view.messages if m.id in gone)
        return self.total - hidden + self._meter.text(self.marker.text(len(gone)))

    def fitting_end(self, start: int, ends: Sequence[int], target: int) -> int | None:
        """Return the first of ``ends`` with which the view gets down to ``target`` tokens."""
        left, count, at = self.total, 0, start
        for end in ends:
            hidden = [m for m in self.view.messages[at:end] if m.id in self._hideable]
            left, count, at = left - self._meter.total(hidden), count + len(hidden), end
            # The marker is measured only where it can matter.
            if left <= target and left + self._meter.text(self.marker.text(count)) <= target:
                return end
        return None

    def nothing_new(self) -> bool:
        """Whether nothing was added since such a marker was last written."""
        messages = self.view.messages
        markers = [message for message in messages if self.marker.matches(message)]
        return bool(markers) and is_unchanged(messages, markers[-1])


def hide_range(
    hiding: HidePlanner,
    start: int,
    end: int,
    options: StageOptions,
) -> Proposal | Skipped:
    """Propose to hide a range behind a marker, if that makes the view smaller."""
    return hide_messages(hiding, hiding.ids(start, end), options)


def hide_messages(
    hiding: HidePlanner,
    ids: Sequence[MessageId],
    options: StageOptions,
) -> Proposal | Skipped:
    """Propose to hide whole units, wherever they stand, if that makes the view smaller."""
    view, stage = hiding.view, hiding.marker.stage
    after = hiding.tokens_after(ids)
    if not ids or after >= hiding.total:
        reason = "the messages that may be hidden are no larger than the marker"
        detail = "the others are protected, pinned or held by the client"
        return Skipped(stage=stage, reason=reason, detail=detail)
    notes = [f"messages hidden: {len(ids):,}"]
    if view.target is not None and after > view.target:
        notes.append("still over the target")
    return hide_behind(view, hiding.marker, ids, options, notes)


def hide_behind(
    view: ConversationView,
    marker: Marker,
    ids: Sequence[MessageId],
    options: StageOptions,
    notes: Iterable[str],
) -> Proposal:
    """Propose to hide messages, wherever they stand, behind one marker before the first.

    ``ids`` are not empty, in the order of the conversation, and may be hidden together.
    """
    group = group_id(marker.stage, options, ids)
    details: dict[str, str | int] = {"messages": len(ids)}
    if marker.final:
        details[FINAL_KEY] = 1
    written = Synthetic(
        id=MessageId(f"{marker.prefix}-{group}"),
        kind="marker",
        role=marker.role,
        text=marker.text(len(ids)),
        group=group,
        through=newest_id(view.messages),
        details=details,
    )
    insert = Insert(before=insertion_point(view.messages, ids[0]), message=written)
    hide = Hide(ids=tuple(ids), group=group, kind="truncate", reason=marker.reason)
    return Proposal(stage=marker.stage, edits=(insert, hide), notes=tuple(notes))


def insertion_point(messages: Sequence[Message], first: MessageId) -> MessageId:
    """Return the message to write before, so that nothing lands between a call and its result.

    That is ``first``, or the first message of the unit that is open there.
    """
    index = next(i for i, message in enumerate(messages) if message.id == first)
    return messages[max(cut for cut in cut_points(messages) if cut <= index)].id


def protected_tail_start(view: ConversationView) -> int:
    """Return the index where the newest messages begin that stay at the end, always a cut point.

    They are the protected messages at the end, at least the newest unit.
    """
    messages = view.messages
    may_go = set(hideable(view, (message.id for message in messages)))
    kept = next(
        (index + 1 for index in reversed(range(len(messages))) if messages[index].id in may_go), 0
    )
    limit = min(kept, len(messages) - 1)
    return max((cut for cut in cut_points(messages) if cut <= limit), default=0)


def _original_ids(messages: Iterable[Message]) -> Iterable[MessageId]:
    return (m.id for m in messages if not (m.origin.is_summary or is_marker(m)))


# What joins a prefix and a text may cost.
_MARGIN = 4


def messages_without(messages: Sequence[Message], hidden: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages that stay when ``hidden`` ones go."""
    gone = {message.id for message in hidden}
    return tuple(message for message in messages if message.id not in gone)


def tail_start(view: ConversationView, meter: Meter, room: int) -> int:
    """Return the cut point behind which the newest messages take at most ``room`` tokens.

    What must stay at the end stays, whatever it takes.
    """
    newest = protected_tail_start(view)
    left = room - meter.total(view.messages[newest:])
    end = newest
    for cut in reversed([cut for cut in cut_points(view.messages) if cut < newest]):
        left -= meter.total(view.messages[cut:end])
        if left < 0:
            break
        end = cut
    return end


def room_for_text(
    view: ConversationView, meter: Meter, kept: Sequence[Message], target: int
) -> int:
    """Return the tokens that ``target`` leaves for a text beside what is ``kept``, if any."""
    taken = meter.total(kept)
    room = target - taken
    # What is left weighs otherwise than what there was: tried with texts of that size.
    while view.target_for is not None and room > 0:
        fits = view.target_for((*kept, _message_of_size(room))) - taken
        if fits >= room:
            break
        room = fits
    return room - _MARGIN


def _message_of_size(tokens: int) -> Message:
    """Return a message that stands for a text of so many tokens."""
    text = TextPart(text="word " * tokens)
    return Message(id=MessageId("text"), role="user", parts=(text,), line=0)
