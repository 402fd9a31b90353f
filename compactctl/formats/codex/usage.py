"""Which request of a Codex session each token count belongs to."""

from collections.abc import Mapping
from typing import Any

from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.json_values import integer_or_none, object_or_empty
from compactctl.model.counts import CountFields
from compactctl.model.message import ReportedUsage

COUNTS = CountFields(
    path=("payload", "info", "last_token_usage"),
    sent=("input_tokens",),
    cached=(("cached_input_tokens",),),
    answer=("output_tokens",),
    total=("total_tokens",),
)
"""What Codex compacts by: the total of the newest count in the file."""


class TokenCounts:
    """Takes in token counts; the same numbers come again and count once.

    ``line`` is that of the newest, None before one that can be edited.
    """

    def __init__(self) -> None:
        self.window: int | None = None
        self.line: int | None = None
        self._total: object = None

    def take(self, payload: Mapping[str, Any], decoded: Decoded) -> ReportedUsage | None:
        """Return the usage of a request that was not counted before, else None.

        After a compaction the client reports an estimate with no input: that is not a request.
        """
        info = object_or_empty(payload.get("info"))
        window = info.get("model_context_window")
        if isinstance(window, int) and window > 0:
            self.window = window
        if isinstance(info.get("last_token_usage"), Mapping):
            self.line = decoded.index if decoded.damage is None else None
        total = info.get("total_token_usage")
        if total is None or total == self._total:
            return None
        self._total = total
        last = object_or_empty(info.get("last_token_usage"))
        context, output = integer_or_none(last.get("input_tokens")) or 0, last.get("output_tokens")
        if context <= 0 and (not last or integer_or_none(last.get("total_tokens"))):
            return None
        reasoning = integer_or_none(last.get("reasoning_output_tokens")) or 0
        return ReportedUsage(
            context=context,
            output=integer_or_none(output),
            reasoning=max(0, reasoning),
            cache_read=integer_or_none(last.get("cached_input_tokens")),
        )
