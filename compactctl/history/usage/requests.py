"""The requests to a model that a conversation records, with the usage reported for them."""

from collections.abc import Callable, Sequence
from itertools import accumulate
from math import inf

from compactctl.model.message import Message, ReportedUsage, is_compaction
from compactctl.records import Record, replace

# Overhead of reasoning with OpenAI, in tokens: after a turn the context shrinks by this much more
# for each request with reasoning. It was exact in 13 of the 17 turns of four Codex sessions that
# began with a prompt alone.
REASONING_FRAME = 2


class Request(Record):
    """One model response and the request it answers. Sizes are in tokens.

    Attributes:
        first_index: index of the response's first message; for a refused request, of the last
            message that was sent.
        message_indices: indices of all messages of the response; () for a refused request.
        context: the reported size of everything that was sent.
        output: the reported size of the answer; None if the number is a placeholder.
        reported_answer: by how much the answer enlarges the context, as far as it was reported
            (``ReportedUsage.answer``); None like ``output``. See ``answer``.
        counted_output: the counted size of the answer's records; ``result_tokens`` is the part that
            is tool results, which some clients store in the record of the call and which are not
            output.
        estimated_reasoning: the size of its reasoning that is not stored, as estimated.
        hidden_reasoning: whether the answer contains reasoning whose text is not stored.
        counted_before: the counted size of the messages that were sent, at most the reported one if
            the provider may have left some out; ``contents`` is the part that is stored, without
            guesses.
        reasoning: the part of the output that was reported to be reasoning.
        turn: number of the turn that it belongs to.
        usage: the usage of what was sent, as reported on the response's first line.
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
        """Tokens that leave the context when this answer's reasoning is no longer sent."""
        return self.reasoning + REASONING_FRAME if self.reasoning else 0

    @property
    def answer(self) -> float:
        """The tokens of the answer's records: as reported if that can be true, otherwise counted.

        A report a little below the count is true, and leaves no room for reasoning.
        """
        if self.reported_answer is None or not self.is_output_reported:
            return self.counted_output + self.estimated_reasoning
        if not self._is_output_counted:
            return self.reported_answer + self.result_tokens
        return max(self.reported_answer, self._counted_reply) + self.result_tokens

    @property
    def is_output_reported(self) -> bool:
        """Whether the size of the answer was reported, and can be true."""
        return self.reported_answer is not None and (self.usage.is_final or self._is_output_counted)

    @property
    def _is_output_counted(self) -> bool:
        """Whether the reported size of the answer is about the counted one, or larger."""
        return 2 * (self.reported_answer or 0) >= self._counted_reply

    @property
    def _counted_reply(self) -> float:
        return self.counted_output - self.result_tokens


def find_requests(
    messages: Sequence[Message],
    size: Callable[[Message], float],
    visible: Callable[[Message], float] | None = None,
) -> tuple[Request, ...]:
    """Return the requests with a reported context, in order; ``size`` counts a message.

    ``visible`` counts it without the reasoning that ``size`` guesses, if it guesses any. The lines
    of one response repeat its usage and count once: context from the first line, output from the
    last.
    """
    sizes = [size(message) for message in messages]
    sums = [0.0, *accumulate(sizes)]
    stored = sums if visible is None else [0.0, *accumulate(map(visible, messages))]
    responses: dict[str, list[int]] = {}
    for index, message in enumerate(messages):
        # Most logs of plain messages have no response ids.
        response_id = message.response_id or (message.id if message.usage else None)
        if response_id is not None:
            responses.setdefault(response_id, []).append(index)
    turns = list(accumulate([int(message.starts_turn) for message in messages]))
    requests = (
        _request(indices, messages, (sizes, sums, stored), visible or size, turns[indices[0]])
        for indices in responses.values()
    )
    return tuple(request for request in requests if request is not None)


def refused_request(
    sent: Sequence[Message],
    tokens: int,
    size: Callable[[Message], float],
    visible: Callable[[Message], float],
) -> Request:
    """Return a request that the provider refused as too long, with the ``tokens`` it counted.

    It sent ``sent`` and has no answer.
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
    indices: Sequence[int],
    messages: Sequence[Message],
    counted: tuple[list[float], list[float], list[float]],
    visible: Callable[[Message], float],
    turn: int,
) -> Request | None:
    usages = [messages[index].usage for index in indices]
    reported = [usage for usage in usages if usage is not None and usage.context > 0]
    if not reported:
        return None
    sizes, sums, stored = counted
    newest = reported[-1]
    visible_tokens = sum([visible(messages[index]) for index in indices])
    estimated = sum([sizes[index] for index in indices]) - visible_tokens
    # The provider's summary at the start of an answer is part of what the model had read.
    summary_tokens = _summary_tokens(messages[indices[0]], visible)
    most = reported[0].context if reported[0].is_trimmed else inf
    return Request(
        first_index=indices[0],
        message_indices=tuple(indices),
        context=reported[0].context,
        output=newest.output,
        reported_answer=newest.answer,
        counted_output=visible_tokens - summary_tokens,
        result_tokens=sum(
            visible(replace(messages[i], parts=messages[i].results))
            for i in indices
            if messages[i].results
        ),
        estimated_reasoning=estimated,
        hidden_reasoning=estimated > 0
        or any(messages[index].has_unstored_reasoning for index in indices),
        counted_before=min(most, sums[indices[0]] + summary_tokens),
        contents=min(most, stored[indices[0]] + summary_tokens),
        reasoning=newest.reasoning,
        turn=turn,
        usage=reported[0],
    )


def _summary_tokens(message: Message, visible: Callable[[Message], float]) -> float:
    if not (message.parts and is_compaction(message.parts[0])):
        return 0.0
    return visible(replace(message, parts=message.parts[:1]))
