"""Options about how a context is measured, and against what."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from compactctl.cli.opt import (
    COUNTS,
    MAY,
    MEASURED,
    POLICY,
    READS,
    SHOWN,
    FiniteRange,
    Opt,
    OptGroup,
    ParsedText,
    ShareRange,
    opt,
)
from compactctl.cli.options.completion import complete_model, complete_profile
from compactctl.commands.measuring.measure import MeasureOptions, unlisted_model
from compactctl.commands.measuring.next_request import ExtraOptions
from compactctl.errors import UsageError
from compactctl.tokens.counters.choose import COUNTER_NAMES
from compactctl.tokens.fit import Base
from compactctl.tokens.models.windows import parse_window

if TYPE_CHECKING:
    from compactctl.profiles.profile import Profile
    from compactctl.tokens.models.own_models import OwnModels
    from compactctl.tokens.models.prices import Prices


F = TypeVar("F", bound=Callable[..., Any])
COUNTERS = ", ".join(COUNTER_NAMES)


def _measure(**values: Any) -> MeasureOptions:  # noqa: ANN401 - of several options
    """Return the options; warn of a model whose window would be a mere default."""
    measure = MeasureOptions(**values)
    warning = unlisted_model(measure)
    if warning:
        from compactctl.views.terminal.screen import tell

        tell(f"warning: {warning}")
    return measure


def _load_windows(
    context: click.Context,
    parameter: click.Parameter,  # noqa: ARG001
    value: str | None,
) -> "OwnModels":
    from compactctl.tokens.models.own_models import NO_MODELS

    if value is None or context.resilient_parsing:
        return NO_MODELS
    from compactctl.commands.measuring.measure import load_own_models

    return load_own_models(value)


FAIL_OVER = opt(
    "fail_over",
    MEASURED,
    MAY,
    "Exit with 1 when more than this share of what --fail-base says is used, such as 80%.",
    type=ShareRange(min=0),
    metavar="SHARE",
)


FAIL_BASE = opt(
    "base",
    MEASURED,
    MAY,
    "What levels and gates refer to: client (where it compacts by itself), window, or "
    "available (for input). [default: client where that is known and no other profile is "
    "named, else available]",
    flag="--fail-base",
    type=click.Choice(get_args(Base)),
    metavar="BASE",
)


WINDOWS = opt(
    "own",
    MEASURED,
    MAY,
    "A table of models of your own (TOML or JSON), asked before the built-in one: "
    '"gpt-4.1" = "1m", or {window = "1m", max_output = "32k", counter = "chars/4"}.',
    flag="--windows",
    path="settings",
    metavar="FILE",
    callback=_load_windows,
)

MEASURE = OptGroup(
    "measure",
    opt(
        "model",
        MEASURED,
        MAY,
        "Measure against this model instead of the one in the transcript.",
        metavar="NAME",
        shell_complete=complete_model,
    ),
    opt(
        "window",
        MEASURED,
        MAY,
        "Context window in tokens, such as 128k or 131072.",
        type=ParsedText(parse_window),
        metavar="SIZE",
    ),
    WINDOWS,
    opt(
        "max_tokens",
        MEASURED,
        MAY,
        "Tokens kept for the answer. [default: 35 % of the window, at most 64,000]",
        type=click.IntRange(min=1),
        metavar="N",
    ),
    opt(
        "counter",
        MEASURED,
        MAY,
        f"Token counter: {COUNTERS}; each also with a factor "
        '("o200k_base x1.2"). [default: by model]',
        metavar="NAME",
    ),
    opt(
        "counter_cmd",
        MEASURED,
        COUNTS,
        "Count with this command: it reads texts as JSON, one a line, and prints the "
        "tokens of each.",
        metavar="CMD",
    ),
    opt(
        "chars_per_token",
        MEASURED,
        MAY,
        "Count one token for every N characters, such as 3.5, instead of with a counter.",
        type=FiniteRange(min=0, min_open=True),
        metavar="N",
    ),
    opt(
        "image_tokens",
        MEASURED,
        MAY,
        "Count every image as N tokens. [default: by its size, or as the profile's system]",
        type=click.IntRange(min=0),
        metavar="N",
    ),
    make=_measure,
)

EXTRAS = OptGroup(
    "extras",
    opt(
        "system",
        MEASURED,
        READS,
        "Count this system prompt as well.",
        path="settings",
        metavar="FILE",
    ),
    opt(
        "tools",
        MEASURED,
        READS,
        "Count these tool definitions (JSON) as well.",
        path="settings",
        metavar="FILE",
    ),
    opt("prompt", MEASURED, READS, "Count this prompt as well.", metavar="TEXT"),
    opt(
        "attach",
        MEASURED,
        READS,
        "Count this file's text as well (repeatable).",
        path="settings",
        metavar="FILE",
        multiple=True,
    ),
    make=ExtraOptions,
)


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
