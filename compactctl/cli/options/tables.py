"""Options about profiles, models and prices, shared by several commands."""

from typing import TYPE_CHECKING

import click

from compactctl.cli.opt import MAY, MEASURED, POLICY, READS, SHOWN, Opt, opt
from compactctl.cli.options.completion import complete_profile
from compactctl.errors import UsageError

if TYPE_CHECKING:
    from compactctl.profiles.profile import Profile
    from compactctl.tokens.models.prices import PriceTable
    from compactctl.tokens.models.user_models import UserModelTable


def _load_profile(
    context: click.Context,
    parameter: click.Parameter,
    value: str | None,
) -> "Profile | None":
    return next(iter(_load_profiles(context, parameter, () if value is None else (value,))), None)


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


PROFILE = opt(
    "profile",
    POLICY,
    MAY,
    "Work the way this system does (compactctl show profiles). FILE is your own profile.",
    path="settings",
    metavar="NAME|FILE",
    shell_complete=complete_profile,
    callback=_load_profile,
)

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


def _load_windows(
    context: click.Context,
    parameter: click.Parameter,  # noqa: ARG001
    value: str | None,
) -> "UserModelTable":
    from compactctl.tokens.models.user_models import NO_USER_MODELS

    if value is None or context.resilient_parsing:
        return NO_USER_MODELS
    from compactctl.commands.measuring.measure import load_user_models

    return load_user_models(value)


WINDOWS = opt(
    "user_models",
    MEASURED,
    MAY,
    "Your own model table (TOML or JSON), checked before the built-in one: "
    '"gpt-4.1" = "1m", or {window = "1m", max_output = "32k", counter = "chars/4"}.',
    flag="--windows",
    path="settings",
    metavar="FILE",
    callback=_load_windows,
)

MAX_TOKENS = opt(
    "max_tokens",
    MEASURED,
    MAY,
    "Tokens reserved for the answer. [default: 35% of the window, at most 64,000]",
    type=click.IntRange(min=1),
    metavar="N",
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
    from compactctl.commands.measuring.measure import load_prices

    return load_prices(value)
