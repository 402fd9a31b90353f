"""What a provider's prompt cache still holds of a request after a compaction."""

from collections.abc import Sequence
from dataclasses import dataclass

from compactctl.commands.sizing.next_request import NextRequest
from compactctl.model.message import Message
from compactctl.tokens.models.prices import MILLION, Price, Prices


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheUse:
    """What a prompt cache that held the whole conversation holds of it now, in tokens.

    Attributes:
        line: of the first message that is not sent as it was, from 0.
        held: what is sent before it, system prompt and tool definitions included.
        anew: what is sent from there on, and has to be put into the cache.
        saved: by how much the request has become smaller.
    """

    line: int
    held: int
    anew: int
    saved: int

    def pays_after(self, price: Price) -> int | None:
        """Return how many requests it takes until all of them together cost less than before.

        Without the compaction each would have read all of the conversation from the cache. None
        where the request has not become smaller, or reading costs nothing.
        """
        gain = self.saved * price.cache_read
        if gain <= 0:
            return None
        loss = self.anew * max(0.0, price.cache_write - price.cache_read)
        return max(1, -int(-loss // gain))


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request in tokens; a prompt cache holds ``held`` of them from the one before."""

    tokens: int
    held: int


@dataclass(frozen=True, slots=True)
class InputCost:
    """What the input of requests costs in US dollars, with and without a prompt cache."""

    cached: float
    uncached: float


def input_cost(requests: Sequence[SentRequest], prices: Prices, model: str) -> InputCost | None:
    """Return what requests cost, without their answers; None for a model without a price."""
    cached = uncached = 0.0
    for request in requests:
        price = prices.of(model, request.tokens)
        if price is None:
            return None
        anew = request.tokens - request.held
        cached += request.held * price.cache_read + anew * price.cache_write
        uncached += request.tokens * price.input
    return InputCost(cached / MILLION, uncached / MILLION)


def cache_use(
    before: Sequence[Message], after: Sequence[Message], request: NextRequest
) -> CacheUse | None:
    """Compare a conversation before and after; None where nothing but its end has changed."""
    alike = same_front(before, after)
    if alike == len(before):
        return None
    held, now = request.tokens(after[:alike]), request.tokens(after)
    return CacheUse(
        line=before[alike].line,
        held=held,
        anew=now - held,
        saved=request.tokens(before) - now,
    )


def same_front(before: Sequence[Message], after: Sequence[Message]) -> int:
    """Return how many messages at the beginning are the same."""
    pairs = zip(before, after, strict=False)
    shorter = min(len(before), len(after))
    changed = (n for n, (old, new) in enumerate(pairs) if old is not new and old != new)
    return next(changed, shorter)
