"""Options about profiles, models and prices, shared by several commands."""

from typing import TYPE_CHECKING

import click

from compactctl.asks import MAY, POLICY, READS, SHOWN
from compactctl.cli.opt import Opt, opt
from compactctl.cli.options.completion import complete_profile
from compactctl.errors import UsageError

if TYPE_CHECKING:
    from compactctl.profiles.profile import Profile
    from compactctl.tokens.models.prices import PriceTable


def _load_profiles(
    context: click.Context,
    parameter: click.Parameter,
    values: tuple[str, ...],
) -> tuple["Profile", ...]:
    if not values or context.resilient_parsing:
        return ()
    from compactctl.profiles.registry import load_profile

    try:
        return tuple(map(load_profile, values))
    except UsageError as error:
        raise click.BadParameter(str(error), context, parameter) from error


PROFILES = opt(
    "profiles",
    POLICY,
    MAY,
    "Simulate this profile (repeatable). [default: all that auto-compact]",
    flag="--profile",
    path="settings",
    metavar="NAME|FILE",
    multiple=True,
    shell_complete=complete_profile,
    callback=_load_profiles,
)


def prices_option(purpose: str, effect: str = "") -> Opt:
    """Return ``--prices``; its help begins with ``purpose`` and ends with ``effect``."""
    help_text = (
        f"{purpose}, by published prices or your own table. FILE is TOML or JSON: "
        '"my-model" = {input = 2.5, output = 15, cache_read = 0.25}. '
    )
    return opt(
        "prices",
        SHOWN,
        READS,
        (help_text + effect).rstrip(),
        path="settings",
        metavar="FILE|builtin",
        callback=_load_prices,
    )


def _load_prices(
    context: click.Context,
    parameter: click.Parameter,  # noqa: ARG001
    value: str | None,
) -> "PriceTable | None":
    if value is None or context.resilient_parsing:
        return None
    from compactctl.commands.measuring.user_tables import load_prices

    return load_prices(value)
