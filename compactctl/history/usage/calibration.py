"""The size of a context from what the provider reported, and what came after."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from compactctl.history.standins import edit_places
from compactctl.history.usage.requests import Request
from compactctl.model.message import Message

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
        message.thinks_unseen and size(message) == visible(message)
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
