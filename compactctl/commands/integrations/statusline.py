"""Shows how full a session is, and when its client will compact it, by the client's own figures."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compactctl.clients.records.json_values import object_or_empty, text_or_empty, text_or_none
from compactctl.clients.sizes import client_sizes
from compactctl.clients.status_line import WINDOWS, StatusFields, status_fields
from compactctl.commands.reading.hook_input import transcript_of
from compactctl.records import Record
from compactctl.tokens.budget import Budget
from compactctl.tokens.models.lookup import ModelInfo, resolve_model, window_in_use

_ASKED = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_MAX_NUMBER = 10**12
# A status line is refreshed several times a second, so larger transcripts are not read.
_MAX_BYTES = 32_000_000
_SOURCE = "reported by the client"


class StatusLineResult(Record):
    """A session at a glance; sizes in tokens, None if the client does not report them.

    ``compacts_at`` is the approximate size at which the client auto-compacts; ``compactions`` is
    how often it has, None if that cannot be found out quickly.
    """

    context: int | None
    window: int | None
    compacts_at: int | None
    compactions: int | None


def statusline(status_input: Mapping[str, Any]) -> StatusLineResult:
    """Summarize the input of a status line. Never fails."""
    tokens = object_or_empty(status_input.get("context_window"))
    fields = status_fields(tokens)
    context, recorded = _context(tokens, fields), _first(tokens, WINDOWS)
    model = resolve_model(text_or_none(object_or_empty(status_input.get("model")).get("id")))
    window = window_in_use(model, recorded, context or 0) if recorded else None
    client = client_sizes(fields.format).rule(text_or_empty(status_input.get("version")))
    budget = _budget(window, model) if window else None
    return StatusLineResult(
        context=context,
        window=window,
        compacts_at=client.threshold_tokens(budget) if client and budget else None,
        compactions=_compactions(transcript_of(status_input), fields.boundary),
    )


def _budget(window: int, model: ModelInfo) -> Budget:
    """Return the window and the model's maximum output, for which clients reserve space.

    Claude Code knows the latter of its own models only.
    """
    longest = model.max_output if model.family.startswith("Claude") else None
    return Budget(window=window, output_reserve=0, source=_SOURCE, max_output=longest)


def _context(tokens: Mapping[str, Any], fields: StatusFields) -> int | None:
    """Return the tokens of the newest request, without its answer, as the client counts."""
    usage = object_or_empty(tokens.get("current_usage"))
    parts = [part for part in (_count(usage.get(name)) for name in _ASKED) if part is not None]
    return _first(tokens, fields.contexts) or (sum(parts) if parts else None)


def _first(tokens: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    counts = (_count(tokens.get(name)) for name in names)
    return next((count for count in counts if count), None)


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        return None
    return int(min(value, _MAX_NUMBER))


def _compactions(transcript: str | None, boundary: bytes) -> int | None:
    """Return how often the client has compacted; None for a large transcript, or if unknown."""
    if transcript is None or not boundary:
        return None
    try:
        if os.path.getsize(transcript) > _MAX_BYTES:  # noqa: PTH202 - a name may hold anything
            return None
        return Path(transcript).read_bytes().count(boundary)
    except (OSError, ValueError):
        return None
