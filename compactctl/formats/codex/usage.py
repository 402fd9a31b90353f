"""Which request of a Codex session each token count belongs to."""

from collections.abc import Mapping
from typing import Any

from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.json_values import integer_or_none, object_or_empty
from compactctl.model.message import ReportedUsage
from compactctl.model.usage_fields import UsageFields

USAGE_FIELDS = UsageFields(
    path=("payload", "info", "last_token_usage"),
    input=("input_tokens",),
    cached_inputs=(("cached_input_tokens",),),
    output=("output_tokens",),
    total=("total_tokens",),
)
"""What Codex compacts by: the total of the newest count in the file."""


class TokenCountReader:
    """Takes in token counts; the same numbers come again and count once.

    ``line`` is that of the newest, None where that cannot be edited or tells of no tokens. Sums
    over the session that never grow are not sums: a server that reports nothing, or the same of
    each request, sends them.
    """

    def __init__(self) -> None:
        self.window: int | None = None
        self.line: int | None = None
        self._total: object = None
        self._grows = False

    def new_usage(
        self, payload: Mapping[str, Any], decoded: Decoded, *, is_due: bool
    ) -> ReportedUsage | None:
        """Return the usage of a request that was not counted before, else None.

        ``is_due`` tells that the model answered and no usage of that came yet. After a compaction
        the client reports an estimate, a total without input and output: that is not a request.
        """
        info = object_or_empty(payload.get("info"))
        window = info.get("model_context_window")
        if isinstance(window, int) and window > 0:
            self.window = window
        last = object_or_empty(info.get("last_token_usage"))
        if last:
            is_told = last.get("total_tokens") or last.get("input_tokens")
            self.line = decoded.index if is_told and decoded.damage is None else None
        total = info.get("total_token_usage")
        if total is None or (total == self._total and (self._grows or not is_due)):
            return None
        self._grows = self._total is not None and total != self._total
        self._total = total
        context, output = integer_or_none(last.get("input_tokens")) or 0, last.get("output_tokens")
        is_estimate = not context and not output and integer_or_none(last.get("total_tokens"))
        if not last or is_estimate:
            return None
        reasoning = integer_or_none(last.get("reasoning_output_tokens")) or 0
        return ReportedUsage(
            context=context,
            output=integer_or_none(output),
            reasoning=max(0, reasoning),
            cache_read=integer_or_none(last.get("cached_input_tokens")),
        )
