"""The cost of a session's rounds by a table of prices: an estimate in US dollars."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from compactctl.history.usage.rounds import Round
from compactctl.model.message import ReportedUsage
from compactctl.records import Record
from compactctl.tokens.models.prices import MILLION, Price, PriceTable

# The category of the tokens of a context that no message of the transcript explains.
UNSEEN = "not in the transcript"


class RoundCost(Record):
    """The cost of one round, in US dollars.

    ``cache_miss_cost`` is what would have been saved if every cache miss had been a cache read.
    """

    input: float
    output: float
    cache_miss_cost: float
    price: Price

    @property
    def total(self) -> float:
        """Input and output."""
        return self.input + self.output


class Costs(Record):
    """The cost of a session, in US dollars.

    Attributes:
        prices: the table of prices.
        rounds: the cost of each round; None if its model has no price, or if it was copied.
        input_by_category: the cost of input by category: that of each round is divided like its
            context.
        unpriced: the models without a price, with the number of their rounds.
    """

    prices: PriceTable
    rounds: tuple[RoundCost | None, ...]
    input_by_category: Mapping[str, float]
    unpriced: Mapping[str, int]

    @property
    def priced_rounds(self) -> tuple[RoundCost, ...]:
        """The costs of the rounds that have a price."""
        return tuple(cost for cost in self.rounds if cost is not None)

    @property
    def input(self) -> float:
        """The cost of all input that has a price."""
        return sum(cost.input for cost in self.priced_rounds)

    @property
    def output(self) -> float:
        """The cost of all output that has a price."""
        return sum(cost.output for cost in self.priced_rounds)

    @property
    def cache_miss_cost(self) -> float:
        """What would have been saved if every cache miss had been a cache read."""
        return sum(cost.cache_miss_cost for cost in self.priced_rounds)

    @property
    def dates(self) -> tuple[str, ...]:
        """The dates of the prices in use, oldest first."""
        return tuple(sorted({cost.price.date for cost in self.priced_rounds if cost.price.date}))


def compute_costs(rounds: Sequence[Round], prices: PriceTable) -> Costs:
    """Return the cost of rounds; a price that is not in the table is never guessed."""
    round_costs = tuple(
        None
        if round_.is_copied
        else _cost(round_, prices.price_for(round_.model, round_.usage.context))
        for round_ in rounds
    )
    input_by_category: Counter[str] = Counter()
    for cost, shares in zip(round_costs, context_shares(rounds), strict=True):
        if cost is not None:
            input_by_category.update({name: cost.input * share for name, share in shares.items()})
    unpriced_models = (
        round_.model or "unknown"
        for round_, cost in zip(rounds, round_costs, strict=True)
        if not cost and not round_.is_copied
    )
    return Costs(
        prices=prices,
        rounds=round_costs,
        input_by_category=dict(input_by_category.most_common()),
        unpriced=dict(Counter(unpriced_models).most_common()),
    )


def with_costs(
    rounds: Sequence[Round], costs: Costs | None
) -> Iterator[tuple[Round, RoundCost | None]]:
    """Yield each round with its cost; None if it has no price, or if there are no ``costs``."""
    round_costs = costs.rounds if costs else (None,) * len(rounds)
    return zip(rounds, round_costs, strict=True)


def context_shares(rounds: Sequence[Round]) -> list[dict[str, float]]:
    """Return the shares of each round's context by category; those of a round add up to 1.

    Tokens stay until the context is compacted; if it only shrank, all categories shrank alike.
    Shares are counted tokens of the reported context, and ``UNSEEN`` is the remainder:
        round 1: context 10,000, user 2,000 entered      user 0.2, UNSEEN 0.8
        round 2: context 20,000, reads 8,000 entered     user 0.1, reads 0.4, UNSEEN 0.5
    """
    shares: list[dict[str, float]] = []
    tokens_held: Counter[str] = Counter()
    previous: Round | None = None
    for round_ in rounds:
        tokens_held = _carried_over(tokens_held, previous, round_)
        tokens_held.update(round_.entered)
        total = max(round_.usage.context, tokens_held.total())
        round_shares: dict[str, float] = {name: size / total for name, size in tokens_held.items()}
        shares.append({**round_shares, UNSEEN: max(0.0, 1 - sum(round_shares.values()))})
        previous = round_
    return shares


def _carried_over(tokens_held: Counter[str], previous: Round | None, round_: Round) -> Counter[str]:
    """Return the tokens of the previous round that are still in the context."""
    is_new = previous is None or previous.place.conversation != round_.place.conversation
    if previous is None or is_new or {"compacted", "compactctl"} & set(round_.marks):
        return Counter()
    if round_.usage.context >= previous.usage.context:
        return tokens_held
    return Counter(
        {
            name: size * round_.usage.context // previous.usage.context
            for name, size in tokens_held.items()
        }
    )


def _cost(round_: Round, price: Price | None) -> RoundCost | None:
    """Return the cost of a round, None without a price.

    Per million: input $3, cache write $3.75, cache read $0.30. Of a context of 100,000 tokens,
    90,000 were read from the cache, 8,000 written, and 8,000 were a cache miss:
        input: 2,000 * 3 + 8,000 * 3.75 + 90,000 * 0.30 = 63,000 / million = $0.063
        cache_miss_cost: 8,000 * (36,000 / 10,000 - 0.30) = 26,400 / million = $0.0264
    """
    if price is None:
        return None
    usage = round_.usage
    read, uncached = usage.cache_read or 0, _uncached_cost(usage, price)
    uncached_tokens = usage.context - read
    extra_per_token = uncached / uncached_tokens - price.cache_read if uncached_tokens else 0.0
    cost = uncached + read * price.cache_read
    if usage.resent is not None:
        cost += (
            _uncached_cost(usage.resent, price) + (usage.resent.cache_read or 0) * price.cache_read
        )
    return RoundCost(
        input=cost / MILLION,
        output=round_.output * price.output / MILLION,
        cache_miss_cost=(round_.cache_miss_tokens or 0) * max(0.0, extra_per_token) / MILLION,
        price=price,
    )


def _uncached_cost(usage: ReportedUsage, price: Price) -> float:
    """Return the cost of the input that was not read from a cache, in millionths of a dollar."""
    read, write = usage.cache_read or 0, usage.cache_write or 0
    return (
        (usage.context - read - write) * price.input
        + (write - usage.cache_write_1h) * price.cache_write
        + usage.cache_write_1h * price.cache_write_1h
    )
