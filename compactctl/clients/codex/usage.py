"""Token counts of Codex sessions: which of them report a new request."""

from collections.abc import Mapping
from typing import Any

from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.json_values import count_or_none, object_or_empty
from compactctl.model.message import ReportedUsage
from compactctl.model.usage_fields import UsageFields

USAGE_FIELDS = UsageFields(
    path=("payload", "info", "last_token_usage"),
    input=("input_tokens",),
    cached_inputs=(("cached_input_tokens",),),
    output=("output_tokens",),
    total=("total_tokens",),
    is_of_session=True,
)
"""Codex auto-compacts by the total of the newest count in the file."""


class TokenCountReader:
    """Reads token counts, of which repeated ones count once.

    A session total that never grows is not a sum: some servers report nothing, or the same numbers
    for each request. Then every count that is due is a new one.

    Attributes:
        window: the newest recorded context window.
        line: the line of the newest count, or None if it cannot be edited or is empty.
    """

    def __init__(self) -> None:
        self.window: int | None = None
        self.line: int | None = None
        self._total: object = None
        self._grows = False

    def new_usage(
        self, payload: Mapping[str, Any], decoded: Decoded, *, is_due: bool
    ) -> ReportedUsage | None:
        """Return the usage of a request, or None for a repeated count or an estimate.

        After a compaction, the client records an estimate: a total without input and output.

        Args:
            payload: the ``token_count`` event.
            decoded: its line.
            is_due: whether the model answered and no usage was reported for that yet.
        """
        info = object_or_empty(payload.get("info"))
        self.window = count_or_none(info.get("model_context_window")) or self.window
        last = object_or_empty(info.get("last_token_usage"))
        if last:
            has_tokens = last.get("total_tokens") or last.get("input_tokens")
            self.line = decoded.index if has_tokens and decoded.damage is None else None
        total = info.get("total_token_usage")
        if total is None or (total == self._total and (self._grows or not is_due)):
            return None
        self._grows = self._total is not None and total != self._total
        self._total = total
        context = count_or_none(last.get("input_tokens")) or 0
        output = count_or_none(last.get("output_tokens"))
        is_estimate = not context and not output and count_or_none(last.get("total_tokens"))
        if not last or is_estimate:
            return None
        reasoning = count_or_none(last.get("reasoning_output_tokens")) or 0
        return ReportedUsage(
            context=context,
            output=output,
            reasoning=reasoning,
            cache_read=count_or_none(last.get("cached_input_tokens")),
        )
