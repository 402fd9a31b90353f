"""One command line option for every option of every stage, made from the stages themselves."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from compactctl.cli.opt import OptGroup, StageOption
from compactctl.cli.options.values import ShareRange
from compactctl.commands.planning.plan import StageSettings
from compactctl.model.operation import OptionValue
from compactctl.stages.support.option_field import OptionField, OptionKind, options_of
from compactctl.stages.support.stage import Stage

F = TypeVar("F", bound=Callable[..., Any])

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

    Those that are given arrive as ``settings``: options by stage, values by option.
    """

    def settings(**values: OptionValue) -> StageSettings:
        return settings_of(stages, values)

    return OptGroup("settings", *each_stage_option(*stages), make=settings)


def each_stage_option(*stages: Stage[Any]) -> list[StageOption]:
    """Return the click options of these stages."""
    of_stages = [options_of(stage) for stage in stages]
    return [_option(each, own) for own in of_stages for each in own]


def settings_of(stages: Sequence[Stage[Any]], values: Mapping[str, OptionValue]) -> StageSettings:
    """Return the options that are given, by stage, out of the values of all of them."""
    settings: dict[str, dict[str, OptionValue]] = {}
    for option in (each for stage in stages for each in options_of(stage)):
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
    """Return the help; names of other options of the stage in it become flags."""
    names = {each.name for each in siblings}
    return _CODE.sub(lambda m: _flag(option.stage, m[1]) if m[1] in names else m[1], option.help)


def _default(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value) or "none"
