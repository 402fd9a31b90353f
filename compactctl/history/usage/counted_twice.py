"""Reports that count cached tokens twice, as proxies of other providers write them.

Anthropic's ``input_tokens`` exclude cache reads and cache writes, and the three add up to the
request. OpenAI's include both. A proxy that translates one into the other without subtracting
reports a request of 100,000 tokens as 195,000:

    {"input_tokens": 100000, "cache_read_input_tokens": 95000, "cache_creation_input_tokens": 0}

Which of the two a file means is inferred from the growth of its requests per counted token.
"""

from collections.abc import Callable, Iterable, Sequence
from math import log

from compactctl.history.turns import split_conversations
from compactctl.history.usage.calibration import context_growth
from compactctl.history.usage.requests import Request, find_requests
from compactctl.model.message import Message, ReportedUsage
from compactctl.model.transcript import Transcript
from compactctl.records import replace

Repeated = Callable[[ReportedUsage], int]

# What ``input_tokens`` may include besides new input: cache reads, or also cache writes.
_REPEATED: tuple[Repeated, ...] = (
    lambda usage: usage.cache_read or 0,
    lambda usage: (usage.cache_read or 0) + (usage.cache_write or 0),
)
# Growth is checked only if at least so many counted tokens entered, as in ``belief``.
_MIN_ENTERED = 2_000
# If everything is cached, twice as many tokens are reported; counting errors stay below this.
_SUSPICIOUS_RATIO = 1.3


def without_double_counts(
    transcript: Transcript, sizes: Callable[[], Callable[[Message], float]]
) -> tuple[Transcript, float | None]:
    """Return a transcript whose usage counts no token twice, and the ``growth_ratio`` before that.

    The ratio is None if nothing changed. ``sizes`` returns the function that counts a message; it
    is called only if every report may include its cached tokens twice.
    """
    usages = [m.usage for m in transcript.messages if m.usage and m.usage.context > 0]
    possible = [repeated for repeated in _REPEATED if _may_include(usages, repeated)]
    if not possible:
        return transcript, None
    messages = max(split_conversations(transcript.effective), key=_reports, default=())
    size = sizes()
    before = growth_ratio(find_requests(messages, size))
    if before is None or before < _SUSPICIOUS_RATIO:
        return transcript, None
    distances = [
        _distance(growth_ratio(find_requests(_without(messages, repeated), size)))
        for repeated in possible
    ]
    nearest = min(distances)
    repeated = possible[distances.index(nearest)]
    if 2 * nearest >= _distance(before):
        return transcript, None
    return (
        replace(
            transcript,
            messages=_without(transcript.messages, repeated),
            effective=_without(transcript.effective, repeated),
            with_omitted=_without(transcript.with_omitted, repeated),
        ),
        before,
    )


def growth_ratio(requests: Sequence[Request]) -> float | None:
    """Return how many reported tokens requests grew by per counted token.

    None if too little entered. Steps in which the context shrank do not count.
    """
    steps = [
        (grown, later.counted_before - earlier.counted_before)
        for earlier, later, grown in zip(
            requests, requests[1:], context_growth(requests), strict=False
        )
        if grown > 0 and later.counted_before > earlier.counted_before
    ]
    entered = sum(counted for _, counted in steps)
    return sum(grown for grown, _ in steps) / entered if entered >= _MIN_ENTERED else None


def _reports(messages: Sequence[Message]) -> int:
    return sum(message.usage is not None for message in messages)


def _may_include(usages: Sequence[ReportedUsage], repeated: Repeated) -> bool:
    """Whether ``input_tokens`` are never less than the cached tokens they would include."""
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
