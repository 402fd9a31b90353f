"""What Anthropic's API reports about a request."""

from collections.abc import Mapping
from typing import Any

from compactctl.formats.records.json_values import integer_or_none, object_or_empty
from compactctl.model.message import ReportedUsage

# The three are disjoint; together they are everything that was sent.
_SENT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def reported_usage(response: Mapping[str, Any]) -> ReportedUsage | None:
    """Return the usage of a response, None when it has none.

    Without a stop reason the number of output tokens is one from early in the stream: no number.
    """
    usage = response.get("usage")
    if not isinstance(usage, Mapping):
        return None
    context = sum(n for n in map(usage.get, _SENT) if isinstance(n, int))
    output = usage.get("output_tokens") if response.get("stop_reason") else None
    kept = object_or_empty(usage.get("cache_creation"))
    return ReportedUsage(
        context=context,
        output=integer_or_none(output),
        cache_read=integer_or_none(usage.get("cache_read_input_tokens")),
        cache_write=integer_or_none(usage.get("cache_creation_input_tokens")),
        cache_hour=integer_or_none(kept.get("ephemeral_1h_input_tokens")) or 0,
    )
