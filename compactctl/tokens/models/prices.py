"""Prices of models' tokens: the built-in table, and tables of users."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Annotated, Any, TypeVar

from msgspec import Meta

from compactctl.errors import UsageError
from compactctl.model.validation import read_table
from compactctl.records import Record, replace
from compactctl.tokens.models.names import dash_versions, normalize_name, strip_provider

C = TypeVar("C", bound="_Costs")

MILLION = 1_000_000
"""Prices are per this many tokens."""
# What may follow a model's name: a date, "latest", a cloud's version, a long window.
_VERSION_SUFFIX = re.compile(
    r"(?:[-@](?:20\d{6}|20\d\d-\d\d-\d\d|latest|default))?(?:-v\d+(?::\d+)?)?(?:\[1m\])?$"
)


class Price(Record):
    """What a million tokens of a model cost in US dollars.

    Attributes:
        model: its name without provider, date and variant.
        input: uncached input.
        cache_read: input read from the prompt cache.
        cache_write: input written to the prompt cache.
        cache_write_1h: the same if it is kept for an hour.
        output: the answer with its reasoning.
        above_tokens: the price is for requests of more tokens than this.
        source, date: where the price is published, and as of when.
    """

    model: str
    input: float
    cache_read: float
    cache_write: float
    cache_write_1h: float
    output: float
    above_tokens: int = 0
    source: str = ""
    date: str = ""


class PriceTable(Record, kw_only=False):
    """A table of prices; ``name`` is ``builtin`` or the user's file."""

    name: str
    rows: tuple[Price, ...]

    def price_for(self, model: str | None, context: int) -> Price | None:
        """Return the price of a request of ``context`` tokens; None for a model without a price.

        No price is taken from a model with a similar name. The most exact name counts, then the
        highest ``above_tokens`` that the request exceeds.
        """
        names = _names(model)
        prices = [
            row for row in self.rows if row.model in names and row.above_tokens < max(1, context)
        ]
        return max(
            prices, key=lambda row: (-names.index(row.model), row.above_tokens), default=None
        )


def price_key(name: str) -> str:
    """Normalize a model's name for the lookup in a price table."""
    return dash_versions(normalize_name(name))


def _names(model: str | None) -> list[str]:
    """Return the names that a model may have in a table, the most exact first."""
    path = normalize_name(model)
    bare = strip_provider(path)
    names = (dash_versions(path), bare, _VERSION_SUFFIX.sub("", bare, count=1))
    return [name for name in names if name]


# Models; prices of input, cache reads, cache writes for five minutes and for an hour, and output;
# above how many tokens they apply.
_Row = tuple[str, float, float, float, float, float, int]

_ANTHROPIC: tuple[_Row, ...] = (
    ("claude-fable-5.1 claude-mythos-5.1", 10, 0.25, 12.5, 20, 50, 0),
    ("claude-fable-5 claude-mythos-5", 10, 1, 12.5, 20, 50, 0),
    ("claude-opus-5.5", 4, 0.2, 5, 8, 20, 0),
    ("claude-opus-5 claude-opus-4.8 claude-opus-4.7", 5, 0.5, 6.25, 10, 25, 0),
    ("claude-opus-4.6 claude-opus-4.5", 5, 0.5, 6.25, 10, 25, 0),
    ("claude-opus-4.1 claude-opus-4 claude-opus-4.0", 15, 1.5, 18.75, 30, 75, 0),
    # The price of cache reads is that of the table in Claude Code 2.1.331.
    ("claude-sonnet-5.5", 2, 0.1, 2.5, 4, 10, 0),
    ("claude-sonnet-5", 2, 0.2, 2.5, 4, 10, 0),
    ("claude-sonnet-4.6 claude-sonnet-4.5", 3, 0.3, 3.75, 6, 15, 0),
    ("claude-sonnet-4 claude-sonnet-4.0", 3, 0.3, 3.75, 6, 15, 0),
    ("claude-sonnet-4.5 claude-sonnet-4 claude-sonnet-4.0", 6, 0.6, 7.5, 12, 22.5, 200_000),
    ("claude-haiku-5.5", 0.1, 0.01, 0.125, 0.2, 0.5, 0),
    ("claude-haiku-5.5", 0.5, 0.05, 0.625, 1, 2.5, 100_000),
    ("claude-haiku-4.5", 1, 0.1, 1.25, 2, 5, 0),
    ("claude-3.7-sonnet claude-3.5-sonnet", 3, 0.3, 3.75, 6, 15, 0),
    ("claude-3.5-haiku", 0.8, 0.08, 1, 1.6, 4, 0),
    ("claude-3-opus", 15, 1.5, 18.75, 30, 75, 0),
    ("claude-3-haiku", 0.25, 0.03, 0.3, 0.5, 1.25, 0),
)
# A cache write costs as much as other input.
_OPENAI: tuple[_Row, ...] = (
    ("gpt-5.5", 5, 0.5, 5, 5, 30, 0),
    ("gpt-5.5", 10, 1, 10, 10, 45, 272_000),
    ("gpt-5.4", 2.5, 0.25, 2.5, 2.5, 15, 0),
    ("gpt-5.4", 5, 0.5, 5, 5, 22.5, 272_000),
    ("gpt-5.4-mini", 0.75, 0.075, 0.75, 0.75, 4.5, 0),
    ("gpt-5.4-nano", 0.2, 0.02, 0.2, 0.2, 1.25, 0),
    ("gpt-5.3-codex gpt-5.2-codex gpt-5.2", 1.75, 0.175, 1.75, 1.75, 14, 0),
    ("gpt-5.1-codex-max gpt-5.1-codex gpt-5.1", 1.25, 0.125, 1.25, 1.25, 10, 0),
    ("gpt-5-codex gpt-5", 1.25, 0.125, 1.25, 1.25, 10, 0),
    ("gpt-5-mini gpt-5.1-codex-mini", 0.25, 0.025, 0.25, 0.25, 2, 0),
    ("gpt-5-nano", 0.05, 0.005, 0.05, 0.05, 0.4, 0),
    ("gpt-4.1", 2, 0.5, 2, 2, 8, 0),
    ("gpt-4.1-mini", 0.4, 0.1, 0.4, 0.4, 1.6, 0),
    ("gpt-4.1-nano", 0.1, 0.025, 0.1, 0.1, 0.4, 0),
    ("gpt-4o", 2.5, 1.25, 2.5, 2.5, 10, 0),
    # No price for cached input is published: it costs as much as other input.
    ("gpt-4o-2024-05-13", 5, 5, 5, 5, 15, 0),
    ("gpt-4o-mini", 0.15, 0.075, 0.15, 0.15, 0.6, 0),
    ("o3", 2, 0.5, 2, 2, 8, 0),
    ("o4-mini", 1.1, 0.275, 1.1, 1.1, 4.4, 0),
)
_GOOGLE: tuple[_Row, ...] = (
    ("gemini-3-flash-preview", 0.5, 0.05, 0.5, 0.5, 3, 0),
    ("gemini-3-pro-preview", 2, 0.2, 2, 2, 12, 0),
    ("gemini-3-pro-preview", 4, 0.4, 4, 4, 18, 200_000),
    ("gemini-2.5-pro", 1.25, 0.125, 1.25, 1.25, 10, 0),
    ("gemini-2.5-pro", 2.5, 0.25, 2.5, 2.5, 15, 200_000),
    ("gemini-2.5-flash", 0.3, 0.03, 0.3, 0.3, 2.5, 0),
)
_GROUPS = (
    (_ANTHROPIC, "https://platform.claude.com/docs/en/about-claude/pricing", "2026-10-24"),
    (_OPENAI, "https://developers.openai.com/api/docs/pricing", "2026-06-04"),
    (_GOOGLE, "https://ai.google.dev/gemini-api/docs/pricing", "2026-07-04"),
)


def _builtin_rows() -> Iterator[Price]:
    for group, source, checked_on in _GROUPS:
        for models, sent, read, write, write_1h, output, above_tokens in group:
            for model in models.split():
                yield Price(
                    model=price_key(model),
                    input=sent,
                    cache_read=read,
                    cache_write=write,
                    cache_write_1h=write_1h,
                    output=output,
                    above_tokens=above_tokens,
                    source=source,
                    date=checked_on,
                )


BUILTIN_PRICES = PriceTable("builtin", tuple(_builtin_rows()))


_Dollars = Annotated[float, Meta(ge=0, le=1_000_000_000)]


class _Costs(Record):
    """The prices of a user's row; those that are missing are derived from others."""

    input: _Dollars | None = None
    output: _Dollars | None = None
    cache_read: _Dollars | None = None
    cache_write: _Dollars | None = None
    cache_hour: _Dollars | None = None


class _LongUserRow(_Costs):
    over: _Dollars | None = None


class _UserRow(_Costs):
    source: str = ""
    date: str = ""
    long: Any = None


def parse_user_prices(document: Mapping[str, Any], source: str) -> PriceTable:
    """Parse a table: ``"my-model" = {input = 2.5, output = 15}``, US dollars per million tokens.

    Cache reads and writes cost as much as other input unless ``cache_read``, ``cache_write`` and
    ``cache_hour`` say otherwise. ``long = {over = 200_000, …}`` is for larger requests; ``source``
    and ``date`` say where the price is from.

    Raises:
        UsageError: a key or value is invalid; the error says which, and where.
    """
    prices: list[Price] = []
    for name, value in document.items():
        model_prices = list(_user_prices(name, value, source))
        if any(price.model == model_prices[0].model for price in prices):
            raise UsageError(f"{source}: {name!r} names a model listed above; keep one of them")
        prices += model_prices
    return PriceTable(source, tuple(prices))


def _user_prices(name: str, value: object, source: str) -> Iterator[Price]:
    where = f"{source}: {name!r}"
    if not price_key(name):
        raise UsageError(f"{source}: a model without a name; write its name")
    row = _table(value, _UserRow, where)
    base = replace(_price(name, row, where), source=row.source, date=row.date)
    yield base
    if row.long is not None:
        where = f"{where}: long"
        long = _table(row.long, _LongUserRow, where)
        above = int(_required(long.over, where, "over"))
        yield replace(
            _price(name, long, where), source=base.source, date=base.date, above_tokens=above
        )


def _table(value: object, kind: type[C], where: str) -> C:
    if not isinstance(value, Mapping):
        raise UsageError(f"{where}: is not a table; write it as {{input = 2.5, output = 15}}")
    # TOML has dates without quotes.
    entries = {
        key: item.isoformat() if isinstance(item, date) else item for key, item in value.items()
    }
    return read_table(entries, kind, where, f"{where}: ", "put a name with a dot in it in quotes")


def _price(name: str, row: _Costs, where: str) -> Price:
    sent = _required(row.input, where, "input")
    write = sent if row.cache_write is None else row.cache_write
    return Price(
        model=price_key(name),
        input=sent,
        cache_read=sent if row.cache_read is None else row.cache_read,
        cache_write=write,
        cache_write_1h=write if row.cache_hour is None else row.cache_hour,
        output=_required(row.output, where, "output"),
    )


def _required(number: float | None, where: str, key: str) -> float:
    if number is None:
        raise UsageError(f"{where}: {key} is missing; give a number, e.g. {key} = 2.5")
    return number
