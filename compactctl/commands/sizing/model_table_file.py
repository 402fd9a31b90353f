"""Reads a user's own table of models (``--windows``): TOML or JSON."""

import json
import tomllib
from pathlib import Path
from typing import Any

from compactctl.errors import UsageError
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.lines import STANDARD_INPUT, open_input
from compactctl.tokens.counters.choose import own_counter
from compactctl.tokens.models.own_models import OwnModels, read_own_models


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
    if path == STANDARD_INPUT:
        raise UsageError("--windows -: standard input is for a transcript; name a file")
    name = Path(path).name
    return read_own_models(_table(open_input(path, TEXT_LIMITS).data, name), name)


def _table(data: bytes, name: str) -> dict[str, Any]:
    """Parse the file; TOML never begins with a brace, and JSON objects always do."""
    try:
        text = data.decode("utf-8-sig")
        is_json = text.lstrip()[:1] in {"{", "["}
        found = json.loads(text) if is_json else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{name}: is neither TOML nor JSON ({' '.join(str(error).split())});"
            ' write lines such as "gpt-4.1" = "1m"'
        ) from error
    if not isinstance(found, dict):
        raise UsageError(f'{name}: is a JSON array; write an object such as {{"gpt-4.1": "1m"}}')
    return found
