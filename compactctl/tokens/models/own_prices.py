"""A user's own table of prices."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any

from compactctl.errors import UsageError
from compactctl.model.settings_table import SettingsTable, check_keys
from compactctl.model.shapes import number, string
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
        _price(name, row),
        source=row.get("source", _text, ""),
        date=row.get("date", _text, ""),
    )
    yield base
    if "long" in row.entries:
        long = _table(row.entries["long"], _LONG_KEYS, f"{where}: long")
        over = int(_number(long, "over"))
        yield replace(_price(name, long), source=base.source, date=base.date, over=over)


def _table(value: object, keys: tuple[str, ...], where: str) -> SettingsTable:
    if not isinstance(value, Mapping):
        raise UsageError(f"{where}: is not a table; write it as {{input = 2.5, output = 15}}")
    check_keys(value, keys, where, "put a name with a dot in it in quotes")
    return SettingsTable(value, f"{where}: ")


def _price(name: str, row: SettingsTable) -> Price:
    sent = _number(row, "input")
    write = _number(row, "cache_write", sent)
    return Price(
        model=price_key(name),
        input=sent,
        cache_read=_number(row, "cache_read", sent),
        cache_write=write,
        cache_hour=_number(row, "cache_hour", write),
        output=_number(row, "output"),
    )


def _number(row: SettingsTable, key: str, default: float | None = None) -> float:
    value = row.get(key, partial(number, most=_MOST), default)
    if value is None:
        raise UsageError(f"{row.location}{key} is missing; give a number, such as {key} = 2.5")
    return value


def _text(value: object) -> str:
    """Return a text, or what TOML takes for a date."""
    return value.isoformat() if isinstance(value, date) else string(value)
