"""See where an LLM agent's context went, compact its transcript, get every byte back.

What programs call is imported when it is used, so that importing the package costs nothing; its
types are in the stub beside this file.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HARNESS = "compactctl.library.harness"
_TRANSCRIPTS = "compactctl.library.transcripts"
_HOLDERS = {
    "CompactctlError": "compactctl.errors",
    "Compactor": "compactctl.library.compactor",
    "compact": _TRANSCRIPTS,
    "compact_batch": "compactctl.library.tables",
    "compact_messages": "compactctl.library.messages",
    "context_overflow": _HARNESS,
    "limit_output": _HARNESS,
    "list_sessions": _TRANSCRIPTS,
    "load": _TRANSCRIPTS,
    "rewind": _TRANSCRIPTS,
    "stats": _TRANSCRIPTS,
}
__all__ = list(_HOLDERS)


def __getattr__(name: str) -> Any:  # noqa: ANN401 - each name has its own type, in the stub
    if name not in _HOLDERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOLDERS[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_HOLDERS]
