"""Options that belong together: one value arrives at the command, not one for each of them."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

from compactctl.cli.opt import Opt

F = TypeVar("F", bound=Callable[..., Any])


def with_options(function: F, options: Sequence[Opt]) -> F:
    """Add click options to a command in the order in which they are to be listed."""
    for option in reversed(options):
        function = option(function)
    return function


def together(name: str, make: Callable[..., object], options: Sequence[Opt]) -> Callable[[F], F]:
    """Add options whose values arrive as ``name``: what ``make`` makes of them, by keyword."""

    def add(function: F) -> F:
        def command(*arguments: Any, **values: Any) -> Any:  # noqa: ANN401 - a command's
            own = {option.place: values.pop(option.place) for option in options}
            return function(*arguments, **values, **{name: make(**own)})

        wrapped: Any = wraps(function)(command)
        complete: F = with_options(wrapped, options)
        return complete

    return add
