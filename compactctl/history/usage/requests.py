"""The requests to a model that a conversation records, with what the provider reported for them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from compactctl.model.message import Message, ReportedUsage

# What reasoning takes beside its tokens with OpenAI: the context falls by as much more for each
# request that thought, exactly in 13 of the 17 turns that began with a prompt alone, in four
# sessions of Codex.
REASONING_FRAME = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One model response and the request it answers. Sizes are in tokens.

    Attributes:
        first_index: index of the response's first message; of a refused request, of the last
            message that was sent.
        message_indices: indices of all messages of the response; () for a refused request.
        context: what the provider reported for everything that was sent.
        output: what it reported for the answer; None when the number is a placeholder.
        reported_answer: by how much the answer makes the context larger as far as it was reported
            (``ReportedUsage.answer``); None like ``output``. See ``answer``.
        counted_output: what was counted of the answer's records; ``result_tokens`` is what of that
            are results of tools, which some clients store in the record of the call: they are not
            output.
        estimated_reasoning: what of its reasoning is not stored, by what is stored beside it.
        hidden_reasoning: whether the answer holds reasoning whose text is not stored.
        counted_before: what was counted of the messages that were sent; ``contents`` is what of
            that is stored, without guesses.
        reasoning: what of the output was reported to be reasoning.
        turn: the number of the turn that it belongs to.
        usage: all that was reported of what was sent, as the response's first line tells it.
    """

    first_index: int
    message_indices: tuple[int, ...]
    context: int
    output: int | None
    reported_answer: int | None
    counted_output: float
    result_tokens: float
    estimated_reasoning: float
    hidden_reasoning: bool
    counted_before: float
    contents: float
    reasoning: int
    turn: int
    usage: ReportedUsage

    @property
    def expiring_tokens(self) -> int:
        """What of its answer is no longer sent once its reasoning is not, in tokens."""
        return self.reasoning + REASONING_FRAME if self.reasoning else 0

    @property
    def answer(self) -> float:
        """The tokens of the answer's records: as reported where that can be true, else counted.

        A report a little below what is counted is true, and leaves no room for reasoning.
        """
        if self.reported_answer is None or not self.is_output_reported:
            return self.counted_output + self.estimated_reasoning
        return max(self.reported_answer, self._counted_reply) + self.result_tokens

    @property
    def is_output_reported(self) -> bool:
        """Whether the size of the answer was reported, and can be true."""
        return self.reported_answer is not None and 2 * self.reported_answer >= self._counted_reply

    @property
    def _counted_reply(self) -> float:
        return self.counted_output - self.result_tokens


def find_requests(
    messages: Sequence[Message],
    size: Callable[[Message], float],
    visible: Callable[[Message], float] | None = None,
) -> tuple[Request, ...]:
    """Return the requests with a reported context, in order; ``size`` counts a message.

    ``visible`` counts it without the reasoning that is guessed, where ``size`` does guess some.
    The lines of one response repeat its usage and count once: context from the first line,
    output from the last.
    """
    sizes = [size(message) for message in messages]
    sums = [0.0, *accumulate(sizes)]
    stored = sums if visible is None else [0.0, *accumulate(map(visible, messages))]
    responses: dict[str, list[int]] = {}
    for index, message in enumerate(messages):
        # Most logs of plain messages give their answers no ids.
        name = message.response_id or (message.id if message.usage else None)
        if name is not None:
            responses.setdefault(name, []).append(index)
    turns = list(accumulate(int(message.starts_turn) for message in messages))
    found = (
        _request(members, messages, (sizes, sums, stored), visible or size, turns[members[0]])
        for members in responses.values()
    )
    return tuple(request for request in found if request is not None)


def refused_request(
    sent: Sequence[Message],
    tokens: int,
    size: Callable[[Message], float],
    visible: Callable[[Message], float],
) -> Request:
    """Return a request that the provider refused as too long, with the ``tokens`` it counted.

    It has no answer; what ``sent`` holds is before it.
    """
    return Request(
        first_index=len(sent) - 1,
        message_indices=(),
        context=tokens,
        output=None,
        reported_answer=None,
        counted_output=0.0,
        result_tokens=0.0,
        estimated_reasoning=0.0,
        hidden_reasoning=False,
        counted_before=sum(map(size, sent)),
        contents=sum(map(visible, sent)),
        reasoning=0,
        turn=sum(message.starts_turn for message in sent),
        usage=ReportedUsage(context=tokens),
    )


def _request(
    members: Sequence[int],
    messages: Sequence[Message],
    counted: tuple[list[float], list[float], list[float]],
    visible: Callable[[Message], float],
    turn: int,
) -> Request | None:
    usages = [messages[index].usage for index in members]
    reported = [usage for usage in usages if usage is not None and usage.context > 0]
    if not reported:
        return None
    sizes, sums, stored = counted
    newest = reported[-1]
    seen = sum(visible(messages[index]) for index in members)
    guessed = sum(sizes[index] for index in members) - seen
    return Request(
        first_index=members[0],
        message_indices=tuple(members),
        context=reported[0].context,
        output=newest.output,
        reported_answer=newest.answer,
        counted_output=seen,
        result_tokens=sum(
            visible(replace(messages[i], parts=messages[i].results))
            for i in members
            if messages[i].results
        ),
        estimated_reasoning=guessed,
        hidden_reasoning=guessed > 0
        or any(messages[index].has_unstored_reasoning for index in members),
        counted_before=sums[members[0]],
        contents=stored[members[0]],
        reasoning=newest.reasoning,
        turn=turn,
        usage=reported[0],
    )
