"""Options that name profiles."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from compactctl.cli.opt import MAY, POLICY, opt
from compactctl.cli.options.completion import complete_profile
from compactctl.errors import UsageError

if TYPE_CHECKING:
    from compactctl.profiles.profile import Profile

F = TypeVar("F", bound=Callable[..., Any])


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
    from compactctl.profiles.library import load_profile

    try:
        return tuple(map(load_profile, values))
    except UsageError as error:
        raise click.BadParameter(str(error), context, parameter) from error


PROFILE = opt(
    "profile",
    POLICY,
    MAY,
    "Work as this system does; compactctl profiles lists them. FILE is a profile of your own.",
    path="settings",
    metavar="NAME|FILE",
    shell_complete=complete_profile,
    callback=_load_profile,
)

PROFILES = opt(
    "profiles",
    POLICY,
    MAY,
    "Simulate this profile (repeatable). [default: all that compact by themselves]",
    flag="--profile",
    path="settings",
    metavar="NAME|FILE",
    multiple=True,
    shell_complete=complete_profile,
    callback=_load_profiles,
)
