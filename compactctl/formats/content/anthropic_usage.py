"""What Anthropic's API reports about a request."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from compactctl.formats.records.json_values import integer_or_none, list_or_empty, object_or_empty
from compactctl.formats.records.usage import joined
from compactctl.model.message import ReportedUsage

# The three are disjoint; together they are everything that was sent.
_SENT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def reported_usage(response: Mapping[str, Any]) -> ReportedUsage | None:
    """Return the usage of a response, None when it has none.

    Without a stop reason the number of output tokens is one from early in the stream: no number.
    """
    usage = response.get("usage")
    if not isinstance(usage, Mapping) or not usage:
        return None
    whole = joined([_reported(one) for one in asked(usage)])
    if not response.get("stop_reason"):
        return replace(whole, output=None, growth=None)
    return replace(whole, output=integer_or_none(usage.get("output_tokens")))


def _reported(usage: Mapping[str, Any]) -> ReportedUsage:
    kept = object_or_empty(usage.get("cache_creation"))
    return ReportedUsage(
        context=_sent(usage),
        output=integer_or_none(usage.get("output_tokens")),
        cache_read=integer_or_none(usage.get("cache_read_input_tokens")),
        cache_write=integer_or_none(usage.get("cache_creation_input_tokens")),
        cache_hour=integer_or_none(kept.get("ephemeral_1h_input_tokens")) or 0,
        is_sum=True,
    )


def asked(usage: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the usage of each time that the model itself was asked for one answer, oldest first.

    What is reported for the whole answer adds them up.
    """
    each = map(object_or_empty, list_or_empty(usage.get("iterations")))
    found = [one for one in each if one.get("type") == "message"]
    return found if len(found) > 1 and sum(map(_sent, found)) == _sent(usage) else (usage,)


def _sent(usage: Mapping[str, Any]) -> int:
    return sum(n for n in map(usage.get, _SENT) if isinstance(n, int))
