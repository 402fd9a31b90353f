"""Prose cut into sentences."""

import re

_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\[\"'(])|(?<=[!?])\s+|\n+")
_BULLET = re.compile(r"\s*(?:(?:[-*>#|+]+|\d{1,2}[.)])\s+)*")


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of a text, without bullets and heading marks."""
    bare = (_BULLET.sub("", part, count=1).rstrip(" \t\r|") for part in _END.split(text))
    return [sentence for sentence in bare if sentence]
