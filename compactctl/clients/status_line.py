"""What clients write to the command of a status line, as data."""

from collections.abc import Mapping
from typing import Any

from compactctl.records import Record


class StatusFields(Record):
    """The fields of one client.

    Attributes:
        format: the format of its transcripts.
        contexts: name the tokens of the newest request; () if only its usage is written.
        boundary: the bytes of a compaction in its transcripts; b"" if there are none such.
    """

    format: str
    contexts: tuple[str, ...] = ()
    boundary: bytes = b""


_COPILOT_CLI = StatusFields(format="copilot-cli", contexts=("current_context_tokens",))
_CLAUDE_CODE = StatusFields(format="claude-code", boundary=b'"subtype":"compact_boundary"')
WINDOWS = ("displayed_context_limit", "context_window_size")
"""The names of the context window, whichever client writes it; the first present one counts."""


def status_fields(context_window: Mapping[str, Any]) -> StatusFields:
    """Return the fields of the client that wrote a context window."""
    is_copilot = any(name in context_window for name in _COPILOT_CLI.contexts)
    return _COPILOT_CLI if is_copilot else _CLAUDE_CODE
