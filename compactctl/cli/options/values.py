"""Types of option values that click does not have."""

from collections.abc import Callable
from math import isfinite
from typing import Any

import click

from compactctl.errors import UsageError


class FiniteRange(click.FloatRange):
    """A number in a range; neither infinite nor ``nan``, which click would accept."""

    def convert(
        self,
        value: Any,  # noqa: ANN401
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Return the number; click.BadParameter for anything else."""
        number = float(super().convert(value, param, ctx))
        if not isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return number


class ParsedText(click.ParamType):  # type: ignore[type-arg]  # older click has no arguments
    """What ``parse`` makes of a text.

    What it raises as UsageError is told with the name of the option, and with the settings file
    that it stands in.
    """

    name = "text"

    def __init__(self, parse: Callable[[str], object]) -> None:
        self.parse = parse

    def convert(
        self,
        value: Any,  # noqa: ANN401
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> object:
        """Return what was made of it; click.BadParameter for a text that means nothing."""
        try:
            return self.parse(str(value))
        except UsageError as error:
            self.fail(str(error), param, ctx)


class KnownName(ParsedText):
    """A name that ``parse`` finds something by, kept as it is."""

    def convert(
        self,
        value: Any,  # noqa: ANN401
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        """Return the name; click.BadParameter for one of nothing."""
        super().convert(value, param, ctx)
        return str(value)
