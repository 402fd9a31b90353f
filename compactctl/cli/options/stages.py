"""One command line option for every option of every stage, made from the stages themselves."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import Field, fields
from functools import partial
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import click

from compactctl.cli.options.sections import StageOption
from compactctl.cli.options.together import together
from compactctl.cli.options.values import FiniteRange
from compactctl.commands.planning.plan import StageSettings
from compactctl.model.operation import OptionValue
from compactctl.stages.support.stage import Stage, free_texts, help_of

F = TypeVar("F", bound=Callable[..., Any])

# Every count is at least 0 and every fraction a share.
_TYPES: dict[object, click.IntRange | FiniteRange] = {
    int: click.IntRange(min=0),
    float: FiniteRange(0, 1),
}
_METAVARS = {int: "N", float: "SHARE"}
_CODE = re.compile(r"``(.*?)``")


def stage_options(*stages: Stage[Any]) -> Callable[[F], F]:
    """Add ``--<stage>-<option>`` for these stages.

    Those that are given arrive as ``settings``: options by stage, values by option.
    """
    options = [_option(stage, field) for stage, field in _stage_fields(stages)]
    return together("settings", partial(_settings, stages), options)


def _settings(stages: Sequence[Stage[Any]], **values: OptionValue | None) -> StageSettings:
    settings: dict[str, dict[str, OptionValue]] = {}
    for stage, field in _stage_fields(stages):
        value = values[_parameter(stage, field)]
        if value is not None and value != ():
            settings.setdefault(stage.name, {})[field.name] = value
    return settings


def _stage_fields(stages: Sequence[Stage[Any]]) -> Iterator[tuple[Stage[Any], Field[Any]]]:
    for stage in stages:
        for field in fields(stage.options()):
            yield stage, field


def _parameter(stage: Stage[Any], field: Field[Any]) -> str:
    return f"{stage.name}_{field.name}"


def _option(stage: Stage[Any], field: Field[Any]) -> Callable[[F], F]:
    hint = get_type_hints(stage.options)[field.name]
    if hint is bool:
        return _switch(stage, field)
    several = get_origin(hint) is tuple
    kind = click.Choice(get_args(hint)) if get_origin(hint) is Literal else hint
    return click.option(
        _flag(stage, field.name),
        type=_TYPES.get(hint, str if several else kind),
        metavar=_METAVARS.get(hint, None if isinstance(kind, click.Choice) else "TEXT"),
        multiple=several,
        cls=StageOption,
        stage=stage.name,
        is_text=field.name in free_texts(stage),
        help=f"{_help(stage, field)} [default: {_default(field.default)}]",
    )


def _switch(stage: Stage[Any], field: Field[Any]) -> Callable[[F], F]:
    flag = _flag(stage, field.name)
    return click.option(
        f"{flag}/--no-{flag.removeprefix('--')}",
        default=None,
        cls=StageOption,
        stage=stage.name,
        help=f"{_help(stage, field)} [default: {'on' if field.default else 'off'}]",
    )


def _flag(stage: Stage[Any], name: str) -> str:
    return f"--{stage.name}-{name}".replace("_", "-")


def _help(stage: Stage[Any], field: Field[Any]) -> str:
    names = {each.name for each in fields(stage.options())}
    return _CODE.sub(lambda m: _flag(stage, m[1]) if m[1] in names else m[1], help_of(field))


def _default(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value) or "none"
