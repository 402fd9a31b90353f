"""What the rounds of a session cost by a table of prices: an estimate in US dollars."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compactctl.history.usage.rounds import Round
from compactctl.model.message import ReportedUsage
from compactctl.tokens.models.prices import MILLION, Price, PriceTable

# The share of a context that no message of the transcript explains.
UNSEEN = "not in the transcript"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundCost:
    """What one round cost, in US dollars.

    ``cache_miss_cost`` is by how much the input would have been cheaper, had all that was paid
    again been read from the cache.
    """

    input: float
    output: float
    cache_miss_cost: float
    price: Price

    @property
    def total(self) -> float:
        """Input and output."""
        return self.input + self.output


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What a session cost, in US dollars.

    Attributes:
        prices: the table.
        rounds: one for each round, None for those of a model without a price.
        input_by_category: the input by what it was spent on: each round's is divided as its context
            is.
        unpriced: the models without a price, with the number of their rounds.
    """

    prices: PriceTable
    rounds: tuple[RoundCost | None, ...]
    input_by_category: Mapping[str, float]
    unpriced: Mapping[str, int]

    @property
    def priced_rounds(self) -> tuple[RoundCost, ...]:
        """The rounds that have a price."""
        return tuple(each for each in self.rounds if each is not None)

    @property
    def input(self) -> float:
        """All known input."""
        return sum(each.input for each in self.priced_rounds)

    @property
    def output(self) -> float:
        """All known output."""
        return sum(each.output for each in self.priced_rounds)

    @property
    def cache_miss_cost(self) -> float:
        """By how much it would have been cheaper, had nothing been paid again."""
        return sum(each.cache_miss_cost for each in self.priced_rounds)

    @property
    def dates(self) -> tuple[str, ...]:
        """As of when the prices in use are, oldest first."""
        return tuple(sorted({each.price.date for each in self.priced_rounds if each.price.date}))


def compute_costs(rounds: Sequence[Round], prices: PriceTable) -> Costs:
    """Return what rounds cost; what is priced nowhere is left out, never guessed."""
    found = tuple(_cost(each, prices.price_for(each.model, each.usage.context)) for each in rounds)
    carried: Counter[str] = Counter()
    for cost, tokens_held in zip(found, context_shares(rounds), strict=True):
        if cost is not None:
            carried.update({name: cost.input * share for name, share in tokens_held.items()})
    missing = (
        each.model or "unknown" for each, cost in zip(rounds, found, strict=True) if not cost
    )
    return Costs(
        prices=prices,
        rounds=found,
        input_by_category=dict(carried.most_common()),
        unpriced=dict(Counter(missing).most_common()),
    )


def with_costs(
    rounds: Sequence[Round], costs: Costs | None
) -> Iterator[tuple[Round, RoundCost | None]]:
    """Yield each round with what it cost; None without a price, or where nobody asked for costs."""
    found = costs.rounds if costs else (None,) * len(rounds)
    return zip(rounds, found, strict=True)


def context_shares(rounds: Sequence[Round]) -> list[dict[str, float]]:
    """Return the shares of each round's context, by category; together they are 1.

    What has entered stays until the context is compacted; where it only fell, all of it fell alike.
    Counted tokens are set against the reported context, and ``UNSEEN`` is what is left of that.
    """
    shares: list[dict[str, float]] = []
    tokens_held: Counter[str] = Counter()
    before: Round | None = None
    for each in rounds:
        tokens_held = _carried_over(tokens_held, before, each)
        tokens_held.update(each.entered)
        whole = max(each.usage.context, tokens_held.total())
        share: dict[str, float] = {name: size / whole for name, size in tokens_held.items()}
        shares.append({**share, UNSEEN: max(0.0, 1 - sum(share.values()))})
        before = each
    return shares


def _carried_over(tokens_held: Counter[str], before: Round | None, each: Round) -> Counter[str]:
    """Return what of the round before is still in the context."""
    is_new = before is None or before.place.conversation != each.place.conversation
    if before is None or is_new or {"compacted", "compactctl"} & set(each.marks):
        return Counter()
    if each.usage.context >= before.usage.context:
        return tokens_held
    return Counter(
        {
            name: size * each.usage.context // before.usage.context
            for name, size in tokens_held.items()
        }
    )


def _cost(each: Round, price: Price | None) -> RoundCost | None:
    if price is None:
        return None
    usage = each.usage
    read, fresh = usage.cache_read or 0, _fresh(usage, price)
    unread = usage.context - read
    dearer = fresh / unread - price.cache_read if unread else 0.0
    cost = fresh + read * price.cache_read
    if usage.resent is not None:
        cost += _fresh(usage.resent, price) + (usage.resent.cache_read or 0) * price.cache_read
    return RoundCost(
        input=cost / MILLION,
        output=each.output * price.output / MILLION,
        cache_miss_cost=(each.cache_miss_tokens or 0) * max(0.0, dearer) / MILLION,
        price=price,
    )


def _fresh(usage: ReportedUsage, price: Price) -> float:
    """Return what the input costs that was not read from a cache, in dollars for a million."""
    read, write = usage.cache_read or 0, usage.cache_write or 0
    return (
        (usage.context - read - write) * price.input
        + (write - usage.cache_write_1h) * price.cache_write
        + usage.cache_write_1h * price.cache_write_1h
    )
