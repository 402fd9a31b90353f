"""Where a value ends in a text, and values that only refer to a secret."""

import re

from compactctl.secrets.patterns import PLACEHOLDER

# How many characters of a text decide whether a value in it is a secret.
EXAMINED = 200
_QUOTE = re.compile(r"(?P<escapes>\\*)(?P<quote>[\"'`])|[\r\n]")
# Variables of shells, PHP and Perl, and templates; then what stands in place of a secret.
_REFERENCE = re.compile(
    r"(?:\$\{[^}]*\}[^\w$]*)+|\$[A-Z_][A-Z0-9_]*[^\w]*|\$\(.*|\$\{\{.*|\{\{.*|%\w+%|%\([^)]*\)s"
    r"|#\{[^}]*\}[^\w]*|\$\w*(?:pass|pw|secret|token|key|auth)\w*[^\w]*"
    r"|<[^>]*>|\[[A-Za-z][A-Za-z_ -]*\]|[\w-]{0,12}(?:\.{3,}|…|[*•]{3,}|[xX]{4,})",
    re.DOTALL,
)


def is_reference(value: str) -> bool:
    """Whether a value names where the secret is: ``$TOKEN``, ``<your token>``, or our own mask."""
    return value.startswith(PLACEHOLDER) or (
        len(value) < EXAMINED and _REFERENCE.fullmatch(value) is not None
    )


def end_of_quoted(text: str, start: int, opening: str) -> int:
    r"""Return where a quoted value ends: at its closing quote, else with its line.

    In JSON inside JSON, the number of backslashes tells a closing quote (``depth`` of them) from a
    quote within the value (``2 * depth + 1``):
        depth 0:  {"token": "a\"b"}
        depth 1:  "{\"token\": \"a\\\"b\"}"
    """
    depth, quote = len(opening) - 1, opening[-1]
    for match in _QUOTE.finditer(text, start):
        if match["quote"] is None:
            return match.start()
        escapes = len(match["escapes"])
        if match["quote"] == quote and escapes % (2 * depth + 2) == depth:
            return match.end() - len(opening)
        # A quote of an outer text: the value was cut off.
        if escapes < depth and match["quote"] == '"':
            return match.start()
    return len(text)
