"""The shapes that values in settings files must have: those of the options that they set."""

import click

from compactctl.cli.opt import StageOption
from compactctl.cli.options.values import ShareRange
from compactctl.model.shapes import Shape, finite, list_of, switch, whole, word

_MOST_VALUES = 10_000


def shape_of(option: click.Option) -> Shape:
    """Return the shape of what a file may give an option; its range and meaning are the option's.

    Options of stages take what profiles give them.
    """
    if isinstance(option, StageOption):
        return option.field.read
    shape = _shape_of_one(option)
    return list_of(shape, _MOST_VALUES) if option.multiple else shape


def _shape_of_one(option: click.Option) -> Shape:
    if option.is_flag:
        return switch
    match option.type:
        case ShareRange():
            return _share
        case click.types.IntParamType():
            return whole
        case click.types.FloatParamType():
            return finite
        case _:
            return word


def _share(value: object) -> object:
    """Take a number, or a text such as 80%."""
    return value if isinstance(value, str) else finite(value)
