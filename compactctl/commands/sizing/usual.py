"""What clients usually send beside what they record, where the provider reported nothing of it.

After their own compaction clients read files anew, list tasks and tools, and state the environment.
The figures are what the provider reported for the first request after a compaction, without the
overhead of the session's first request and without what the transcript holds: of 16 compactions of
Claude Code 2.0.76 to 2.1.49 in 13 sessions, median 10,035, fifteen between -824 and 18,222, one of
34,492; of 9 of Codex 0.140 to 0.142 in 5 sessions, median 2,174, all between 487 and 3,914.

Before every request go their system prompt and tool definitions. The figures are what was reported
for a session's first request without what the transcript holds of it: of 21 sessions of Claude Code
1.0.98 to 2.1.217 median 41,970, 19 of them between 19,256 and 68,202, and of 20 sessions of six
other projects median 31,801, 19 of them between the same; of 11 of Codex 0.58 to 0.142 median
5,673, all between 5,230 and 9,969, and of two of another project 6,886 and 16,378; of 9 of OpenCode
1.2 median 6,147, all between 6,141 and 9,203, and of two others 6,147 and 9,203.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class Usual:
    """How many tokens a client sends beside: usually, and between what in nine of ten cases."""

    usual: int
    least: int
    most: int


NOTHING = Usual(usual=0, least=0, most=0)
_RESTORED: Mapping[str, Usual] = MappingProxyType(
    {
        "claude-code": Usual(usual=10_000, least=0, most=20_000),
        "codex": Usual(usual=2_000, least=0, most=4_000),
    }
)
_OVERHEAD: Mapping[str, Usual] = MappingProxyType(
    {
        "claude-code": Usual(usual=42_000, least=19_000, most=68_000),
        "codex": Usual(usual=5_700, least=5_000, most=10_000),
        "opencode": Usual(usual=6_100, least=6_000, most=9_000),
    }
)


def restored_by(format_name: str) -> Usual:
    """Return what the client of a format restores; nothing where it is not known to."""
    return _RESTORED.get(format_name, NOTHING)


def overhead_of(format_name: str) -> Usual | None:
    """Return the overhead of the client of a format; None where it is not known."""
    return _OVERHEAD.get(format_name)


# Of tools of one's own, beside what a client sends in nine of ten sessions: the set that Anthropic
# shows in "Introducing advanced tool use on the Claude Developer Platform" (2025-11).
_OWN_TOOLS = 72_000


def missing_history(format_name: str, overhead: int, first: int | None) -> int:
    """Return what of an overhead is history that is not in the file, in tokens.

    ``first`` is the overhead of the session's first request, None where that is not known. Where
    the usual overhead of a client is not known nothing is told of it.
    """
    known = overhead_of(format_name)
    if known is None or overhead <= (most := known.most + _OWN_TOOLS):
        return 0
    return overhead - (known.usual if first is None or first > most else first)
