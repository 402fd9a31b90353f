"""The context windows that another system documents, which its profile uses."""

from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.records import Record
from compactctl.tokens.models.lookup import ModelInfo, letters_of
from compactctl.tokens.models.names import normalize_name
from compactctl.tokens.models.user_models import UserModel, UserModelTable, parse_user_models

_DEFAULT = "_default"


class SystemWindows(Record, kw_only=False):
    """The rows of a system's tables, by the letters of its providers; "" for any provider."""

    tables: tuple[tuple[str, UserModelTable], ...] = ()

    @property
    def count(self) -> int:
        """The number of models in all tables."""
        return sum(1 for _ in self._models())

    def window_of(self, model: ModelInfo) -> int | None:
        """Return the window of a model, None if the system's tables do not decide.

        Only the table of the provider in the model's name counts, with its default, if there is
        one. Otherwise the longest matching name counts, here or in compactctl's table, since that
        knows newer models.
        """
        provider = letters_of(normalize_name(model.name).rpartition("/")[0])
        tables = dict(self.tables)
        if provider and provider in tables:
            table = tables[provider]
            row = table.match(model.name) or table.match(_DEFAULT)
            return row.window if row else None
        row = UserModelTable(tuple(self._models())).match(model.name)
        is_listed = model.is_known or model.is_inferred
        if row is None or (is_listed and len(row.prefix) < len(model.matched_prefix)):
            return None
        return row.window

    def _models(self) -> Iterator[UserModel]:
        for _, table in self.tables:
            yield from (row for row in table.rows if row.prefix != _DEFAULT)


NO_SYSTEM_WINDOWS = SystemWindows()


def parse_system_windows(document: Mapping[str, Any], source: str) -> SystemWindows:
    """Parse ``gpt-4o = 128_000``, or tables of providers with such rows and a ``_default``.

    Raises:
        UsageError: a key or value is invalid; the error says which, and where.
    """
    rows = {key: value for key, value in document.items() if not isinstance(value, Mapping)}
    tables = [("", rows), *((k, v) for k, v in document.items() if isinstance(v, Mapping))]
    return SystemWindows(
        tuple(
            (letters_of(name), parse_user_models(table, f"{source} {name}".strip()))
            for name, table in tables
            if table
        )
    )
