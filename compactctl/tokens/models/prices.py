"""What the tokens of models cost, and which row of a table is a model's."""

import re
from dataclasses import dataclass

from compactctl.tokens.models.names import bare_name, dashed, plain_name

# Prices are for so many tokens.
MILLION = 1_000_000
# What stands behind a model's own name: a date, "latest", a cloud's version, a long window.
_BEHIND = re.compile(
    r"(?:[-@](?:20\d{6}|20\d\d-\d\d-\d\d|latest|default))?(?:-v\d+(?::\d+)?)?(?:\[1m\])?$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a million tokens of a model cost in US dollars.

    Attributes:
        model: its name, without provider, date and variant.
        input: what is sent and not cached.
        cache_read: what is read from a cache.
        cache_write: what is put into it; ``cache_hour`` for an hour.
        output: the answer with its reasoning.
        over: the row is for requests of more tokens than this.
        source: where the price is published; ``date`` as of when.
    """

    model: str
    input: float
    cache_read: float
    cache_write: float
    cache_hour: float
    output: float
    over: int = 0
    source: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class Prices:
    """A table of prices; ``name`` is what people call it."""

    name: str
    rows: tuple[Price, ...]

    def of(self, model: str | None, context: int) -> Price | None:
        """Return what a request of ``context`` tokens costs; None for a model without a price.

        A name means one model: no price is taken from another one that is called alike.
        """
        names = _names(model)
        fitting = [row for row in self.rows if row.model in names and row.over < max(1, context)]
        return max(fitting, key=lambda row: (-names.index(row.model), row.over), default=None)


def price_key(name: str) -> str:
    """Return a model's name as tables are searched for it."""
    return dashed(plain_name(name))


def _names(model: str | None) -> list[str]:
    """Return the names a model may have in a table, the most exact first."""
    whole = plain_name(model)
    bare = bare_name(whole)
    return [name for name in (dashed(whole), bare, _BEHIND.sub("", bare, count=1)) if name]
