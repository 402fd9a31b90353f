"""Options that choose stages, target and what is left alone."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from compactctl.cli.options.completion import complete_stages
from compactctl.cli.options.shared import profile_option
from compactctl.cli.options.summarizer import (
    SummarizerParameters,
    template_option,
    with_template,
)
from compactctl.cli.options.together import together
from compactctl.cli.options.values import CheckedText, ParsedText
from compactctl.commands.harness.overflow import overflow
from compactctl.commands.planning.plan import PlanOptions, StageSettings, stage_list
from compactctl.errors import UsageError
from compactctl.history.protection import ProtectOptions
from compactctl.profiles.overflow.overflow import Overflow
from compactctl.profiles.profile import Profile
from compactctl.stages.registry import ALL_STAGES
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.lines import open_input
from compactctl.tokens.budget import parse_share, parse_target
from compactctl.tokens.trigger import parse_trigger

STAGES = ", ".join(stage.name for stage in ALL_STAGES)
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanParameters:
    """Which stages are to run down to which size, as the options say it; see their help."""

    profile: Profile | None
    stages: str | None
    target: str | None
    keep: str | None
    trigger: str | None
    if_needed: bool
    from_error: str | None
    summary_file: str | None
    template: str | None


def plan_options(function: F) -> F:
    """Add the options that choose stages and target; they arrive as ``plan: PlanParameters``."""
    options = (
        profile_option,
        click.option(
            "--stages",
            type=CheckedText(stage_list),
            metavar="LIST",
            shell_complete=complete_stages,
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
    return together("plan", PlanParameters, options)(function)


def plan_from(
    asked: PlanParameters, settings: StageSettings, summarizer: SummarizerParameters
) -> PlanOptions:
    """Return the plan that is asked for.

    Raises UsageError for a stage or size that means nothing, NoInputError for the summary file.
    """
    target, keep = _size(asked)
    plan = PlanOptions(
        stages=stage_list(asked.stages) if asked.stages is not None else (),
        target=parse_target(target) if target is not None else None,
        keep=parse_share(keep) if keep is not None else None,
        profile=asked.profile,
        trigger=parse_trigger(asked.trigger) if asked.trigger is not None else None,
        if_needed=asked.if_needed,
        overflow=_overflow(asked.from_error),
        settings=settings,
    )
    if asked.summary_file and summarizer.asked:
        raise UsageError(f"--summary-file and {summarizer.asked} contradict each other; choose one")
    return with_template(_with_summary(plan, asked.summary_file), asked.template)


def _size(asked: PlanParameters) -> tuple[str | None, str | None]:
    """Return target and keep, of which one says how small; one that is typed goes before."""
    target, keep = asked.target, asked.keep
    if keep is not None and asked.from_error is not None:
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
    """Add the options that say what is left alone; they arrive as ``protect: ProtectOptions``."""
    options = (
        click.option(
            "--protect-tool",
            "tools",
            metavar="NAME",
            multiple=True,
            help="Leave calls and results of this tool alone (repeatable).",
        ),
        click.option(
            "--pin",
            "pins",
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
        click.option(
            "--keep-prefix",
            type=ParsedText(parse_share),
            metavar="SHARE",
            help="Leave the oldest messages as they are, as many as fit into this part of the size "
            "to reach (10% or 0.1), so that a prompt cache still holds for them.",
        ),
    )
    return together("protect", ProtectOptions, options)(function)
