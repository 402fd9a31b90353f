"""Types of option values that click does not have."""

from collections.abc import Callable
from math import isfinite
from typing import Any

import click

from compactctl.errors import UsageError
from compactctl.tokens.budget import parse_share


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


class ShareOfSize(click.ParamType):  # type: ignore[type-arg]  # older click has no arguments
    """A share, ``30%`` or ``0.3``, as a number from 0 to 1."""

    name = "share"

    def convert(
        self,
        value: Any,  # noqa: ANN401
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Return the number; click.BadParameter for anything else."""
        text = str(value)
        try:
            return 0.0 if text.strip().rstrip("%") == "0" else parse_share(text)
        except UsageError as error:
            self.fail(str(error), param, ctx)


class CheckedText(click.ParamType):  # type: ignore[type-arg]  # older click has no arguments
    """A text that ``parse`` understands, kept as it is.

    What ``parse`` raises as UsageError is told with the name of the option, and with the settings
    file that it stands in.
    """

    name = "text"

    def __init__(self, parse: Callable[[str], object]) -> None:
        self.parse = parse

    def convert(
        self,
        value: Any,  # noqa: ANN401
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        """Return the text; click.BadParameter for one that means nothing."""
        text = str(value)
        try:
            self.parse(text)
        except UsageError as error:
            self.fail(str(error), param, ctx)
        return text
