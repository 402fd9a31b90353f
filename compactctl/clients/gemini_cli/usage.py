"""Token counts in sessions of Gemini CLI."""

from collections.abc import Mapping
from typing import Any

from compactctl.clients.records.json_values import count_or_none, object_or_empty
from compactctl.model.message import ReportedUsage
from compactctl.model.usage_fields import UsageFields, with_reported_usage

COUNTS = UsageFields(
    path=("tokens",),
    input=("input",),
    cached_inputs=(("cached",),),
    output=("output",),
    others=(("thoughts",), ("tool",)),
    total=("total",),
)
"""What lists of sessions show; the client itself counts a session anew when it resumes it."""


def usage_of(record: Mapping[str, Any]) -> ReportedUsage | None:
    """Return the usage of an answer's request; its input tokens include cache reads."""
    tokens = object_or_empty(with_reported_usage(record, COUNTS).get("tokens"))
    if not tokens:
        return None
    context = count_or_none(tokens.get("input")) or 0
    visible, reasoning = (count_or_none(tokens.get(name)) for name in ("output", "thoughts"))
    output = None if visible is None else visible + (reasoning or 0)
    return ReportedUsage(
        context=context,
        output=output,
        reasoning=reasoning or 0,
        cache_read=count_or_none(tokens.get("cached")),
        is_final=True,
    )
