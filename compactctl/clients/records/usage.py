"""Usage of answers that took several requests, and the newest usage of a conversation."""

from collections.abc import Callable, Iterable, Sequence

from compactctl.model.message import Message, ReportedUsage
from compactctl.records import Record, replace


def sum_usages(usages: Sequence[ReportedUsage]) -> ReportedUsage:
    """Combine the usage of the requests for one answer, oldest first; at least one.

    The context is that of the first request. Everything later belongs to the answer, although most
    of it was billed as input: results of the provider's tools, and the answer so far again::

        requests:  100 in, 20 out; 150 in, 30 out
        combined:  100 in, 50 out, growth 80 (150 + 30 - 100), resent 150
    """
    first, newest = usages[0], usages[-1]
    if len(usages) == 1:
        return first
    answer_tokens = newest.answer
    return ReportedUsage(
        context=first.context,
        output=_sum_or_none(usage.output for usage in usages),
        growth=None if answer_tokens is None else newest.context + answer_tokens - first.context,
        reasoning=sum(usage.reasoning for usage in usages),
        cache_read=first.cache_read,
        cache_write=first.cache_write,
        cache_write_1h=first.cache_write_1h,
        is_sum=first.is_sum,
        resent=ReportedUsage(
            context=sum(usage.context for usage in usages[1:]),
            cache_read=_sum_or_none(usage.cache_read for usage in usages[1:]),
            cache_write=_sum_or_none(usage.cache_write for usage in usages[1:]),
            cache_write_1h=sum(usage.cache_write_1h for usage in usages[1:]),
        ),
    )


def _sum_or_none(numbers: Iterable[int | None]) -> int | None:
    """Return the sum, or None if a number is unknown."""
    total = 0
    for number in numbers:
        if number is None:
            return None
        total += number
    return total


class NewestReport(Record, kw_only=False):
    """The newest usage in a conversation, with the id, line and time of its response."""

    usage: ReportedUsage
    response_id: str
    line: int
    time: float | None


def find_newest_report(messages: Sequence[Message]) -> NewestReport | None:
    """Return the newest reported usage, or None."""
    for message in reversed(messages):
        usage, name = message.usage, message.response_id
        if usage is not None and usage.context > 0 and name is not None:
            return NewestReport(usage, name, message.line, message.timestamp)
    return None


def without_reports(
    messages: Iterable[Message], is_before: Callable[[Message], bool]
) -> tuple[Message, ...]:
    """Remove usage reported before a client cleared content: it describes a larger context."""
    return tuple(
        replace(message, usage=None) if message.usage and is_before(message) else message
        for message in messages
    )
