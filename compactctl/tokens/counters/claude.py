"""Counts of Claude's tokens as the optional package ctok reconstructs them."""

import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType

from compactctl.errors import UsageError
from compactctl.extras import install_command
from compactctl.tokens.counters.claude_engine import Engine
from compactctl.tokens.counters.claude_pieces import WordTiles, are_separable
from compactctl.tokens.counters.claude_segments import SegmentCounter
from compactctl.tokens.counters.counter import Exactness

# Which version of Claude stands for a vocabulary: the third generation's, which was in use up to
# 4.6, and its successor.
VERSIONS: Mapping[str, str] = MappingProxyType({"claude-3": "3.0", "claude-4.7": "4.7"})

# That of ctok.
_OLDEST_PYTHON = (3, 12)

# Texts whose count depends on how words, contractions, spaces and digits meet. Where a later
# ctok counts them differently than segments add up, its own engine counts everything.
_PROBES = (
    "it's DON'T we'll o'clock x'y 's",
    "  Foo fooBar FOO_BAR HTTPServer ABC a A AB ",
    " (a) [b]! c , d\n\n\te 'f' \"g\"\n",
    "x=12345; 2026-11-21T09:30:00Z 7 8\n1",
    "é ÉCOLE → 日本 语 «ёж» a\u0301b ½ x\n\n",
)


class ClaudeCounter:
    """Counts what a text adds to a message, without the frame of the message.

    ``ctok`` reproduces the counts that Anthropic's API gave for thousands of texts, but not its
    tokens; a text is counted as the only one of a message. ``claude-3`` is right for Claude 3 to
    4.6, ``claude-4.7`` for later ones. Counting raises ImportError without ``ctok``.
    """

    exactness: Exactness = "reconstructed"
    engine = "ctok"

    def __init__(self, name: str) -> None:
        self.id = name

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Count each text; an empty one has no tokens."""
        return [load_reconstruction(self.id)(text) if text else 0 for text in texts]


def claude_is_installed() -> bool:
    """Tell whether the optional package is there, without loading it."""
    return importlib.util.find_spec("ctok") is not None


def claude_counter(name: str) -> ClaudeCounter:
    """Return a counter by its name in ``VERSIONS``. Raises UsageError without ctok."""
    if not claude_is_installed():
        raise UsageError(f"the counter {name} needs the package ctok; {_way_to_get_it()}")
    return ClaudeCounter(name)


def _way_to_get_it() -> str:
    if sys.version_info < _OLDEST_PYTHON:
        oldest, this = (".".join(map(str, each[:2])) for each in (_OLDEST_PYTHON, sys.version_info))
        return f"that needs Python {oldest} or later, and compactctl runs on {this} here"
    return f"type: {install_command('ctok>=1.3')}"


@cache
def load_reconstruction(name: str) -> Callable[[str], int]:
    """Return the function that counts a text, once in a process: about a second and 100 MB."""
    engine = Engine(VERSIONS[name])
    pieces = engine.pieces()
    if not are_separable(pieces):
        return engine.count
    fast = SegmentCounter(engine, WordTiles(pieces, engine.capitals_from())).count
    agrees = all(fast(probe) == engine.count(probe) for probe in _PROBES)
    return fast if agrees else engine.count
