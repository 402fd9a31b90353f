"""Options about how a context is measured, and against what."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from compactctl.cli.options.completion import complete_model
from compactctl.cli.options.together import together
from compactctl.cli.options.values import FiniteRange, ParsedText, ShareRange
from compactctl.commands.sizing.extra_content import ExtraOptions
from compactctl.commands.sizing.measure import MeasureOptions, unlisted_model
from compactctl.tokens.counters.choose import COUNTER_NAMES
from compactctl.tokens.fit import Base
from compactctl.tokens.models.windows import parse_window

if TYPE_CHECKING:
    from compactctl.tokens.models.own_models import OwnModels

F = TypeVar("F", bound=Callable[..., Any])
COUNTERS = ", ".join(COUNTER_NAMES)


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
            type=ParsedText(parse_window),
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
            "--counter-cmd",
            metavar="CMD",
            help="Count with this command: it reads texts as JSON, one a line, and prints the "
            "tokens of each.",
        ),
        click.option(
            "--chars-per-token",
            type=FiniteRange(min=0, min_open=True),
            metavar="N",
            help="Count one token for every N characters, such as 3.5, instead of with a counter.",
        ),
        click.option(
            "--image-tokens",
            type=click.IntRange(min=0),
            metavar="N",
            help="Count every image as N tokens. [default: by its size, or as the profile's "
            "system]",
        ),
    )
    return together("measure", _measure, options)(function)


def _measure(**values: Any) -> MeasureOptions:  # noqa: ANN401 - of several options
    """Return the options; warn of a model whose window would be a mere default."""
    measure = MeasureOptions(**values)
    warning = unlisted_model(measure)
    if warning:
        from compactctl.reports.rendering.screen import tell

        tell(f"warning: {warning}")
    return measure


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


def fail_over_option(function: F) -> F:
    """Add ``--fail-over``."""
    return click.option(
        "--fail-over",
        type=ShareRange(min=0),
        metavar="SHARE",
        help="Exit with 1 when more than this share of what --fail-base says is used, such as 80%.",
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
