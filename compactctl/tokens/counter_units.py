"""How many tokens of one counter equal one of another, on the text of agent transcripts."""

from collections.abc import Mapping
from types import MappingProxyType

from compactctl.tokens.counters.counter import TokenCounter
from compactctl.tokens.counters.estimates import (
    BytesCounter,
    CharsCounter,
    NeuroLinkCounter,
    RatioCounter,
)
from compactctl.tokens.models.lookup import ModelInfo
from compactctl.tokens.models.table import CLAUDE, CLAUDE_OLD

# Messages, calls and results of real transcripts have 3.75 characters, or 3.79 bytes, per token of
# o200k_base (4.2 million tokens of eight clients), so this is the length of 100,000 tokens.
_SAMPLE_CHARS = 375_000
_SAMPLE_TOKENS = 100_000

_UNITS: Mapping[str, float] = MappingProxyType(
    {
        "o200k_base": 1.0,
        "cl100k_base": 1.0,
        CLAUDE_OLD.reconstruction: CLAUDE_OLD.factor,
        CLAUDE.reconstruction: CLAUDE.factor,
    }
)


def tokens_per_o200k(counter: TokenCounter, model: ModelInfo) -> float:
    """Return how many of the counter's tokens equal one token of o200k_base.

    An unknown vocabulary, such as a file of the user's, is assumed to be the model's.
    """
    if isinstance(counter, RatioCounter):
        return tokens_per_o200k(counter.base, model) * counter.factor
    if isinstance(counter, CharsCounter | BytesCounter | NeuroLinkCounter):
        return counter.count_many(["x" * _SAMPLE_CHARS])[0] / _SAMPLE_TOKENS
    return _UNITS.get(counter.id, model.factor)
