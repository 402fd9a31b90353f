"""Options about how a context is measured, and against which limits."""

from typing import TYPE_CHECKING, Any, get_args

import click

from compactctl.cli.opt import (
    COUNTS,
    GATES,
    MAY,
    MEASURED,
    READS,
    FiniteRange,
    OptGroup,
    ParsedText,
    ShareRange,
    opt,
)
from compactctl.cli.options.completion import complete_model
from compactctl.cli.options.tables import MAX_TOKENS, WINDOWS
from compactctl.tokens.counters.selection import COUNTER_NAMES
from compactctl.tokens.fit import LimitBase
from compactctl.tokens.models.token_sizes import parse_window

if TYPE_CHECKING:
    from compactctl.commands.measuring.measure import MeasureOptions
    from compactctl.commands.measuring.next_request import ExtraOptions

COUNTERS = ", ".join(COUNTER_NAMES)


def _measure(**values: Any) -> "MeasureOptions":  # noqa: ANN401 - of several options
    """Return the options; warn about a model whose window is only a default."""
    from compactctl.commands.measuring.measure import MeasureOptions, unlisted_model

    measure = MeasureOptions(**values)
    warning = unlisted_model(measure)
    if warning:
        from compactctl.views.terminal.screen import print_messages

        print_messages(f"warning: {warning}")
    return measure


FAIL_OVER = opt(
    "fail_over",
    GATES,
    MAY,
    "Exit 1 if more than this share of --fail-base is used, e.g. 80%.",
    type=ShareRange(min=0),
    metavar="SHARE",
)


FAIL_BASE = opt(
    "base",
    MEASURED,
    MAY,
    "Limit for levels and gates: client (where it auto-compacts), window, or available (window "
    "minus output reserve). [default: client if known and no other profile is named, else "
    "available]",
    flag="--fail-base",
    type=click.Choice(get_args(LimitBase)),
    metavar="BASE",
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
        "Context window in tokens, e.g. 128k.",
        type=ParsedText(parse_window),
        metavar="SIZE",
    ),
    WINDOWS,
    MAX_TOKENS,
    opt(
        "counter",
        MEASURED,
        MAY,
        f"Count with this counter: {COUNTERS}. Each also with a factor, e.g. "
        '"o200k_base x1.2". [default: by model]',
        metavar="NAME",
    ),
    opt(
        "counter_cmd",
        MEASURED,
        COUNTS,
        "Count with this command. It reads one JSON string per line and prints one token count "
        "per line.",
        metavar="CMD",
    ),
    opt(
        "chars_per_token",
        MEASURED,
        MAY,
        "Count one token for every N characters, e.g. 3.5.",
        type=FiniteRange(min=0, min_open=True),
        metavar="N",
    ),
    opt(
        "image_tokens",
        MEASURED,
        MAY,
        "Count every image as N tokens. [default: by its size, or as the profile says]",
        type=click.IntRange(min=0),
        metavar="N",
    ),
    make=_measure,
)


def _extras(**values: Any) -> "ExtraOptions":  # noqa: ANN401 - of several options
    from compactctl.commands.measuring.next_request import ExtraOptions

    return ExtraOptions(**values)


EXTRAS = OptGroup(
    "extras",
    opt(
        "system",
        MEASURED,
        READS,
        "Also count this system prompt.",
        path="settings",
        metavar="FILE",
    ),
    opt(
        "tools",
        MEASURED,
        READS,
        "Also count these tool definitions (JSON).",
        path="settings",
        metavar="FILE",
    ),
    opt("prompt", MEASURED, READS, "Also count this prompt.", metavar="TEXT"),
    opt(
        "attach",
        MEASURED,
        READS,
        "Also count the text of this file (repeatable).",
        path="settings",
        metavar="FILE",
        multiple=True,
    ),
    make=_extras,
)
