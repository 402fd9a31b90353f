"""Options that name profiles."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from compactctl.cli.options.completion import complete_profile
from compactctl.errors import UsageError

if TYPE_CHECKING:
    from compactctl.profiles.profile import Profile

F = TypeVar("F", bound=Callable[..., Any])


def profile_option(function: F) -> F:
    """Add ``--profile``; it arrives as a ``Profile`` or None."""
    return click.option(
        "--profile",
        metavar="NAME|FILE",
        shell_complete=complete_profile,
        callback=_load_profile,
        help="Work as this system does; compactctl profiles lists them. FILE is a profile of your "
        "own.",
    )(function)


def profiles_option(function: F) -> F:
    """Add ``--profile`` that may be repeated; it arrives as a tuple of ``Profile``."""
    return click.option(
        "--profile",
        "profiles",
        metavar="NAME|FILE",
        multiple=True,
        shell_complete=complete_profile,
        callback=_load_profiles,
        help="Simulate this profile (repeatable). [default: all that compact by themselves]",
    )(function)


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
