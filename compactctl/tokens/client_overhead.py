"""What clients send beside a conversation, as far as it is known: overhead and restored files."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class UsualTokens:
    """How many tokens a client sends beside: usually, and between what in nine of ten cases."""

    usual: int
    least: int
    most: int


NOTHING = UsualTokens(usual=0, least=0, most=0)
# Where a client writes down which files it restored, as Claude Code did in three compactions of
# 2.1.217 to 2.1.232: -78, 163 and 3,067 tokens beside them.
WRITTEN = UsualTokens(usual=0, least=-1_000, most=4_000)
RESTORED: Mapping[str, UsualTokens] = MappingProxyType(
    {
        "claude-code": UsualTokens(usual=10_000, least=0, most=19_000),
        "codex": UsualTokens(usual=2_000, least=0, most=4_000),
    }
)
OVERHEAD: Mapping[str, UsualTokens] = MappingProxyType(
    {
        "claude-code": UsualTokens(usual=35_500, least=17_800, most=43_100),
        "codex": UsualTokens(usual=6_600, least=4_000, most=19_300),
        "opencode": UsualTokens(usual=6_200, least=6_100, most=9_300),
    }
)


def restored_by(format_name: str) -> UsualTokens:
    """Return what the client of a format restores; nothing where it is not known to."""
    return RESTORED.get(format_name, NOTHING)


def overhead_of(format_name: str) -> UsualTokens | None:
    """Return the overhead of the client of a format; None where it is not known."""
    return OVERHEAD.get(format_name)


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
