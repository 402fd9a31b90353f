"""Options that choose stages, target and what is left alone."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from compactctl.cli.options.shared import profile_option, with_options
from compactctl.cli.options.stages import stage_settings
from compactctl.cli.options.summarizer import check_one_writer, template_option, with_template
from compactctl.cli.options.values import CheckedText
from compactctl.commands.harness.overflow import overflow
from compactctl.commands.planning.plan import PlanOptions, stage_list
from compactctl.errors import UsageError
from compactctl.history.protection import ProtectOptions
from compactctl.profiles.overflow.overflow import Overflow
from compactctl.stages.registry import ALL_STAGES
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.lines import open_input
from compactctl.tokens.budget import parse_share, parse_target
from compactctl.tokens.trigger import parse_trigger

STAGES = ", ".join(stage.name for stage in ALL_STAGES)
F = TypeVar("F", bound=Callable[..., Any])


def plan_options(function: F) -> F:
    """Add the options that choose stages and target."""
    options = (
        profile_option,
        click.option(
            "--stages",
            type=CheckedText(stage_list),
            metavar="LIST",
            help=f"Run exactly these stages in this order ({STAGES}).",
        ),
        click.option(
            "--target",
            type=CheckedText(parse_target),
            metavar="SIZE",
            help="Stop as soon as the context is this small: a share of the window (60%, 0.6; with "
            "--profile of its available input) or tokens (60000, 60k).",
        ),
        click.option(
            "--keep",
            type=CheckedText(parse_share),
            metavar="SHARE",
            help="Stop as soon as so much of each conversation is left, instead of --target: 30% "
            "or 0.3 of its tokens.",
        ),
        click.option(
            "--trigger",
            type=CheckedText(parse_trigger),
            metavar="WHEN",
            help="When compaction is due: a share of what --fail-base says (0.8), tokens (60k), "
            "'turns>20', conditions joined with or, or always. Without --stages and --target it is "
            "also the size to compact down to. [default: that of the profile, 0.8]",
        ),
        click.option("--if-needed", is_flag=True, help="Change nothing unless compaction is due."),
        click.option(
            "--from-error",
            metavar="TEXT|FILE",
            help="Recover from this error of a provider that the context was too long: down to "
            "70 % of the available input, and by a tenth more than was too much.",
        ),
        click.option(
            "--summary-file",
            metavar="FILE",
            help="Text for the summarize stage instead of the built-in summary.",
        ),
        template_option,
    )
    return with_options(function, options)


def plan_from(values: dict[str, Any]) -> PlanOptions:
    """Take the plan's values, those of the stages included, out of a command's parameters.

    Raises UsageError for a stage or size that means nothing, NoInputError for the summary file.
    """
    stages, trigger = (values.pop(name) for name in ("stages", "trigger"))
    target, keep = _size(values)
    plan = PlanOptions(
        stages=stage_list(stages) if stages is not None else (),
        target=parse_target(target) if target is not None else None,
        keep=parse_share(keep) if keep is not None else None,
        profile=values.pop("profile"),
        trigger=parse_trigger(trigger) if trigger is not None else None,
        if_needed=values.pop("if_needed"),
        overflow=_overflow(values.pop("from_error")),
        settings=stage_settings(values),
        protect_tools=values["protect_tool"],
    )
    check_one_writer(values)
    return with_template(_with_summary(plan, values.pop("summary_file")), values)


def _size(values: dict[str, Any]) -> tuple[str | None, str | None]:
    """Take out target and keep, of which one says how small; one that is typed goes before."""
    target, keep = values.pop("target"), values.pop("keep")
    if keep is not None and values["from_error"] is not None:
        raise UsageError("--from-error says how small the context has to be; leave out --keep")
    if target is None or keep is None:
        return target, keep
    source = click.get_current_context().get_parameter_source
    typed = [name for name in ("target", "keep") if source(name) is ParameterSource.COMMANDLINE]
    if len(typed) != 1:
        raise UsageError("--target and --keep both say how small; leave out one")
    return (target, None) if typed == ["target"] else (None, keep)


def _overflow(error: str | None) -> Overflow | None:
    """Read the error to recover from. Raises UsageError when it is about something else."""
    if error is None:
        return None
    found = overflow(error)
    if not found.overflow:
        raise UsageError(
            "--from-error: this is not an error about a context that is too long; see compactctl "
            "overflow, and compact without it"
        )
    return found


def _with_summary(plan: PlanOptions, path: str | None) -> PlanOptions:
    if path is None:
        return plan
    text = open_input(path, TEXT_LIMITS).data.decode("utf-8", "replace").strip()
    return replace(plan, texts=replace(plan.texts, summary=text))


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
        click.option(
            "--freeze-before",
            metavar="ID|N",
            default="",
            help="Leave everything before this message, or the first N messages, as it is, so that "
            "a prompt cache still holds for it.",
        ),
    )
    return with_options(function, options)


def protect_from(values: dict[str, Any]) -> ProtectOptions:
    """Take the values of ``protect_options`` out of a command's parameters."""
    return ProtectOptions(
        keep_turns=values.pop("keep_turns"),
        pins=values.pop("pin"),
        tools=values.pop("protect_tool"),
        freeze_before=values.pop("freeze_before"),
    )
