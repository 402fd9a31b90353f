"""What each message of a conversation adds to a request, as far as the provider's reports tell."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from compactctl.history.usage.calibration import Calibration, growths
from compactctl.history.usage.requests import Request
from compactctl.model.message import Message, MessageId, ReasoningPart

# Where a request grew by less or more than these times what was counted, something else was taken
# away or added as well.
_LEAST, _MOST = 0.5, 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What messages add to a request, in reported tokens.

    Attributes:
        visible: estimates a message without reasoning whose text is not stored.
        hidden: what was reported beyond that, such as reasoning, by the message it stays with.
        ratios: reported over estimated tokens, by message; ``usual`` for all others.
    """

    visible: Callable[[Message], float]
    hidden: Mapping[MessageId, float] = field(default_factory=dict)
    ratios: Mapping[MessageId, float] = field(default_factory=dict)
    usual: float = 1.0

    def of(self, message: Message) -> float:
        """Return what a message adds, also one that was rewritten or written anew."""
        ratio = self.ratios.get(message.id, self.usual)
        return self.hidden.get(message.id, 0.0) + ratio * self.visible(message)

    def total(self, messages: Iterable[Message]) -> float:
        """Return what messages add together."""
        return sum(map(self.of, messages))

    def scaled(self, messages: Sequence[Message], total: float) -> "Weights":
        """Return the weights with which ``messages`` come to ``total``; what is hidden stays."""
        hidden = sum(self.hidden.get(message.id, 0.0) for message in messages)
        shown = self.total(messages) - hidden
        if shown <= 0 or total <= hidden:
            return self
        factor = (total - hidden) / shown
        ratios = {name: ratio * factor for name, ratio in self.ratios.items()}
        return replace(self, ratios=ratios, usual=self.usual * factor)


def weigh(
    messages: Sequence[Message],
    found: Calibration | None,
    size: Callable[[Message], float],
    visible: Callable[[Message], float],
) -> Weights:
    """Weigh a conversation: answers as reported, what was added between requests by their growth.

    ``size`` estimates a message, ``visible`` the same without reasoning that is not stored as text.
    """
    hidden = {m.id: guess for m in messages if (guess := size(m) - visible(m)) > 0}
    ratios: dict[MessageId, float] = {}
    since, turn = (found.since, found.turn) if found else ((), 0)
    for request in since:
        if not request.members:
            continue
        ended = request.ends if request.turn < turn else 0
        answer = [messages[index] for index in request.members]
        hidden |= dict.fromkeys((message.id for message in answer), 0.0)
        hidden[_thinker(answer).id] = max(0.0, request.answer - ended - request.visible)
    for added, grown in _entered(messages, since):
        estimated = sum(map(visible, added))
        if 0 < _LEAST * estimated <= grown <= _MOST * estimated:
            ratios |= dict.fromkeys((message.id for message in added), grown / estimated)
        elif added and grown > estimated:
            # The client sent more with them than it stored, such as reminders.
            hidden[added[0].id] = grown - estimated
    return Weights(visible=visible, hidden=hidden, ratios=ratios)


def _entered(
    messages: Sequence[Message], since: Sequence[Request]
) -> Iterator[tuple[list[Message], float]]:
    """Yield what was added between two requests beside an answer, and how many tokens it was."""
    for (earlier, later), grown in zip(pairwise(since), growths(since), strict=True):
        between = range(earlier.first, later.first)
        added = [messages[index] for index in between if index not in earlier.members]
        yield added, grown - earlier.answer


def _thinker(answer: Sequence[Message]) -> Message:
    """Return the message of an answer that reasoning is stored in, else the first."""
    thoughts = (m for m in answer if any(isinstance(part, ReasoningPart) for part in m.parts))
    return next(thoughts, answer[0])
