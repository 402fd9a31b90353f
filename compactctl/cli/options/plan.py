"""Options that choose stages, target and what is left alone."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from compactctl.cli.opt import MAY, POLICY, PROTECTED, READS, SIZE, SUMMARIES, OptGroup, flag, opt
from compactctl.cli.options.completion import complete_stages
from compactctl.cli.options.stages import each_stage_option, settings_of
from compactctl.cli.options.summarizer import TEMPLATE, with_template
from compactctl.cli.options.values import ParsedText
from compactctl.commands.harness.overflow import overflow
from compactctl.commands.planning.plan import PlanOptions, stage_list
from compactctl.errors import UsageError
from compactctl.history.protection import ProtectOptions
from compactctl.model.operation import OptionValue
from compactctl.model.summary import GivenTexts
from compactctl.profiles.overflow.overflow import Overflow
from compactctl.stages.registry import ALL_STAGES
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.lines import open_input
from compactctl.tokens.budget import TargetSize, parse_share, parse_target
from compactctl.tokens.trigger import Trigger, parse_trigger

STAGES = ", ".join(stage.name for stage in ALL_STAGES)
F = TypeVar("F", bound=Callable[..., Any])


def _plan(
    *,
    stages: tuple[str, ...] | None,
    target: TargetSize | None,
    keep: float | None,
    trigger: Trigger | None,
    if_needed: bool,
    from_error: str | None,
    summary_file: str | None,
    template: str | None,
    **of_stages: OptionValue,
) -> PlanOptions:
    """Return the plan that is asked for.

    Raises UsageError for an error that is about something else, NoInputError for the summary file.
    """
    plan = PlanOptions(
        stages=stages or (),
        target=target,
        keep=keep,
        trigger=trigger,
        if_needed=if_needed,
        overflow=_overflow(from_error),
        settings=settings_of(ALL_STAGES, of_stages),
        texts=GivenTexts(summary=_summary(summary_file)),
    )
    return with_template(plan, template)


def _overflow(error: str | None) -> Overflow | None:
    """Read the error to recover from. Raises UsageError when it is about something else."""
    if error is None:
        return None
    found = overflow(error)
    if not found.overflow:
        advice = "see compactctl overflow, and compact without it"
        if found.retryable:
            advice = found.note or "wait: the same request can succeed later"
        raise UsageError(
            f"--from-error: this is not an error about a context that is too long; {advice}"
        )
    return found


def _summary(path: str | None) -> str:
    if path is None:
        return ""
    return open_input(path, TEXT_LIMITS).data.decode("utf-8", "replace").strip()


PLAN = OptGroup(
    "plan",
    opt(
        "stages",
        POLICY,
        MAY,
        f"Run exactly these stages in this order ({STAGES}).",
        type=ParsedText(stage_list),
        metavar="LIST",
        shell_complete=complete_stages,
    ),
    opt(
        "target",
        SIZE,
        MAY,
        "Stop as soon as the context is this small: a share of the window (60%, 0.6; with "
        "--profile of its available input) or tokens (60000, 60k).",
        type=ParsedText(parse_target),
        metavar="SIZE",
    ),
    opt(
        "keep",
        SIZE,
        MAY,
        "Stop as soon as so much of each conversation is left, instead of --target: 30% "
        "or 0.3 of its tokens. The system prompt and definitions of tools are kept beside it.",
        type=ParsedText(parse_share),
        metavar="SHARE",
    ),
    opt(
        "trigger",
        SIZE,
        MAY,
        "When compaction is due: a share of what --fail-base says (0.8), tokens (60k), "
        "'turns>20', conditions joined with or, or always. Without --stages and --target it is "
        "also the size to compact down to. [default: that of the profile, 0.8]",
        type=ParsedText(parse_trigger),
        metavar="WHEN",
    ),
    flag("if_needed", SIZE, MAY, "Change nothing unless compaction is due."),
    opt(
        "from_error",
        SIZE,
        READS,
        "Recover from this error of a provider that the context was too long: down to "
        "70 % of the available input, and by a tenth more than was too much.",
        path="settings",
        metavar="TEXT|FILE",
    ),
    opt(
        "summary_file",
        SUMMARIES,
        READS,
        "Text for the summarize stage instead of the built-in summary.",
        path="settings",
        metavar="FILE",
    ),
    TEMPLATE,
    *each_stage_option(*ALL_STAGES),
    make=_plan,
)

PROTECT = OptGroup(
    "protect",
    opt(
        "tools",
        PROTECTED,
        MAY,
        "Leave calls and results of this tool alone (repeatable).",
        flag="--protect-tool",
        metavar="NAME",
        multiple=True,
    ),
    opt(
        "pins",
        PROTECTED,
        MAY,
        "Leave messages with this id or with this pattern in their text alone (repeatable).",
        flag="--pin",
        metavar="ID|REGEX",
        multiple=True,
    ),
    opt(
        "keep_turns",
        PROTECTED,
        MAY,
        "Leave the newest N turns alone. [default: the newest turn's prompt and its "
        "newest 10 steps]",
        type=click.IntRange(min=0),
        metavar="N",
    ),
    opt(
        "freeze_before",
        PROTECTED,
        MAY,
        "Leave everything before this message, or the first N messages, as it is, so that "
        "a prompt cache still holds for it.",
        metavar="ID|N",
        default="",
    ),
    opt(
        "keep_prefix",
        PROTECTED,
        MAY,
        "Leave the oldest messages as they are, as many as fit into this part of the size "
        "to reach (10% or 0.1), so that a prompt cache still holds for them.",
        type=ParsedText(parse_share),
        metavar="SHARE",
    ),
    make=ProtectOptions,
)
