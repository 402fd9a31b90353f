"""The size of a context from what the provider reported, and what came after."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from compactctl.history.stand_ins import edit_places
from compactctl.history.usage.requests import Request
from compactctl.model.message import Message, MessageId, ReasoningPart

# Tokens of reasoning behind an answer of a model of OpenAI that reasons: the median of the averages
# of 101 sessions, 97 of them between 54 and 472; and as how many of a session's own it counts.
USUAL_REASONING = 183
_FEW = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A context measured from its newest trustworthy request on, in tokens.

    Attributes:
        total: the context of the next request.
        reported: what the provider reported for the anchor's request.
        answer: the anchor's answer; ``added``: what was counted after it.
        overhead: what every request holds and the transcript does not (system prompt, tool
            definitions), from the first request since the context was last edited.
        hidden_reasoning: reasoning that is sent again though its text is not stored.
        anchor_line: index of the anchor's raw line.
        requests: all that were usable, the anchor the last of them.
        since: those since the context was last edited.
        turn: the number of the turn that the next request belongs to.
    """

    total: int
    reported: int
    answer: int
    added: int
    overhead: int
    hidden_reasoning: int
    anchor_line: int
    requests: tuple[Request, ...]
    since: tuple[Request, ...]
    turn: int


def calibrate(  # noqa: PLR0913 - facts about one conversation, all of them named
    messages: Sequence[Message],
    reports: Sequence[Request],
    size: Callable[[Message], float],
    visible: Callable[[Message], float],
    *,
    drops_past_reasoning: bool = False,
    keeps_reasoning: bool = False,
) -> Calibration | None:
    """Measure a conversation from its recorded usage; None when there is none to trust.

    ``reports`` are its requests whose reported sizes are ``trusted`` and believed. ``size``
    estimates what a message adds to a request, ``visible`` the same without reasoning that is not
    stored as text, where ``size`` guesses it. ``drops_past_reasoning`` tells that reasoning is no
    longer sent once its turn has ended, unless the model ``keeps_reasoning``; where nothing tells
    its size it is taken for the average.
    """
    if not reports:
        return None
    found = tuple(reports)
    usual = _usual_reasoning(found) if drops_past_reasoning else 0.0
    ends = drops_past_reasoning and not keeps_reasoning
    if not ends:
        found = tuple(replace(r, reasoning=0) if r.reasoning else r for r in found)
    anchor = found[-1]
    since = since_edit(found)
    turn = anchor.turn + sum(message.starts_turn for message in messages[anchor.first :])
    has_ended = ends and turn > anchor.turn
    ended = _reasoning_by_turn(found)[anchor.turn] if has_ended else 0
    sent = [r for r in since if r.turn == anchor.turn] if ends else since
    since_turn = _newest_turn(messages) if ends else 0
    unsized = _unsized(messages, anchor, since_turn, size, visible) if usual else 0
    guessed = round(unsized * usual)
    added = sum(
        (size if index >= since_turn else visible)(message)
        for index, message in enumerate(messages)
        if index > anchor.first and index not in anchor.members
    )
    return Calibration(
        total=round(anchor.context + anchor.answer + added) - ended + guessed,
        reported=anchor.context,
        answer=round(anchor.answer),
        added=round(added),
        overhead=max(0, round(since[0].context - since[0].before)),
        hidden_reasoning=guessed + (0 if has_ended else round(sum(map(_hidden, sent)))),
        anchor_line=messages[anchor.first].line,
        requests=found,
        since=since,
        turn=turn,
    )


def trusted(messages: Sequence[Message], found: Sequence[Request]) -> tuple[Request, ...]:
    """Return the requests made after the newest edit by compactctl that says when it was.

    What those before it reported is no longer there.
    """
    edited = max((place or 0 for place in edit_places(messages).values()), default=-1)
    return tuple(request for request in found if request.first > edited)


def since_edit(found: Sequence[Request]) -> tuple[Request, ...]:
    """Return the requests since the context last shrank: a fall means that it was edited.

    That the reasoning of a turn ended with it is not an edit.
    """
    start = 0
    grown = growths(found)
    for place in range(1, len(found)):
        if grown[place - 1] < 0:
            start = place
    return tuple(found[start:])


def growths(found: Sequence[Request]) -> list[int]:
    """Return how many tokens each request has more than the one before, what ended put back."""
    ended = _reasoning_by_turn(found)
    return [
        later.context - earlier.context + (ended[earlier.turn] if later.turn > earlier.turn else 0)
        for earlier, later in pairwise(found)
    ]


def _reasoning_by_turn(found: Sequence[Request]) -> Counter[int]:
    """Return how much the requests of each turn thought, in tokens."""
    thought: Counter[int] = Counter()
    for request in found:
        thought[request.turn] += request.ends
    return thought


def _unsized(
    messages: Sequence[Message],
    anchor: Request,
    start: int,
    size: Callable[[Message], float],
    visible: Callable[[Message], float],
) -> int:
    """Return how many messages behind the anchor and ``start`` thought of unknown size."""
    return sum(
        message.has_unstored_reasoning and size(message) == visible(message)
        for index, message in enumerate(messages)
        if index > max(anchor.first, start) and index not in anchor.members
    )


def _newest_turn(messages: Sequence[Message]) -> int:
    return max((i for i, m in enumerate(messages) if m.starts_turn), default=0)


def _usual_reasoning(found: Sequence[Request]) -> float:
    """Return how much a request thinks that does, with its frame, in tokens.

    The average of the conversation, drawn to what is usual while few are known.
    """
    thought = [request.ends for request in found if request.hidden_reasoning]
    return (sum(thought) + _FEW * USUAL_REASONING) / (len(thought) + _FEW)


def _hidden(request: Request) -> float:
    return request.answer - request.visible if request.hidden_reasoning else 0.0


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
