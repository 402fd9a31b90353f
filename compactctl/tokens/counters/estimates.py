"""Token counters that estimate by length, or by the counts of another counter."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType

from compactctl.tokens.counters.counter import Exactness, TokenCounter


class CharsCounter:
    """Estimates one token per so many characters (code points), rounded up."""

    exactness: Exactness = "estimate"

    def __init__(self, chars_per_token: float = 4) -> None:
        self.id = f"chars/{chars_per_token:g}"
        self._per_token = Fraction(repr(chars_per_token))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Estimate each text; an empty text has no tokens."""
        return [math.ceil(len(text) / self._per_token) for text in texts]


class BytesCounter:
    """Estimates one token per so many UTF-8 bytes, rounded half up; agent-code does so with 4."""

    exactness: Exactness = "estimate"

    def __init__(self, bytes_per_token: float = 4) -> None:
        self.id = f"bytes/{bytes_per_token:g}"
        self._per_token = Fraction(repr(bytes_per_token))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Estimate each text; a text of one byte has no tokens."""
        sizes = (len(text.encode("utf-8", "surrogatepass")) for text in texts)
        return [math.floor(size / self._per_token + Fraction(1, 2)) for size in sizes]


# NeuroLink, "Token Estimation": constants and provider multipliers, 1.0 for all other providers.
NEUROLINK_CHARS_PER_TOKEN = 4
NEUROLINK_SAFETY_MARGIN = 1.15
# In its code: TOKEN_SAFETY_MARGIN_ADDITIVE.
NEUROLINK_ADDED_MARGIN = 0.05
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

    As in the original, both steps round up, and the product is computed in doubles from left to
    right.
    """

    exactness: Exactness = "estimate"

    def __init__(self, provider: str = "") -> None:
        self.id = f"neurolink/{provider}" if provider else "neurolink"
        self._multiplier = NEUROLINK_MULTIPLIERS.get(provider, 1.0)

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Estimate each text without the overhead of a message; an empty text has no tokens."""
        units = (len(text.encode("utf-16-le", "surrogatepass")) // 2 for text in texts)
        return [self._estimate(size) for size in units]

    def conversation(self, contents: Sequence[str]) -> int:
        """Estimate a list of messages by their contents, overhead included."""
        return sum(self.count_many(contents)) + self.framing(len(contents))

    def definitions(self, texts: Sequence[str]) -> list[int]:
        """Estimate tool definitions, for which NeuroLink uses neither multiplier nor margin."""
        return CharsCounter(NEUROLINK_CHARS_PER_TOKEN).count_many(texts)

    def framing(self, messages: int) -> int:
        """Return the overhead of a conversation with that many messages, in tokens."""
        if not messages:
            return 0
        return NEUROLINK_TOKENS_PER_MESSAGE * messages + NEUROLINK_TOKENS_PER_CONVERSATION

    def _estimate(self, units: int) -> int:
        base = math.ceil(units / NEUROLINK_CHARS_PER_TOKEN)
        return math.ceil(base * self._multiplier * NEUROLINK_SAFETY_MARGIN)


class NeuroLinkCodeCounter(NeuroLinkCounter):
    """NeuroLink's estimate as in its code since 2026-03, which adds the safety margin.

    Of a message it counts the content alone, so that the arguments of calls count nothing. Tool
    definitions are estimated like any text.
    """

    def __init__(self, provider: str = "") -> None:
        super().__init__(provider)
        self.id = f"neurolink@code/{provider}" if provider else "neurolink@code"

    def definitions(self, texts: Sequence[str]) -> list[int]:
        """Estimate tool definitions like other texts."""
        return self.count_many(texts)

    def _estimate(self, units: int) -> int:
        base = math.ceil(units / NEUROLINK_CHARS_PER_TOKEN)
        return math.ceil(base * self._multiplier + base * NEUROLINK_ADDED_MARGIN)


class RatioCounter:
    """Multiplies another counter's counts by a factor measured for ``family``; rounds up."""

    exactness: Exactness = "estimate"

    def __init__(self, base: TokenCounter, factor: float, family: str) -> None:
        self.base = base
        self.factor = factor
        self.family = family
        self.id = f"{base.id} x{factor:g}"
        # The decimal that the float was written as: in binary, 10 x 1.1 would round up to 12.
        self._exact_factor = Fraction(repr(factor))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Estimate each text; an empty text has no tokens."""
        return list(map(self.scaled, self.base.count_many(texts)))

    def scaled(self, count: int) -> int:
        """Return the estimate for a count of the other counter."""
        numerator, denominator = self._exact_factor.as_integer_ratio()
        return -(-count * numerator // denominator)
