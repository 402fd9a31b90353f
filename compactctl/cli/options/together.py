"""Options that belong together: one value arrives at the command, not one for each of them."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import click

F = TypeVar("F", bound=Callable[..., Any])


def with_options(function: F, options: Sequence[Callable[[F], F]]) -> F:
    """Add click options to a command in the order in which they are to be listed."""
    for option in reversed(options):
        function = option(function)
    return function


def together(
    name: str, make: Callable[..., object], options: Sequence[Callable[[F], F]]
) -> Callable[[F], F]:
    """Add options whose values arrive as ``name``: what ``make`` makes of them, by keyword."""

    def add(function: F) -> F:
        added: list[click.Parameter] = []

        def command(*arguments: Any, **values: Any) -> Any:  # noqa: ANN401 - a command's
            names = [each.name for each in added if each.name and each.expose_value]
            own = {each: values.pop(each) for each in names}
            return function(*arguments, **values, **{name: make(**own)})

        wrapped: Any = wraps(function)(command)
        before = len(getattr(wrapped, "__click_params__", ()))
        complete: F = with_options(wrapped, options)
        added += wrapped.__click_params__[before:]
        return complete

    return add
