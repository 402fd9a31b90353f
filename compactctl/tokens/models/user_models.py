"""A user's table of models, which takes precedence over the built-in one."""

from collections.abc import Mapping
from typing import Any

from compactctl.errors import UsageError
from compactctl.model.validation import read_table
from compactctl.records import Record
from compactctl.tokens.models.names import (
    dash_versions,
    is_name_prefix,
    normalize_name,
    strip_provider,
)
from compactctl.tokens.models.token_sizes import parse_token_size


class _Row(Record):
    """The keys of a row; a size is written as ``parse_token_size`` reads it."""

    window: Any = None
    max_output: Any = None
    counter: str = ""


class UserModel(Record):
    """A user's row for all models whose names begin with ``prefix``.

    Attributes:
        prefix: as the user wrote it.
        source: the user's file.
        window: context window in tokens; None for that of the built-in table.
        max_output: longest answer in tokens; None likewise.
        counter: name of the counter; "" likewise.
    """

    prefix: str
    source: str
    window: int | None = None
    max_output: int | None = None
    counter: str = ""


class UserModelTable(Record, kw_only=False):
    """The rows of a user's table, in its order."""

    rows: tuple[UserModel, ...] = ()

    def match(self, name: str | None) -> UserModel | None:
        """Return the row with the longest prefix of a model's name; None without one.

        The prefix may be one of the whole name ("openrouter/…"), of what follows the last slash, or
        of the model's name without provider and region.
        """
        path = normalize_name(name)
        names = {dash_versions(path), dash_versions(path.rpartition("/")[2]), strip_provider(path)}
        matches = (
            row
            for row in self.rows
            if any(is_name_prefix(_key(row.prefix), candidate) for candidate in names)
        )
        return max(matches, key=lambda row: len(row.prefix), default=None)


NO_USER_MODELS = UserModelTable()


def parse_user_models(document: Mapping[str, Any], source: str) -> UserModelTable:
    """Parse a table: ``"gpt-4.1" = "1m"``, or with ``window``, ``max_output`` and ``counter``.

    Raises:
        UsageError: a key or value is invalid; the error says which, and where.
    """
    rows = [_row(prefix, value, source) for prefix, value in document.items()]
    prefixes: dict[str, str] = {}
    for row in rows:
        first = prefixes.setdefault(_key(row.prefix), row.prefix)
        if first is not row.prefix:
            raise UsageError(
                f"{source}: {row.prefix!r} and {first!r} are the same model; keep one of them"
            )
    return UserModelTable(tuple(rows))


def _key(prefix: str) -> str:
    return dash_versions(normalize_name(prefix))


def _row(prefix: str, value: object, source: str) -> UserModel:
    if not normalize_name(prefix):
        raise UsageError(f"{source}: a model without a name; write the beginning of its name")
    where = f"{source}: {prefix!r}"
    if not isinstance(value, Mapping):
        return UserModel(prefix=prefix, source=source, window=_tokens(value, f"{where} = "))
    if not value:
        raise UsageError(f"{where}: empty; set one of {', '.join(_Row.__struct_fields__)}")
    row = read_table(value, _Row, where, f"{where}: ", "put a name with a dot in it in quotes")
    sizes = {
        name: _tokens(value[name], f"{where}: {name} = ")
        for name in ("window", "max_output")
        if name in value
    }
    return UserModel(prefix=prefix, source=source, counter=row.counter, **sizes)


def _tokens(value: object, location: str) -> int:
    is_size = isinstance(value, int | str) and not isinstance(value, bool)
    size = parse_token_size(str(value)) if is_size else None
    if size is None or size.denominator != 1:
        raise UsageError(
            f'{location}{value!r} is not a number of tokens; write it as "128k" or 131072'
        )
    return size.numerator
