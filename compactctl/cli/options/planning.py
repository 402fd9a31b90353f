"""Options that choose stages, target and protected messages."""

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from compactctl.asks import MAY, PLAN_FILES, POLICY, PROTECTED, READS, SUMMARIES, WRITES
from compactctl.cli.opt import Opt, OptGroup, ParsedText, ShareRange, StageOption, flag, opt
from compactctl.cli.options.completion import complete_stages
from compactctl.cli.options.summaries import TEMPLATE, with_template
from compactctl.cli.set_option import SET
from compactctl.commands.harness.overflow import overflow
from compactctl.commands.planning.plan import PlanOptions, StageSettings, stage_list
from compactctl.errors import UsageError
from compactctl.history.protection import ProtectOptions
from compactctl.model.operation import OptionValue
from compactctl.model.summary import SummaryInputs
from compactctl.profiles.overflow import Overflow
from compactctl.stages.registry import ALL_STAGES
from compactctl.stages.support.stage import OptionField, OptionKind, Stage, options_of
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.source import open_input
from compactctl.tokens.budget import TargetSize, parse_share, parse_target
from compactctl.tokens.trigger import Trigger, parse_trigger

if TYPE_CHECKING:
    from compactctl.commands.planning.plan_file import PlanFile


# In quotes, as older click has no arguments.
_TYPES: Mapping[OptionKind, "click.ParamType[Any]"] = {
    "count": click.IntRange(min=0),
    "share": ShareRange(0, 1),
    "text": click.STRING,
    "texts": click.STRING,
}
_METAVARS: Mapping[OptionKind, str] = {
    "count": "N",
    "share": "SHARE",
    "text": "TEXT",
    "texts": "TEXT",
}
_CODE = re.compile(r"``(.*?)``")


def stage_options(*stages: Stage[Any]) -> OptGroup:
    """Return ``--<stage>-<option>`` for these stages.

    The options that were set are passed as ``settings``: values by stage and option.
    """

    def settings(**values: OptionValue) -> StageSettings:
        return settings_of(stages, values)

    return OptGroup("settings", SET, *stage_opts(*stages), make=settings)


def stage_opts(*stages: Stage[Any]) -> list[StageOption]:
    """Return the click options of these stages."""
    options_by_stage = [options_of(stage) for stage in stages]
    return [_option(option, options) for options in options_by_stage for option in options]


def settings_of(stages: Sequence[Stage[Any]], values: Mapping[str, OptionValue]) -> StageSettings:
    """Return the options that were set, by stage."""
    settings: dict[str, dict[str, OptionValue]] = {}
    for option in chain.from_iterable(map(options_of, stages)):
        value = values[f"{option.stage}_{option.name}"]
        if value is not None and value != ():
            settings.setdefault(option.stage, {})[option.name] = value
    return settings


def _option(option: OptionField, siblings: Sequence[OptionField]) -> StageOption:
    if option.kind == "switch":
        return _switch(option, siblings)
    is_choice = option.kind == "choice"
    return StageOption(
        _flag(option.stage, option.name),
        type=click.Choice(option.choices) if is_choice else _TYPES[option.kind],
        metavar=None if is_choice else _METAVARS[option.kind],
        multiple=option.kind == "texts",
        field=option,
        help=f"{_help(option, siblings)} [default: {_default(option.default)}]",
    )


def _switch(option: OptionField, siblings: Sequence[OptionField]) -> StageOption:
    flag = _flag(option.stage, option.name)
    return StageOption(
        f"{flag}/--no-{flag.removeprefix('--')}",
        default=None,
        field=option,
        help=f"{_help(option, siblings)} [default: {'on' if option.default else 'off'}]",
    )


def _flag(stage: str, name: str) -> str:
    return f"--{stage}-{name}".replace("_", "-")


def _help(option: OptionField, siblings: Sequence[OptionField]) -> str:
    """Return the help; names of the stage's other options in it become flags."""
    names = {sibling.name for sibling in siblings}
    return _CODE.sub(lambda m: _flag(option.stage, m[1]) if m[1] in names else m[1], option.help)


def _default(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value) or "none"


STAGES = ", ".join(stage.name for stage in ALL_STAGES)


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
    """Return the requested plan.

    Raises UsageError for an error text that is not about the context size, NoInputError for the
    summary file.
    """
    plan = PlanOptions(
        stages=stages or (),
        target=target,
        keep=keep,
        trigger=trigger,
        if_needed=if_needed,
        overflow=_overflow(from_error),
        settings=settings_of(ALL_STAGES, of_stages),
        texts=SummaryInputs(summary=_summary(summary_file)),
    )
    return with_template(plan, template)


def _overflow(error: str | None) -> Overflow | None:
    """Read the error to recover from. Raises UsageError if it is not about the context size."""
    if error is None:
        return None
    reading = overflow(error)
    if not reading.overflow:
        advice = "see compactctl harness overflow, and compact without it"
        if reading.retryable:
            advice = reading.note or "wait: the same request can succeed later"
        raise UsageError(f"--from-error: not recognized as a context overflow; {advice}")
    return reading


def _summary(path: str | None) -> str:
    if path is None:
        return ""
    text = open_input(path, TEXT_LIMITS).data.decode("utf-8", "replace").strip()
    if not text:
        raise UsageError(f"{path}: empty; --summary-file needs the text of a summary")
    return text


PLAN = OptGroup(
    "plan",
    opt(
        "stages",
        POLICY,
        MAY,
        f"Run these stages, in this order (compactctl show stages). Stages: {STAGES}.",
        type=ParsedText(stage_list),
        metavar="LIST",
        shell_complete=complete_stages,
    ),
    opt(
        "target",
        POLICY,
        MAY,
        "Stop at this size: 60k tokens, or 60% of the window. With --profile, of its available "
        "input.",
        type=ParsedText(parse_target),
        metavar="SIZE",
    ),
    opt(
        "keep",
        POLICY,
        MAY,
        "Keep this share of each conversation (30% or 0.3), instead of --target: of all messages "
        "except system prompt and tool definitions.",
        type=ParsedText(parse_share),
        metavar="SHARE",
    ),
    opt(
        "trigger",
        POLICY,
        MAY,
        "When to compact: a share of --fail-base (80%), tokens (60k), 'turns>20', conditions "
        'joined with "or", or always. Without --stages and --target, also the size to compact to. '
        "[default: that of the profile, 0.8]",
        type=ParsedText(parse_trigger),
        metavar="WHEN",
    ),
    flag("if_needed", POLICY, MAY, "Do nothing unless compaction is due."),
    opt(
        "from_error",
        POLICY,
        READS,
        "Recover from this context-overflow error: compact to 70% of the available input, "
        "removing at least 110% of the reported excess.",
        path="settings",
        metavar="TEXT|FILE",
    ),
    opt(
        "summary_file",
        SUMMARIES,
        READS,
        "Use this text as the summary.",
        path="settings",
        metavar="FILE",
    ),
    TEMPLATE,
    SET,
    *stage_opts(*ALL_STAGES),
    make=_plan,
)

PROTECT = OptGroup(
    "protect",
    opt(
        "tools",
        PROTECTED,
        MAY,
        "Never change calls or results of this tool (repeatable).",
        flag="--protect-tool",
        metavar="NAME",
        multiple=True,
    ),
    opt(
        "pins",
        PROTECTED,
        MAY,
        "Never change messages with this id or reference (L158), or matching this regex "
        "(repeatable).",
        flag="--pin",
        metavar="ID|REGEX",
        multiple=True,
    ),
    opt(
        "keep_turns",
        PROTECTED,
        MAY,
        "Never change the newest N turns. [default: the newest turn's prompt and its newest 10 "
        "steps]",
        type=click.IntRange(min=0),
        metavar="N",
    ),
    opt(
        "freeze_before",
        PROTECTED,
        MAY,
        "Never change anything before this message (or the first N messages), so that its prompt "
        "cache stays valid.",
        metavar="ID|N",
        default="",
    ),
    opt(
        "keep_prefix",
        PROTECTED,
        MAY,
        "Never change the oldest messages, up to this share of the target size (10% or 0.1), so "
        "that their prompt cache stays valid.",
        type=ParsedText(parse_share),
        metavar="SHARE",
    ),
    make=ProtectOptions,
)


def plan_option(text: str) -> Opt:
    """Return ``--plan`` with the help ``text``; it is passed as ``planned``."""
    return opt("planned", PLAN_FILES, READS, text, flag="--plan", path="settings", metavar="FILE")


def read_plan_option(path: str | None) -> "PlanFile | None":
    """Read the plan to apply, None without one. Raises as ``read_plan`` does."""
    if path is None:
        return None
    from compactctl.commands.planning.plan_file import read_plan

    return read_plan(path)


PLAN_FILE = plan_option(
    "Apply this plan, which --plan-out wrote and you may have edited, instead of running stages."
)
PLAN_OUT = opt(
    "plan_out",
    PLAN_FILES,
    WRITES,
    "Write a plan for each message to this file, to edit and apply with --plan.",
    path="here",
    metavar="FILE",
)
