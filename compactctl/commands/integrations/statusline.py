"""How full a session is, and when its client will compact it, from what the client tells."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compactctl.commands.reading.hook_input import transcript_of
from compactctl.formats.records.json_values import object_or_empty, text_or_empty, text_or_none
from compactctl.tokens.budget import Budget
from compactctl.tokens.client_thresholds import client_rule_for
from compactctl.tokens.models.lookup import resolve_model

# What Claude Code and Copilot CLI tell; the first that is there counts.
_CONTEXT = ("current_context_tokens",)
_ASKED = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_WINDOW = ("displayed_context_limit", "context_window_size")
_LARGEST = 10**12
# A status line is asked for several times a second: a larger transcript is not looked through.
_MOST = 32_000_000
_BOUNDARY = b'"subtype":"compact_boundary"'
_SOURCE = "told by the client"
_CLAUDE_CODE, _COPILOT_CLI = "claude-code", "copilot-cli"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusLineResult:
    """A session at a glance; sizes in tokens, None for what the client does not tell.

    ``compacts_at`` is about where the client compacts by itself; ``compactions`` is how often it
    has, None where that is not known at a glance.
    """

    context: int | None
    window: int | None
    compacts_at: int | None
    compactions: int | None


def statusline(told: Mapping[str, Any]) -> StatusLineResult:
    """Sum up what a client tells its status line. Nothing in it makes this fail."""
    tokens = object_or_empty(told.get("context_window"))
    window = _first(tokens, _WINDOW)
    name = _COPILOT_CLI if _CONTEXT[0] in tokens else _CLAUDE_CODE
    client = client_rule_for(name, text_or_empty(told.get("version")))
    budget = _budget(window, told) if window else None
    return StatusLineResult(
        context=_context(tokens),
        window=window,
        compacts_at=client.threshold_tokens(budget) if client and budget else None,
        compactions=_compactions(transcript_of(told)) if name == _CLAUDE_CODE else None,
    )


def _budget(window: int, told: Mapping[str, Any]) -> Budget:
    """Return the window with the model's longest answer, for which clients keep room.

    Claude Code knows that of its own models alone.
    """
    model = resolve_model(text_or_none(object_or_empty(told.get("model")).get("id")))
    longest = model.max_output if model.family.startswith("Claude") else None
    return Budget(window=window, output_reserve=0, source=_SOURCE, max_output=longest)


def _context(tokens: Mapping[str, Any]) -> int | None:
    """Return the tokens of the newest request, without its answer as the client has it."""
    asked = object_or_empty(tokens.get("current_usage"))
    parts = [part for part in (_count(asked.get(name)) for name in _ASKED) if part is not None]
    return _first(tokens, _CONTEXT) or (sum(parts) if parts else None)


def _first(tokens: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    found = (_count(tokens.get(name)) for name in names)
    return next((count for count in found if count), None)


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        return None
    return int(min(value, _LARGEST))


def _compactions(transcript: str | None) -> int | None:
    """Return how often the client has compacted; None for a transcript too large for a glance."""
    if transcript is None:
        return None
    try:
        if os.path.getsize(transcript) > _MOST:  # noqa: PTH202 - a name may hold anything
            return None
        return Path(transcript).read_bytes().count(_BOUNDARY)
    except (OSError, ValueError):
        return None
