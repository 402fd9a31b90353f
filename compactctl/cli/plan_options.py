"""Options that choose stages, target and what is left alone."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import click

from compactctl.cli.stage_options import stage_settings
from compactctl.commands.conversations import ProtectOptions
from compactctl.commands.plan import DEFAULT_TRIGGER, PlanOptions, stage_list
from compactctl.stages.registry import ALL_STAGES
from compactctl.store.lines import open_input
from compactctl.tokens.budget import parse_target

STAGES = ", ".join(stage.name for stage in ALL_STAGES)
F = TypeVar("F", bound=Callable[..., Any])


def plan_options(function: F) -> F:
    """Add the options that choose stages and target."""
    options = (
        click.option(
            "--stages",
            metavar="LIST",
            help=f"Run exactly these stages in this order ({STAGES}).",
        ),
        click.option(
            "--target",
            metavar="SIZE",
            help="Stop as soon as the context is this small: a share of the available input (0.6) "
            "or tokens (60000, 60k).",
        ),
        click.option(
            "--trigger",
            type=click.FloatRange(0, 1, min_open=True),
            metavar="SHARE",
            default=DEFAULT_TRIGGER,
            show_default=True,
            help="Without --stages and --target: compact down to this share of the available "
            "input.",
        ),
        click.option(
            "--summary-file",
            metavar="FILE",
            help="Text for the summarize stage instead of the built-in summary.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def plan_from(values: dict[str, Any]) -> PlanOptions:
    """Take the plan's values, those of the stages included, out of a command's parameters.

    Raises UsageError for a stage or size that means nothing, NoInputError for the summary file.
    """
    stages, target = values.pop("stages"), values.pop("target")
    plan = PlanOptions(
        stages=stage_list(stages) if stages is not None else (),
        target=parse_target(target) if target is not None else None,
        trigger=values.pop("trigger"),
        settings=stage_settings(values),
        protect_tools=values["protect_tool"],
    )
    return _with_summary(plan, values.pop("summary_file"))


def _with_summary(plan: PlanOptions, path: str | None) -> PlanOptions:
    if path is None:
        return plan
    text = open_input(path).data.decode("utf-8", "replace").strip()
    summarize = {**plan.settings.get("summarize", {}), "text": text}
    return replace(plan, settings={**plan.settings, "summarize": summarize})


def protect_options(function: F) -> F:
    """Add the options that say what is left alone."""
    options = (
        click.option(
            "--protect-tool",
            metavar="NAME",
            multiple=True,
            help="Leave calls and results of this tool alone (repeatable).",
        ),
        click.option(
            "--pin",
            metavar="ID|REGEX",
            multiple=True,
            help="Leave messages with this id or with this pattern in their text alone "
            "(repeatable).",
        ),
        click.option(
            "--keep-turns",
            type=click.IntRange(min=0),
            metavar="N",
            help="Leave the newest N turns alone. [default: the newest turn's prompt and its "
            "newest 10 steps]",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def protect_from(values: dict[str, Any]) -> ProtectOptions:
    """Take the values of ``protect_options`` out of a command's parameters."""
    return ProtectOptions(
        keep_turns=values.pop("keep_turns"),
        pins=values.pop("pin"),
        tools=values.pop("protect_tool"),
    )
