"""Mask secrets in a text before it goes to another program."""

import re
from functools import cache, partial

from compactctl.secrets.command_lines import mask_command_lines
from compactctl.secrets.named_values import mask_named_values
from compactctl.secrets.patterns import PATTERNS, PLACEHOLDER

# Compiled when first needed: an error's one line needs few of them, and all take some 8 ms.
_compiled = cache(re.compile)


def mask_secrets(text: str) -> str:
    """Replace keys, tokens and passwords in ``text`` by ``[REDACTED:<kind>]``.

    Masks private keys, tokens of known form, passwords in URLs and on command lines, and values of
    names such as ``password`` or ``api_key``. It cannot find every secret. Takes time linear in the
    length of ``text``.
    """
    for kind, pieces, pattern in PATTERNS:
        if any(piece in text for piece in pieces):
            text = _compiled(pattern).sub(partial(_mask_match, kind), text)
    return mask_named_values(mask_command_lines(text))


def _mask_match(kind: str, match: re.Match[str]) -> str:
    whole, group = match[0], match.re.groups
    start, end = match.start(group) - match.start(), match.end(group) - match.start()
    return f"{whole[:start]}{PLACEHOLDER}{kind}]{whole[end:]}"
