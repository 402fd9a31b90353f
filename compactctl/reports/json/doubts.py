"""What is not known of the size of a request, in JSON documents: the same fields in each."""

from typing import Any

from compactctl.commands.sizing.context_size import ContextSize
from compactctl.history.usage.health import Health
from compactctl.reports.rendering.json_document import fields_of


def doubt_fields(size: ContextSize, health: Health | None) -> dict[str, Any]:
    """Return in which range the next request lies, who sends more, and what is doubted."""
    return {
        "estimatedInputRange": size.range,
        "doubtedUsage": size.doubt or None,
        "unreportedBy": size.unreported or None,
        "usualOverhead": None if size.usual is None else fields_of(size.usual),
        "healthCheck": None if health is None else fields_of(health) | {"verdict": health.verdict},
    }
