"""The option that names a table of prices."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from compactctl.cli.opt import READS, SHOWN, Opt, opt

if TYPE_CHECKING:
    from compactctl.tokens.models.prices import Prices

F = TypeVar("F", bound=Callable[..., Any])


def prices_option(purpose: str, effect: str = "") -> Opt:
    """Add ``--prices``; it arrives as ``prices: Prices | None``.

    ``purpose`` begins its help, ``effect`` ends it.
    """
    help_text = (
        f"{purpose}, by published prices or by a table of your own (TOML or JSON): "
        '"my-model" = {input = 2.5, output = 15, cache_read = 0.25}. '
    )
    return opt(
        "prices",
        SHOWN,
        READS,
        (help_text + effect).rstrip(),
        path="settings",
        metavar="FILE|builtin",
        callback=_load,
    )


def _load(
    context: click.Context,
    parameter: click.Parameter,  # noqa: ARG001
    value: str | None,
) -> "Prices | None":
    if value is None or context.resilient_parsing:
        return None
    from compactctl.commands.measuring.measure import load_prices

    return load_prices(value)
