"""Types of option values that click does not have."""

from collections.abc import Callable
from math import isfinite
from typing import Any

import click

from compactctl.errors import UsageError
from compactctl.model.exact import exact


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


class ShareRange(FiniteRange):
    """A share of something, ``80%`` or ``0.8``.

    Where more than all is possible, 80 without a sign would mean 8000% and nobody means that.
    """

    _MOST = 10

    def convert(
        self,
        value: Any,  # noqa: ANN401
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Return the share; click.BadParameter for anything else."""
        text = str(value).strip()
        if text.endswith("%"):
            try:
                percent = float(text[:-1])
                # A fraction, since 0.7 / 100 is a little less than 0.007.
                share = float(exact(percent) / 100) if isfinite(percent) else percent
                return super().convert(share, param, ctx)
            except ValueError:
                self.fail(f"{text!r} is not a share; write it as 80% or 0.8", param, ctx)
        try:
            share = super().convert(float(text), param, ctx)
        except ValueError:
            self.fail(f"{text!r} is not a share; write it as 80% or 0.8", param, ctx)
        if share > self._MOST:
            self.fail(
                f"{text} would be {share:.0%}; write {share:g}% or {share / 100:g}", param, ctx
            )
        return share


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
