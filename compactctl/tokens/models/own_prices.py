"""A user's own table of prices."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from compactctl.errors import UsageError, suggestion
from compactctl.tokens.models.prices import Price, Prices, price_key

_NUMBERS = ("input", "output", "cache_read", "cache_write", "cache_hour")
_KEYS = (*_NUMBERS, "source", "date", "long")
_LONG_KEYS = ("over", *_NUMBERS)
_MOST = 1_000_000_000


def read_own_prices(document: Mapping[str, Any], source: str) -> Prices:
    """Read a table: ``"my-model" = {input = 2.5, output = 15}``, US dollars per million tokens.

    What is read from a cache or put into it costs as much as other input unless ``cache_read``,
    ``cache_write`` and ``cache_hour`` say otherwise. ``long = {over = 200_000, …}`` is for larger
    requests, ``source`` and ``date`` say where the price is from.

    Raises:
        UsageError: a key or value means nothing; says which, and where.
    """
    rows: list[Price] = []
    for name, value in document.items():
        found = list(_rows(name, value, source))
        if any(row.model == found[0].model for row in rows):
            raise UsageError(f"{source}: {name!r} is there once more; keep one of them")
        rows += found
    return Prices(source, tuple(rows))


def _rows(name: str, value: object, source: str) -> Iterator[Price]:
    where = f"{source}: {name!r}"
    if not price_key(name):
        raise UsageError(f"{source}: a model without a name; write its name")
    row = _table(value, _KEYS, where)
    base = replace(
        _price(name, row, where),
        source=_text(row.get("source", ""), f"{where}: source"),
        date=_text(row.get("date", ""), f"{where}: date"),
    )
    yield base
    if "long" in row:
        where = f"{where}: long"
        long = _table(row["long"], _LONG_KEYS, where)
        over = int(_number(long, "over", where))
        yield replace(_price(name, long, where), source=base.source, date=base.date, over=over)


def _table(value: object, keys: tuple[str, ...], where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UsageError(f"{where}: is not a table; write it as {{input = 2.5, output = 15}}")
    for key in value:
        if key not in keys:
            hint = suggestion(key, keys, "put a name with a dot in it in quotes")
            raise UsageError(f"{where}: there is no {key!r}, only {', '.join(keys)}; {hint}")
    return value


def _price(name: str, row: Mapping[str, Any], where: str) -> Price:
    sent = _number(row, "input", where)
    write = _number(row, "cache_write", where, sent)
    return Price(
        model=price_key(name),
        input=sent,
        cache_read=_number(row, "cache_read", where, sent),
        cache_write=write,
        cache_hour=_number(row, "cache_hour", where, write),
        output=_number(row, "output", where),
    )


def _number(row: Mapping[str, Any], key: str, where: str, default: float | None = None) -> float:
    value = row.get(key, default)
    if value is None:
        raise UsageError(f"{where}: {key} is missing; give a number, such as {key} = 2.5")
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= _MOST:
        raise UsageError(f"{where}: {key}: {value!r} is not a number from 0 to {_MOST:,}")
    return float(value)


def _text(value: object, where: str) -> str:
    """Return a text, or what TOML takes for a date."""
    if isinstance(value, Mapping | list | bool | int | float):
        raise UsageError(f"{where}: {value!r} is not text")
    return str(value)
