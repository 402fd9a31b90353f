"""What is not known of the size of a request, in JSON documents: the same fields in each."""

from typing import Any

from compactctl.commands.inspect.stats import StatsResult
from compactctl.reports.rendering.json_document import encoded, record


def doubt_fields(result: StatsResult) -> dict[str, Any]:
    """Return in which range the next request lies, who sends more, and what is doubted."""
    size, health, unread = result.size, result.health, result.transcript.unread
    return {
        "unreadText": {
            "bytes": unread.n_bytes,
            "readBytes": unread.read,
            "fields": dict(unread.fields),
        }
        if result.unread
        else None,
        "estimatedInputRange": size.range,
        "doubtedUsage": size.doubt or None,
        "unreportedBy": size.unreported or None,
        "usualOverhead": encoded(size.usual),
        "healthCheck": None if health is None else {**record(health), "verdict": health.verdict},
    }
