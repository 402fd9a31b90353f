"""Options that several commands share."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from compactctl.cli.options.completion import (
    complete_format,
    complete_model,
    complete_profile,
)
from compactctl.cli.options.together import together, with_options
from compactctl.cli.options.values import CheckedText, FiniteRange
from compactctl.commands.sizing.extra_content import ExtraOptions
from compactctl.commands.sizing.measure import MeasureOptions
from compactctl.errors import UsageError
from compactctl.formats.registry import ALL_FORMATS, format_named
from compactctl.reports.registry import OUTPUTS, TERMINAL
from compactctl.store.files.limits import READ_LIMITS, parse_size
from compactctl.tokens.counters.choose import COUNTER_NAMES
from compactctl.tokens.fit import Base
from compactctl.tokens.models.windows import parse_window

if TYPE_CHECKING:
    from compactctl.profiles.profile import Profile
    from compactctl.tokens.models.own_models import OwnModels

F = TypeVar("F", bound=Callable[..., Any])

# Standard input as FILE, standard output as --output.
STANDARD_STREAM = "-"
COUNTERS = ", ".join(COUNTER_NAMES)
FORMATS = ", ".join(each.name for each in ALL_FORMATS)


def format_option(function: F) -> F:
    """Add ``--format``."""
    return click.option(
        "--format",
        "format_name",
        type=CheckedText(format_named),
        metavar="NAME",
        shell_complete=complete_format,
        help=f"Read the transcript as this format instead of detecting it ({FORMATS}).",
    )(function)


def limit_options(function: F) -> F:
    """Add the options that say how large an input may be; they arrive as ``limits``."""
    options = (
        click.option(
            "--max-line",
            metavar="SIZE",
            default="256M",
            show_default=True,
            expose_value=False,
            callback=partial(_limit, "line"),
            help="Refuse a transcript with a longer line, such as 64M or 1G bytes.",
        ),
        click.option(
            "--max-unpacked",
            metavar="SIZE",
            default="2G",
            show_default=True,
            expose_value=False,
            callback=partial(_limit, "unpacked"),
            help="Refuse a transcript that is larger, unpacked if it is compressed.",
        ),
    )
    return with_options(function, options)


def _limit(field: str, context: click.Context, parameter: click.Parameter, value: str) -> None:
    try:
        limit: dict[str, Any] = {field: parse_size(value)}
    except UsageError as error:
        raise click.BadParameter(str(error), context, parameter) from error
    context.params["limits"] = replace(context.params.get("limits", READ_LIMITS), **limit)


def shown_as_options(function: F) -> F:
    """Add a flag for every output that has to be asked for, such as ``--json``.

    The one asked for, or the terminal, arrives as ``shown_as``.
    """
    options = [
        click.option(
            f"--{name}",
            f"as_{name}",
            is_flag=True,
            expose_value=False,
            callback=partial(_show_as, name),
            help=output.help,
        )
        for name, output in OUTPUTS.items()
        if output.help
    ]
    return with_options(function, options)


def _show_as(name: str, context: click.Context, parameter: click.Parameter, asked: bool) -> None:  # noqa: ARG001
    context.params["shown_as"] = name if asked else context.params.get("shown_as", TERMINAL)


def one_document(output: str | None, shown_as: str) -> None:
    """Raise UsageError when both a transcript and a document are to go to standard output."""
    if shown_as != TERMINAL and output == STANDARD_STREAM:
        raise UsageError(
            f"--{shown_as} and a transcript both need standard output; name a file with -o"
        )


def layout_options(function: F) -> F:
    """Add the options that say what a compacted transcript looks like."""
    options = (
        click.option(
            "--layout",
            type=click.Choice(["split", "inline"]),
            default="split",
            show_default=True,
            help="Put originals into an archive beside the output, or leave them in it with tags.",
        ),
        click.option(
            "--tags/--no-tags", default=True, help="Write tags into the output. [default: tags]"
        ),
    )
    return with_options(function, options)


def extra_options(function: F) -> F:
    """Add the options that name what a request holds and its transcript does not, as ``extras``."""
    options = (
        click.option("--system", metavar="FILE", help="Count this system prompt as well."),
        click.option(
            "--tools", metavar="FILE", help="Count these tool definitions (JSON) as well."
        ),
        click.option("--prompt", metavar="TEXT", help="Count this prompt as well."),
        click.option(
            "--attach",
            metavar="FILE",
            multiple=True,
            help="Count this file's text as well (repeatable).",
        ),
    )
    return together("extras", ExtraOptions, options)(function)


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


def fail_over_option(function: F) -> F:
    """Add ``--fail-over``."""
    return click.option(
        "--fail-over",
        type=FiniteRange(min=0),
        metavar="SHARE",
        help="Exit with 1 when more than this share of what --fail-base says is used, such as 0.8.",
    )(function)


def fail_base_option(function: F) -> F:
    """Add ``--fail-base``."""
    return click.option(
        "--fail-base",
        type=click.Choice(get_args(Base)),
        metavar="BASE",
        help="What levels and gates refer to: client (where it compacts by itself), window, or "
        "available (for input). [default: client where that is known and no other profile is "
        "named, else available]",
    )(function)


def strict_option(function: F) -> F:
    """Add ``--strict``."""
    return click.option(
        "--strict", is_flag=True, help="Fail (exit 4) when a line is not understood."
    )(function)


def windows_option(function: F) -> F:
    """Add ``--windows``; it arrives as ``own``, of type ``OwnModels``."""
    return click.option(
        "--windows",
        "own",
        metavar="FILE",
        callback=_load_windows,
        help="A table of models of your own (TOML or JSON), asked before the built-in one: "
        '"gpt-4.1" = "1m", or {window = "1m", max_output = "32k", counter = "chars/4"}.',
    )(function)


def _load_windows(
    context: click.Context,
    parameter: click.Parameter,  # noqa: ARG001
    value: str | None,
) -> "OwnModels":
    from compactctl.tokens.models.own_models import NO_MODELS

    if value is None or context.resilient_parsing:
        return NO_MODELS
    from compactctl.commands.sizing.model_table_file import load_own_models

    return load_own_models(value)


def measure_options(function: F) -> F:
    """Add the options that say what to count with; they arrive as ``measure: MeasureOptions``."""
    options = (
        click.option(
            "--model",
            metavar="NAME",
            shell_complete=complete_model,
            help="Measure against this model instead of the one in the transcript.",
        ),
        click.option(
            "--window",
            type=CheckedText(parse_window),
            metavar="SIZE",
            help="Context window in tokens, such as 128k or 131072.",
        ),
        windows_option,
        click.option(
            "--max-tokens",
            type=click.IntRange(min=1),
            metavar="N",
            help="Tokens kept for the answer. [default: 35 % of the window, at most 64,000]",
        ),
        click.option(
            "--counter",
            metavar="NAME",
            help=f"Token counter: {COUNTERS}; each also with a factor "
            '("o200k_base x1.2"). [default: by model]',
        ),
        click.option(
            "--chars-per-token",
            type=FiniteRange(min=0, min_open=True),
            metavar="N",
            help="Count one token for every N characters, such as 3.5, instead of with a counter.",
        ),
    )
    return together("measure", MeasureOptions, options)(function)
