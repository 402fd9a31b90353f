"""What clients send beside a conversation, as measured: their overhead, and files they restore."""

from collections.abc import Mapping
from types import MappingProxyType

from compactctl.records import Record


class UsualTokens(Record):
    """How many tokens a client usually sends, and the range of nine in ten cases."""

    usual: int
    least: int
    most: int


NOTHING = UsualTokens(usual=0, least=0, most=0)
# Beside restored files that the client records, as Claude Code did in three compactions of 2.1.217
# to 2.1.232: -78, 163 and 3,067 tokens.
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
    """Return what a format's client restores after a compaction; nothing if it is unknown."""
    return RESTORED.get(format_name, NOTHING)


def overhead_of(format_name: str) -> UsualTokens | None:
    """Return the overhead of a format's client: system prompt and tools; None if unknown."""
    return OVERHEAD.get(format_name)


# Tools that a user may add to what a client sends in nine of ten sessions: the set that Anthropic
# shows in "Introducing advanced tool use on the Claude Developer Platform" (2025-11).
_MAX_USER_TOOLS = 72_000


def missing_history(format_name: str, overhead: int, first: int | None) -> int:
    """Estimate how many tokens of an overhead are history that is missing in the file.

    An overhead is plausible up to that of the client with a large set of tools; beyond it, all but
    that of the session's first request is missing history. ``first`` is the latter, None if
    unknown. Returns 0 for a client whose usual overhead is unknown.
    """
    client = overhead_of(format_name)
    if client is None:
        return 0
    plausible = client.most + _MAX_USER_TOOLS
    if overhead <= plausible:
        return 0
    return overhead - (client.usual if first is None or first > plausible else first)
