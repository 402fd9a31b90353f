"""Reports that count cached tokens twice, as proxies of other providers write them.

Anthropic's ``input_tokens`` leave out what was read from a cache and what was put into it, and the
three add up to the request. OpenAI's hold both. A proxy that translates one into the other and does
not subtract reports a request of 100,000 tokens as 195,000:

    {"input_tokens": 100000, "cache_read_input_tokens": 95000, "cache_creation_input_tokens": 0}

Which of the two a file means follows from how much its requests grew by what is counted.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import log

from compactctl.history.turns import split_conversations
from compactctl.history.usage.calibration import context_growth
from compactctl.history.usage.requests import Request, find_requests
from compactctl.model.message import Message, ReportedUsage
from compactctl.model.transcript import Transcript

Repeated = Callable[[ReportedUsage], int]

# What ``input_tokens`` may hold beside what is new: what was read, or also what was written.
_REPEATED: tuple[Repeated, ...] = (
    lambda usage: usage.cache_read or 0,
    lambda usage: (usage.cache_read or 0) + (usage.cache_write or 0),
)
# From how many counted tokens on growth can be judged, as in ``belief``.
_ENOUGH = 2_000
# Twice as many are reported where all is cached; below this, counting errors explain it.
_SUSPICIOUS = 1.3


def without_double_counts(
    transcript: Transcript, sizes: Callable[[], Callable[[Message], float]]
) -> tuple[Transcript, float | None]:
    """Return a transcript without tokens that its reports count twice, and their growth before.

    The growth is in reported tokens for each that was counted; None where nothing changed.
    ``sizes`` returns what counts a message. It is not asked unless every report could hold its
    cached tokens twice.
    """
    usages = [m.usage for m in transcript.messages if m.usage and m.usage.context > 0]
    possible = [each for each in _REPEATED if _may_hold(usages, each)]
    if not possible:
        return transcript, None
    messages = max(split_conversations(transcript.effective), key=_reports, default=())
    size = sizes()
    before = growth_ratio(find_requests(messages, size))
    if before is None or before < _SUSPICIOUS:
        return transcript, None
    found = [
        (_distance(growth_ratio(find_requests(_without(messages, r), size))), r) for r in possible
    ]
    nearest, repeated = min(found, key=lambda each: each[0])
    if 2 * nearest >= _distance(before):
        return transcript, None
    return (
        replace(
            transcript,
            messages=_without(transcript.messages, repeated),
            effective=_without(transcript.effective, repeated),
        ),
        before,
    )


def growth_ratio(found: Sequence[Request]) -> float | None:
    """Return by how many reported tokens requests grew for each token that was counted.

    None where too little entered to tell. Steps in which the context shrank do not count.
    """
    steps = [
        (grown, later.counted_before - earlier.counted_before)
        for earlier, later, grown in zip(found, found[1:], context_growth(found), strict=False)
        if grown > 0 and later.counted_before > earlier.counted_before
    ]
    entered = sum(counted for _, counted in steps)
    return sum(grown for grown, _ in steps) / entered if entered >= _ENOUGH else None


def _reports(messages: Sequence[Message]) -> int:
    return sum(message.usage is not None for message in messages)


def _may_hold(usages: Sequence[ReportedUsage], repeated: Repeated) -> bool:
    """Tell whether ``input_tokens`` are never less than the cached ones they would hold."""
    return any(map(repeated, usages)) and all(
        usage.is_sum
        and usage.context - (usage.cache_read or 0) - (usage.cache_write or 0) >= repeated(usage)
        for usage in usages
    )


def _distance(ratio: float | None) -> float:
    return abs(log(ratio)) if ratio else float("inf")


def _without(messages: Iterable[Message], repeated: Repeated) -> tuple[Message, ...]:
    return tuple(
        message
        if message.usage is None
        else replace(
            message,
            usage=replace(message.usage, context=message.usage.context - repeated(message.usage)),
        )
        for message in messages
    )
