"""The size of a context from what the provider reported, and what came after."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from compactctl.history.stand_ins import edit_points
from compactctl.history.usage.requests import Request
from compactctl.model.message import Message, MessageId, ReasoningPart

# Tokens of reasoning behind an answer of a model of OpenAI that reasons: the median of the averages
# of 101 sessions, 97 of them between 54 and 472; and as how many of a session's own it counts.
TYPICAL_REASONING = 183
_PRIOR_WEIGHT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A context measured from its newest trustworthy request on, in tokens.

    Attributes:
        total: the context of the next request.
        reported: what the provider reported for the anchor's request.
        answer: the anchor's answer; ``tokens_after_answer``: what was counted after it.
        overhead: what every request holds and the transcript does not (system prompt, tool
            definitions), from the first request since the context was last edited.
        hidden_reasoning: reasoning that is sent again though its text is not stored.
        anchor_line: index of the anchor's raw line.
        requests: all that were usable, the anchor the last of them.
        requests_since_edit: those since the context was last edited.
        next_turn: the number of the turn that the next request belongs to.
    """

    total: int
    reported: int
    answer: int
    tokens_after_answer: int
    overhead: int
    hidden_reasoning: int
    anchor_line: int
    requests: tuple[Request, ...]
    requests_since_edit: tuple[Request, ...]
    next_turn: int


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

    ``reports`` are its requests whose reported sizes are ``requests_after_own_edit`` and believed.
    ``size`` estimates what a message adds to a request, ``visible`` the same without reasoning that
    is not stored as text, where ``size`` guesses it. ``drops_past_reasoning`` tells that reasoning
    is no longer sent once its turn has ended, unless the model ``keeps_reasoning``; where nothing
    tells its size it is taken for the average.
    """
    if not reports:
        return None
    calibration = tuple(reports)
    usual = _mean_reasoning(calibration) if drops_past_reasoning else 0.0
    ends = drops_past_reasoning and not keeps_reasoning
    if not ends:
        calibration = tuple(replace(r, reasoning=0) if r.reasoning else r for r in calibration)
    anchor = calibration[-1]
    since = requests_since_shrink(calibration)
    turn = anchor.turn + sum(message.starts_turn for message in messages[anchor.first_index :])
    has_ended = ends and turn > anchor.turn
    ended = _reasoning_by_turn(calibration)[anchor.turn] if has_ended else 0
    sent = [r for r in since if r.turn == anchor.turn] if ends else since
    since_turn = _newest_turn(messages) if ends else 0
    unsized = _count_unsized(messages, anchor, since_turn, size, visible) if usual else 0
    guessed = round(unsized * usual)
    added = sum(
        (size if index >= since_turn else visible)(message)
        for index, message in enumerate(messages)
        if index > anchor.first_index and index not in anchor.message_indices
    )
    return Calibration(
        total=round(anchor.context + anchor.answer + added) - ended + guessed,
        reported=anchor.context,
        answer=round(anchor.answer),
        tokens_after_answer=round(added),
        overhead=max(0, round(since[0].context - since[0].counted_before)),
        hidden_reasoning=guessed + (0 if has_ended else round(sum(map(_hidden, sent)))),
        anchor_line=messages[anchor.first_index].line,
        requests=calibration,
        requests_since_edit=since,
        next_turn=turn,
    )


def requests_after_own_edit(
    messages: Sequence[Message], calibration: Sequence[Request]
) -> tuple[Request, ...]:
    """Return the requests made after the newest edit by compactctl that says when it was.

    What those before it reported is no longer there.
    """
    edited = max((place or 0 for place in edit_points(messages).values()), default=-1)
    return tuple(request for request in calibration if request.first_index > edited)


def requests_since_shrink(calibration: Sequence[Request]) -> tuple[Request, ...]:
    """Return the requests since the context last shrank: a fall means that it was edited.

    That the reasoning of a turn ended with it is not an edit.
    """
    start = 0
    grown = context_growth(calibration)
    for place in range(1, len(calibration)):
        if grown[place - 1] < 0:
            start = place
    return tuple(calibration[start:])


def context_growth(calibration: Sequence[Request]) -> list[int]:
    """Return how many tokens each request has more than the one before, what ended put back."""
    ended = _reasoning_by_turn(calibration)
    return [
        later.context - earlier.context + (ended[earlier.turn] if later.turn > earlier.turn else 0)
        for earlier, later in pairwise(calibration)
    ]


def _reasoning_by_turn(calibration: Sequence[Request]) -> Counter[int]:
    """Return how much the requests of each turn thought, in tokens."""
    thought: Counter[int] = Counter()
    for request in calibration:
        thought[request.turn] += request.expiring_tokens
    return thought


def _count_unsized(
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
        if index > max(anchor.first_index, start) and index not in anchor.message_indices
    )


def _newest_turn(messages: Sequence[Message]) -> int:
    return max((i for i, m in enumerate(messages) if m.starts_turn), default=0)


def _mean_reasoning(calibration: Sequence[Request]) -> float:
    """Return how much a request thinks that does, with its frame, in tokens.

    The average of the conversation, drawn to what is usual while few are known.
    """
    thought = [request.expiring_tokens for request in calibration if request.hidden_reasoning]
    return (sum(thought) + _PRIOR_WEIGHT * TYPICAL_REASONING) / (len(thought) + _PRIOR_WEIGHT)


def _hidden(request: Request) -> float:
    return request.answer - request.counted_output if request.hidden_reasoning else 0.0


# Where a request grew by less or more than these times what was counted, something else was taken
# away or added as well.
_MIN_RATIO, _MAX_RATIO = 0.5, 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageWeights:
    """What messages add to a request, in reported tokens.

    Attributes:
        visible: estimates a message without reasoning whose text is not stored.
        unstored: what was reported beyond that, such as reasoning, by the message it stays with.
        ratios: reported over estimated tokens, by message; ``default_ratio`` for all others.
    """

    visible: Callable[[Message], float]
    unstored: Mapping[MessageId, float] = field(default_factory=dict)
    ratios: Mapping[MessageId, float] = field(default_factory=dict)
    default_ratio: float = 1.0

    def tokens(self, message: Message) -> float:
        """Return what a message adds, also one that was rewritten or written anew."""
        ratio = self.ratios.get(message.id, self.default_ratio)
        return self.unstored.get(message.id, 0.0) + ratio * self.visible(message)

    def total(self, messages: Iterable[Message]) -> float:
        """Return what messages add together."""
        return sum(map(self.tokens, messages))

    def scaled(self, messages: Sequence[Message], total: float) -> "MessageWeights":
        """Return the weights with which ``messages`` come to ``total``; what is hidden stays."""
        hidden = sum(self.unstored.get(message.id, 0.0) for message in messages)
        shown = self.total(messages) - hidden
        if shown <= 0 or total <= hidden:
            return self
        factor = (total - hidden) / shown
        ratios = {name: ratio * factor for name, ratio in self.ratios.items()}
        return replace(self, ratios=ratios, default_ratio=self.default_ratio * factor)


def weigh_messages(
    messages: Sequence[Message],
    calibration: Calibration | None,
    size: Callable[[Message], float],
    visible: Callable[[Message], float],
) -> MessageWeights:
    """Weigh a conversation: answers as reported, what was added between requests by their growth.

    ``size`` estimates a message, ``visible`` the same without reasoning that is not stored as text.
    """
    hidden = {m.id: guess for m in messages if (guess := size(m) - visible(m)) > 0}
    ratios: dict[MessageId, float] = {}
    since, turn = (
        (calibration.requests_since_edit, calibration.next_turn) if calibration else ((), 0)
    )
    for request in since:
        if not request.message_indices:
            continue
        ended = request.expiring_tokens if request.turn < turn else 0
        answer = [messages[index] for index in request.message_indices]
        hidden |= dict.fromkeys((message.id for message in answer), 0.0)
        hidden[_reasoning_message(answer).id] = max(
            0.0, request.answer - ended - request.counted_output
        )
    for added, grown in _entered(messages, since):
        estimated = sum(map(visible, added))
        if 0 < _MIN_RATIO * estimated <= grown <= _MAX_RATIO * estimated:
            ratios |= dict.fromkeys((message.id for message in added), grown / estimated)
        elif added and grown > estimated:
            # The client sent more with them than it stored, such as reminders.
            hidden[added[0].id] = grown - estimated
    return MessageWeights(visible=visible, unstored=hidden, ratios=ratios)


def _entered(
    messages: Sequence[Message], since: Sequence[Request]
) -> Iterator[tuple[list[Message], float]]:
    """Yield what was added between two requests beside an answer, and how many tokens it was."""
    for (earlier, later), grown in zip(pairwise(since), context_growth(since), strict=True):
        between = range(earlier.first_index, later.first_index)
        added = [messages[index] for index in between if index not in earlier.message_indices]
        yield added, grown - earlier.answer


def _reasoning_message(answer: Sequence[Message]) -> Message:
    """Return the message of an answer that reasoning is stored in, else the first."""
    thoughts = (m for m in answer if any(isinstance(part, ReasoningPart) for part in m.parts))
    return next(thoughts, answer[0])
