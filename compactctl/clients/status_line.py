"""What clients write to the command of a status line, as data."""

from collections.abc import Mapping
from typing import Any

from compactctl.records import Record


class StatusFields(Record):
    """The fields of one client.

    Attributes:
        format: the format of its transcripts.
        context: names the tokens of the newest request; "" if only its usage is written.
        windows: names the context window; the first present one counts.
        boundary: the bytes of a compaction in its transcripts; b"" if there are none such.
    """

    format: str
    context: str = ""
    windows: tuple[str, ...]
    boundary: bytes = b""


_COPILOT_CLI = StatusFields(
    format="copilot-cli",
    context="current_context_tokens",
    windows=("displayed_context_limit", "context_window_size"),
)
_CLAUDE_CODE = StatusFields(
    format="claude-code",
    windows=("context_window_size",),
    boundary=b'"subtype":"compact_boundary"',
)


def status_fields(context_window: Mapping[str, Any]) -> StatusFields:
    """Return the fields of the client that wrote a context window."""
    return _COPILOT_CLI if _COPILOT_CLI.context in context_window else _CLAUDE_CODE
