"""The size of a context and the weight of its messages, from usage that the provider reported."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from compactctl.history.stand_ins import edit_points
from compactctl.history.usage.requests import Request
from compactctl.model.message import Message, MessageId, ReasoningPart
from compactctl.records import Record, field, replace

# Reasoning tokens per answer of a reasoning model of OpenAI: the median of the means of 101
# sessions, 97 of them between 54 and 472. It counts as much as so many answers of the session.
TYPICAL_REASONING = 183
_PRIOR_WEIGHT = 10
# If a request grew by less or more than these multiples of what was counted, something else was
# removed or added too.
_MIN_RATIO, _MAX_RATIO = 0.5, 2.0


class Calibration(Record):
    """The size of a context, measured from its newest trusted request (the anchor), in tokens.

    Attributes:
        total: the context of the next request.
        reported: the context that the provider reported for the anchor.
        answer: the anchor's answer; ``tokens_after_answer``: tokens counted after it.
        overhead: tokens of every request that are not in the transcript (system prompt, tool
            definitions), from the first request since the context was last edited.
        hidden_reasoning: reasoning that is still sent although its text is not stored.
        anchor_line: index of the anchor's raw line.
        requests: all trusted requests; the anchor is the last one.
        requests_since_edit: those since the context was last edited.
        next_turn: number of the turn of the next request.
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
    """Measure a conversation by its recorded usage; None if there is no usage to trust.

    ``reports`` are those of its ``requests_after_own_edit`` whose reported sizes are believed.
    ``size`` estimates what a message adds to a request; ``visible`` leaves out reasoning that is
    not stored as text. With ``drops_past_reasoning``, reasoning is no longer sent after its turn,
    unless the model ``keeps_reasoning``; reasoning of unknown size counts as the average.
    """
    if not reports:
        return None
    requests = tuple(reports)
    mean_reasoning = _mean_reasoning(requests) if drops_past_reasoning else 0.0
    drops_reasoning = drops_past_reasoning and not keeps_reasoning
    if not drops_reasoning:
        requests = tuple(replace(r, reasoning=0) if r.reasoning else r for r in requests)
    anchor = requests[-1]
    since_shrink = requests_since_shrink(requests)
    next_turn = anchor.turn + sum(message.starts_turn for message in messages[anchor.first_index :])
    turn_has_ended = drops_reasoning and next_turn > anchor.turn
    expired = _reasoning_by_turn(requests)[anchor.turn] if turn_has_ended else 0
    with_sent_reasoning = (
        [r for r in since_shrink if r.turn == anchor.turn] if drops_reasoning else since_shrink
    )
    turn_start = _newest_turn(messages) if drops_reasoning else 0
    unsized = _count_unsized(messages, anchor, turn_start, size, visible) if mean_reasoning else 0
    estimated = round(unsized * mean_reasoning)
    added = sum(
        (size if index >= turn_start else visible)(message)
        for index, message in enumerate(messages)
        if index > anchor.first_index and index not in anchor.message_indices
    )
    return Calibration(
        total=round(anchor.context + anchor.answer + added) - expired + estimated,
        reported=anchor.context,
        answer=round(anchor.answer),
        tokens_after_answer=round(added),
        overhead=max(0, round(since_shrink[0].context - since_shrink[0].counted_before)),
        hidden_reasoning=estimated
        + (0 if turn_has_ended else round(sum(map(_hidden, with_sent_reasoning)))),
        anchor_line=messages[anchor.first_index].line,
        requests=requests,
        requests_since_edit=since_shrink,
        next_turn=next_turn,
    )


def requests_after_own_edit(
    messages: Sequence[Message], requests: Sequence[Request]
) -> tuple[Request, ...]:
    """Return the requests made after compactctl's newest edit.

    Earlier usage describes a context that no longer exists.
    """
    points = [index or 0 for index in edit_points(messages).values()]
    points += [request.first_index for request in requests if request.usage.is_before_edit]
    edit_point = max(points, default=-1)
    return tuple(request for request in requests if request.first_index > edit_point)


def requests_since_shrink(requests: Sequence[Request]) -> tuple[Request, ...]:
    """Return the requests since the context last shrank, which means that it was edited.

    Reasoning dropped at the end of a turn is not an edit.
    """
    growths = enumerate(context_growth(requests), start=1)
    start = max((index for index, growth in growths if growth < 0), default=0)
    return tuple(requests[start:])


def context_growth(requests: Sequence[Request]) -> list[int]:
    """Return how much the context grew from each request to the next, in tokens.

    Reasoning dropped at the end of a turn is added back, so that it does not look like an edit.
    """
    expired = _reasoning_by_turn(requests)
    return [
        later.context
        - earlier.context
        + (expired[earlier.turn] if later.turn > earlier.turn else 0)
        for earlier, later in pairwise(requests)
    ]


def _reasoning_by_turn(requests: Sequence[Request]) -> Counter[int]:
    """Return the reasoning tokens of each turn that are no longer sent after it."""
    tokens_by_turn: Counter[int] = Counter()
    for request in requests:
        tokens_by_turn[request.turn] += request.expiring_tokens
    return tokens_by_turn


def _count_unsized(
    messages: Sequence[Message],
    anchor: Request,
    start: int,
    size: Callable[[Message], float],
    visible: Callable[[Message], float],
) -> int:
    """Count the messages after the anchor and ``start`` with reasoning of unknown size."""
    return sum(
        message.has_unstored_reasoning and size(message) == visible(message)
        for index, message in enumerate(messages)
        if index > max(anchor.first_index, start) and index not in anchor.message_indices
    )


def _newest_turn(messages: Sequence[Message]) -> int:
    return max((i for i, m in enumerate(messages) if m.starts_turn), default=0)


def _mean_reasoning(requests: Sequence[Request]) -> float:
    """Return the mean tokens of reasoning, with its frame, of the requests that have any.

    With few of them, the mean is drawn towards ``TYPICAL_REASONING``.
    """
    sizes = [request.expiring_tokens for request in requests if request.hidden_reasoning]
    return (sum(sizes) + _PRIOR_WEIGHT * TYPICAL_REASONING) / (len(sizes) + _PRIOR_WEIGHT)


def _hidden(request: Request) -> float:
    return request.answer - request.counted_output if request.hidden_reasoning else 0.0


class MessageWeights(Record):
    """What messages add to a request, in tokens as the provider counts them.

    Attributes:
        visible: estimates a message without reasoning whose text is not stored.
        unstored: tokens reported beyond that, such as reasoning, by the message they belong to.
        ratios: reported per estimated token, by message; ``default_ratio`` for all others.
    """

    visible: Callable[[Message], float]
    unstored: Mapping[MessageId, float] = field(default_factory=dict)
    ratios: Mapping[MessageId, float] = field(default_factory=dict)
    default_ratio: float = 1.0

    def tokens(self, message: Message) -> float:
        """Return what a message adds, even if it was rewritten or inserted."""
        ratio = self.ratios.get(message.id, self.default_ratio)
        return self.unstored.get(message.id, 0.0) + ratio * self.visible(message)

    def total(self, messages: Iterable[Message]) -> float:
        """Return what messages add in total."""
        return sum(map(self.tokens, messages))

    def scaled(self, messages: Sequence[Message], total: float) -> "MessageWeights":
        """Return the weights scaled so that ``messages`` add ``total``; unstored tokens stay."""
        unstored = sum(self.unstored.get(message.id, 0.0) for message in messages)
        visible = self.total(messages) - unstored
        if visible <= 0 or total <= unstored:
            return self
        factor = (total - unstored) / visible
        ratios = {name: ratio * factor for name, ratio in self.ratios.items()}
        return replace(self, ratios=ratios, default_ratio=self.default_ratio * factor)


def weigh_messages(
    messages: Sequence[Message],
    calibration: Calibration | None,
    size: Callable[[Message], float],
    visible: Callable[[Message], float],
) -> MessageWeights:
    """Weigh messages: answers as reported, others by the growth of the context between requests.

    ``size`` estimates a message, ``visible`` the same without reasoning that is not stored as text.
    """
    unstored = {m.id: guess for m in messages if (guess := size(m) - visible(m)) > 0}
    ratios: dict[MessageId, float] = {}
    since_edit, next_turn = (
        (calibration.requests_since_edit, calibration.next_turn) if calibration else ((), 0)
    )
    for request in since_edit:
        if not request.message_indices:
            continue
        expired = request.expiring_tokens if request.turn < next_turn else 0
        answer = [messages[index] for index in request.message_indices]
        unstored |= dict.fromkeys((message.id for message in answer), 0.0)
        unstored[_reasoning_message(answer).id] = max(
            0.0, request.answer - expired - request.counted_output
        )
    for added, grown in _added_between(messages, since_edit):
        estimated = sum(map(visible, added))
        if 0 < _MIN_RATIO * estimated <= grown <= _MAX_RATIO * estimated:
            ratios |= dict.fromkeys((message.id for message in added), grown / estimated)
        elif added and grown > estimated:
            # The client sent more than it stored, such as reminders.
            unstored[added[0].id] = grown - estimated
    return MessageWeights(visible=visible, unstored=unstored, ratios=ratios)


def _added_between(
    messages: Sequence[Message], requests: Sequence[Request]
) -> Iterator[tuple[list[Message], float]]:
    """Yield the messages between two requests without the answer, and their reported tokens."""
    for (earlier, later), grown in zip(pairwise(requests), context_growth(requests), strict=True):
        between = range(earlier.first_index, later.first_index)
        added = [messages[index] for index in between if index not in earlier.message_indices]
        yield added, grown - earlier.answer


def _reasoning_message(answer: Sequence[Message]) -> Message:
    """Return the message of an answer in which reasoning is stored, otherwise the first."""
    with_reasoning = (m for m in answer if any(isinstance(part, ReasoningPart) for part in m.parts))
    return next(with_reasoning, answer[0])
