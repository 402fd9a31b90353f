"""Estimates from a text's length alone: they need no vocabulary."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType

from compactctl.tokens.counters.counter import Exactness, TokenCounter


class CharsCounter:
    """One token per so many characters (code points), rounded up."""

    exactness: Exactness = "estimate"

    def __init__(self, chars_per_token: float = 4) -> None:
        self.id = f"chars/{chars_per_token:g}"
        self._per_token = Fraction(repr(chars_per_token))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Estimate each text; an empty text has no tokens."""
        return [math.ceil(len(text) / self._per_token) for text in texts]


class BytesCounter:
    """One token per so many UTF-8 bytes, rounded half up, as agent-code estimates with 4."""

    exactness: Exactness = "estimate"

    def __init__(self, bytes_per_token: float = 4) -> None:
        self.id = f"bytes/{bytes_per_token:g}"
        self._per_token = Fraction(repr(bytes_per_token))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Estimate each text; a text of one byte has no tokens."""
        sizes = (len(text.encode("utf-8", "surrogatepass")) for text in texts)
        return [math.floor(size / self._per_token + Fraction(1, 2)) for size in sizes]


# NeuroLink, "Token Estimation": constants and provider multipliers. A provider that is not
# listed counts as 1.0.
NEUROLINK_CHARS_PER_TOKEN = 4
NEUROLINK_SAFETY_MARGIN = 1.15
NEUROLINK_TOKENS_PER_MESSAGE = 4
NEUROLINK_TOKENS_PER_CONVERSATION = 24
NEUROLINK_MULTIPLIERS: Mapping[str, float] = MappingProxyType(
    {
        "anthropic": 1.23,
        "google-ai": 1.18,
        "vertex": 1.18,
        "mistral": 1.26,
        "openai": 1.0,
        "azure": 1.0,
        "bedrock": 1.23,
        "ollama": 1.0,
        "litellm": 1.0,
        "huggingface": 1.0,
        "sagemaker": 1.0,
    }
)


class NeuroLinkCounter:
    """NeuroLink's estimate: UTF-16 units / 4, times provider multiplier and safety margin.

    Both divisions of the original round up, and its products are IEEE doubles from left to right.
    """

    exactness: Exactness = "estimate"

    def __init__(self, provider: str = "") -> None:
        self.id = f"neurolink/{provider}" if provider else "neurolink"
        self._multiplier = NEUROLINK_MULTIPLIERS.get(provider, 1.0)

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Estimate each text without the framing of a message; an empty text has no tokens."""
        units = (len(text.encode("utf-16-le", "surrogatepass")) // 2 for text in texts)
        return [self._estimate(size) for size in units]

    def conversation(self, contents: Sequence[str]) -> int:
        """Estimate a list of messages by their contents, framing included."""
        return sum(self.count_many(contents)) + self.framing(len(contents))

    def definitions(self, texts: Sequence[str]) -> list[int]:
        """Estimate definitions of tools, which NeuroLink takes without multiplier and margin."""
        return CharsCounter(NEUROLINK_CHARS_PER_TOKEN).count_many(texts)

    def framing(self, messages: int) -> int:
        """Return the tokens of the framing of that many messages, of the conversation included."""
        if not messages:
            return 0
        return NEUROLINK_TOKENS_PER_MESSAGE * messages + NEUROLINK_TOKENS_PER_CONVERSATION

    def _estimate(self, units: int) -> int:
        base = math.ceil(units / NEUROLINK_CHARS_PER_TOKEN)
        return math.ceil(base * self._multiplier * NEUROLINK_SAFETY_MARGIN)


class RatioCounter:
    """Multiplies another counter's counts by a factor measured for a family of models.

    Each count is rounded up; ``family`` names whom the factor was measured for.
    """

    exactness: Exactness = "estimate"

    def __init__(self, base: TokenCounter, factor: float, family: str) -> None:
        self.base = base
        self.factor = factor
        self.family = family
        self.id = f"{base.id} x{factor:g}"
        # The decimal the factor is written as: in binary 10 x 1.1 would round up to 12.
        self._exact_factor = Fraction(repr(factor))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Estimate each text; an empty text has no tokens."""
        top, bottom = self._exact_factor.as_integer_ratio()
        return [-(-count * top // bottom) for count in self.base.count_many(texts)]
