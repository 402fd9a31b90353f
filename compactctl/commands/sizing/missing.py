"""How much of what a file does not hold can be system prompt and tool definitions."""

from compactctl.commands.sizing.usual import overhead_of

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
