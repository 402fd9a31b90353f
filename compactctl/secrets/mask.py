"""Mask secrets in a text before it goes to another program."""

import re
from functools import cache, partial

from compactctl.secrets.command_lines import mask_command_lines
from compactctl.secrets.named_values import mask_named_values
from compactctl.secrets.patterns import PATTERNS, mask_match
from compactctl.secrets.tokens import mask_tokens

# Compiled when first needed: an error's one line needs few of them, and all take some 8 ms.
_compiled = cache(re.compile)
_WORD = re.compile(r"[A-Za-z0-9][\w.~-]*")


def mask_secrets(text: str) -> str:
    """Replace keys, tokens and passwords in ``text`` by ``[REDACTED:<kind>]``.

    Masks private keys, tokens of known form, passwords in URLs and on command lines, and values of
    names such as ``password`` or ``api_key``. It cannot find every secret. Takes time linear in the
    length of ``text``.
    """
    words = _find_words(text)
    for kind, pieces, pattern in PATTERNS:
        if any(map(text.__contains__, pieces)):
            text = _compiled(pattern).sub(partial(mask_match, kind), text)
    text = mask_tokens(text, words)
    return mask_named_values(mask_command_lines(text, words))


def _find_words(text: str) -> set[str]:
    """Return the words of a text: most of them tell at once which secrets it cannot hold."""
    for escaped_blank in ("\\n", "\\t"):
        text = text.replace(escaped_blank, " ")
    return set(_WORD.findall(text))
