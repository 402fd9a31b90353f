"""Options that choose stages, target and protected messages."""

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from compactctl.asks import PLAN_FILES, POLICY, READS, SUMMARIES
from compactctl.cli.opt import Opt, OptGroup, ShareRange, StageOption, build, opt
from compactctl.cli.options.asked import asked
from compactctl.cli.options.summaries import TEMPLATE, with_template
from compactctl.cli.set_option import SET
from compactctl.commands.harness.overflow import overflow
from compactctl.commands.planning.plan import PlanOptions, StageSettings
from compactctl.errors import UsageError
from compactctl.history.protection import ProtectOptions
from compactctl.model.operation import OptionValue
from compactctl.model.summary import SummaryInputs
from compactctl.profiles.overflow import Overflow
from compactctl.stages.registry import ALL_STAGES
from compactctl.stages.support.stage import OptionField, OptionKind, Stage, options_of
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.source import open_input

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


def _plan(
    template: str | None,
    **values: Any,  # noqa: ANN401 - of several options
) -> PlanOptions:
    return with_template(build(PlanOptions, values), template)


def read_error(from_error: str | None) -> Overflow | None:
    """Read the error to recover from; None without one.

    Raises UsageError for one that neither a repair nor a smaller context helps against.
    """
    if from_error is None:
        return None
    error = overflow(from_error)
    if error.overflow or error.refusal is not None:
        return error
    match error.kind:
        case "rate":
            advice = "wait: the same request can succeed later" if error.retryable else "add credit"
            what = f"this is a rate limit or quota error; {error.note or advice}"
        case "refused":
            what = error.note
        case _:
            what = (
                "not recognized as a context overflow or a refusal; is it complete? Without it, "
                "compactctl check names what is refused, and rescue repairs that"
            )
    raise UsageError(f"--from-error: {what}")


def _texts(summary_file: str | None) -> SummaryInputs:
    return SummaryInputs(summary="" if summary_file is None else _summary(summary_file))


def _summary(path: str) -> str:
    text = open_input(path, TEXT_LIMITS).data.decode("utf-8", "replace").strip()
    if not text:
        raise UsageError(f"{path}: empty; --summary-file needs the text of a summary")
    return text


def from_error_option(text: str) -> OptGroup:
    """Return ``--from-error`` with the help ``text``."""
    return OptGroup(
        "error",
        opt("from_error", POLICY, READS, text, path="settings", metavar="TEXT|FILE"),
        make=read_error,
    )


# The error and the summary are read from files here: their fields are below what reads these.
PLAN = OptGroup(
    "plan",
    *asked(PlanOptions),
    from_error_option(
        "Recover from this error. After a context overflow, compact to 70% of the available input, "
        "removing at least 110% of the reported excess; else repair what is refused."
    ),
    OptGroup(
        "texts",
        opt(
            "summary_file",
            SUMMARIES,
            READS,
            "Use this text as the summary.",
            path="settings",
            metavar="FILE",
        ),
        make=_texts,
    ),
    TEMPLATE,
    stage_options(*ALL_STAGES),
    make=_plan,
)

PROTECT = OptGroup("protect", *asked(ProtectOptions))


def plan_option(text: str) -> Opt:
    """Return ``--plan`` with the help ``text``; it is passed as ``planned``.

    It is not a field, since a command also has to know the file's name.
    """
    return opt("planned", PLAN_FILES, READS, text, flag="--plan", path="settings", metavar="FILE")


def read_plan_option(path: str | None) -> "PlanFile | None":
    """Read the plan to apply, None without one. Raises as ``read_plan`` does."""
    if path is None:
        return None
    from compactctl.commands.planning.plan_file import read_plan

    return read_plan(path)
