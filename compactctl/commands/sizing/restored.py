"""What clients put into the context again after their own compaction, beside what they record.

They read files anew, list tasks and tools, and state the environment. The figures are what the
provider reported for the first request after a compaction, without the overhead of the session's
first request and without what the transcript holds: of 16 compactions of Claude Code 2.0.76 to
2.1.49 in 13 sessions, median 10,035, fifteen between -824 and 18,222, one of 34,492; of 9 of Codex
0.140 to 0.142 in 5 sessions, median 2,174, all between 487 and 3,914.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """How many tokens a client restores: usually, and between what in nine of ten cases."""

    usual: int
    least: int
    most: int


NOTHING_RESTORED = Restored(usual=0, least=0, most=0)
_BY_FORMAT: Mapping[str, Restored] = MappingProxyType(
    {
        "claude-code": Restored(usual=10_000, least=0, most=20_000),
        "codex": Restored(usual=2_000, least=0, most=4_000),
    }
)


def restored_by(format_name: str) -> Restored:
    """Return what the client of a format restores; nothing where it is not known to."""
    return _BY_FORMAT.get(format_name, NOTHING_RESTORED)
