from compactctl.errors import CompactctlError
from compactctl.library.compactor import Compactor
from compactctl.library.harness import context_overflow, limit_output
from compactctl.library.messages import compact_messages
from compactctl.library.tables import compact_batch
from compactctl.library.transcripts import compact, list_sessions, load, rewind, stats

__version__: str
__all__ = [
    "CompactctlError",
    "Compactor",
    "compact",
    "compact_batch",
    "compact_messages",
    "context_overflow",
    "limit_output",
    "list_sessions",
    "load",
    "rewind",
    "stats",
]
