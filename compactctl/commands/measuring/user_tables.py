"""Tables of models and prices that users write, as TOML or JSON."""

import json
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any

from compactctl.asks import READS, SHOWN, ask
from compactctl.errors import UsageError
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.source import STANDARD_STREAM, open_input
from compactctl.tokens.counters.selection import user_counter
from compactctl.tokens.models.prices import BUILTIN_PRICES, PriceTable, parse_user_prices
from compactctl.tokens.models.user_models import UserModelTable, parse_user_models


def load_user_models(path: str) -> UserModelTable:
    """Read a model table from a JSON or TOML file, and check its counters.

    Raises:
        NoInputError: the file does not exist.
        UsageError: it is not a model table; names the key or line that is wrong.
    """
    models = read_windows(path)
    for row in models.rows:
        if row.counter:
            user_counter(row)
    return models


def read_windows(path: str) -> UserModelTable:
    """Read a model table without checking its counters; raises as ``load_user_models`` does."""
    return parse_user_models(_table(path, "--windows", '"gpt-4.1" = "1m"'), Path(path).name)


def load_prices(name: str) -> PriceTable:
    """Return the built-in price table for ``builtin``, else read a file.

    Raises as ``load_user_models`` does.
    """
    if name == BUILTIN_PRICES.name:
        return BUILTIN_PRICES
    example = '"my-model" = {input = 2.5, output = 15}'
    return parse_user_prices(_table(name, "--prices", example), Path(name).name)


def asked_prices(purpose: str, effect: str = "") -> PriceTable | None:
    """Ask for ``--prices``; its help begins with ``purpose`` and ends with ``effect``."""
    text = (
        f"{purpose}, by published prices or your own table. FILE is TOML or JSON: "
        f'"my-model" = {{input = 2.5, output = 15, cache_read = 0.25}}. {effect}'
    )
    return ask(
        None,
        text.rstrip(),
        SHOWN,
        READS,
        path="settings",
        metavar="FILE|builtin",
        read=load_prices,
    )


def _table(path: str, option: str, example: str) -> dict[str, Any]:
    """Parse a file; ``example`` is a valid line, for errors."""
    if path == STANDARD_STREAM:
        raise UsageError(f"{option} -: standard input is for the transcript; name a file")
    data, name = open_input(path, TEXT_LIMITS).data, Path(path).name
    try:
        table = _parsed(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{name}: is neither TOML nor JSON ({' '.join(str(error).split())});"
            f" write lines such as {example}"
        ) from error
    if not isinstance(table, dict):
        raise UsageError(f"{name}: is a JSON array; write an object, as TOML: {example}")
    return table


def _parsed(text: str) -> object:
    """Parse an object or an array of JSON, else TOML, which may begin with a bracket, too."""
    start = text.lstrip()[:1]
    if start == "[":
        with suppress(ValueError):
            return json.loads(text)
    return json.loads(text) if start == "{" else tomllib.loads(text)
