"""Reads a user's own tables, TOML or JSON: of models (``--windows``), of prices (``--prices``)."""

import json
import tomllib
from pathlib import Path
from typing import Any

from compactctl.errors import UsageError
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.lines import STANDARD_INPUT, open_input
from compactctl.tokens.counters.choose import own_counter
from compactctl.tokens.models.own_models import OwnModels, read_own_models
from compactctl.tokens.models.own_prices import read_own_prices
from compactctl.tokens.models.price_table import BUILT_IN
from compactctl.tokens.models.prices import Prices


def load_own_models(path: str) -> OwnModels:
    """Read a table of models, whose file may be JSON or TOML.

    Raises:
        NoInputError: there is no such file.
        UsageError: it is not such a table; says which key or line is wrong.
    """
    models = read_windows(path)
    for row in models.rows:
        if row.counter:
            own_counter(row)
    return models


def read_windows(path: str) -> OwnModels:
    """Read a table of models without asking whether its counters are there; raises the same."""
    return read_own_models(_table(path, "--windows", '"gpt-4.1" = "1m"'), Path(path).name)


def load_prices(name: str) -> Prices:
    """Return the built-in table of prices for ``builtin``, else read a file; raises the same."""
    if name == BUILT_IN.name:
        return BUILT_IN
    example = '"my-model" = {input = 2.5, output = 15}'
    return read_own_prices(_table(name, "--prices", example), Path(name).name)


def _table(path: str, option: str, example: str) -> dict[str, Any]:
    """Parse a file; TOML never begins with a brace, and JSON objects always do.

    ``example`` is a line as it may stand in it.
    """
    if path == STANDARD_INPUT:
        raise UsageError(f"{option} -: standard input is for a transcript; name a file")
    data, name = open_input(path, TEXT_LIMITS).data, Path(path).name
    try:
        text = data.decode("utf-8-sig")
        is_json = text.lstrip()[:1] in {"{", "["}
        found = json.loads(text) if is_json else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{name}: is neither TOML nor JSON ({' '.join(str(error).split())});"
            f" write lines such as {example}"
        ) from error
    if not isinstance(found, dict):
        raise UsageError(f"{name}: is a JSON array; write an object, as TOML: {example}")
    return found
