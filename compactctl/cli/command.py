"""Declares commands: the command line becomes a record of options, and a result is printed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

import click

from compactctl.cli.help import Help, HelpfulCommand
from compactctl.cli.opt import (
    CommandPart,
    build,
    check_places,
    parameters,
    values_beside,
    values_by_place,
)
from compactctl.records import Record
from compactctl.views.registry import (
    OUTPUTS,
    TERMINAL,
    function_at,
    make_page,
    make_view,
    messages_of,
)

if TYPE_CHECKING:
    from compactctl.commands.page_choice import PageChoice
    from compactctl.views.terminal.progress import WorkProgress


T = TypeVar("T", bound=Record)
R = TypeVar("R")


def command(
    makes: type[T],
    *parts: CommandPart,
    help: Help,
    doing: str = "",
    reads: str = "input.path",
) -> Callable[[Callable[[T], object]], click.Command]:
    """Declare a command that takes a record of options and returns the result to show.

    ``makes`` is the type of the record. While the command works, a terminal shows what it is
    ``doing`` with the file that the field ``reads`` of the record names. The result has the exit
    code.
    """
    path_of = attrgetter(reads)

    def with_run(run: Callable[[T], object]) -> click.Command:
        def show(options: T, shown_as: str) -> int:
            with working(doing, path_of(options), shown_as) if doing else nullcontext():
                result = run(options)
            emit(result, shown_as)
            return exit_code_of(result)

        return shown_command(makes, *parts, help=help)(show)

    return with_run


def shown_command(
    makes: type[T],
    *parts: CommandPart,
    help: Help,
) -> Callable[[Callable[..., int | None]], click.Command]:
    """Declare a command that takes a record of options, shows its result and returns the exit code.

    ``makes`` is the type of the record. Options declared with ``beside`` are passed by name: at
    least the output to show the result in.
    """
    check_places(makes, parts)

    def with_run(run: Callable[..., int | None]) -> click.Command:
        def call(placed: Mapping[str, Any]) -> int | None:
            return run(build(makes, placed), **values_beside(placed))

        return _declared(parts, call, help)

    return with_run


def plain_command(
    *parts: CommandPart,
    help: Help,
    kind: type[HelpfulCommand] = HelpfulCommand,
) -> Callable[[Callable[..., int | None]], click.Command]:
    """Declare a command that takes its options by name and returns its exit code."""

    def with_run(run: Callable[..., int | None]) -> click.Command:
        def call(placed: Mapping[str, Any]) -> int | None:
            return run(**{place.rpartition(".")[2]: value for place, value in placed.items()})

        return _declared(parts, call, help, kind)

    return with_run


def _declared(
    parts: Sequence[CommandPart],
    call: Callable[[Mapping[str, Any]], int | None],
    help: Help,
    kind: type[HelpfulCommand] = HelpfulCommand,
) -> click.Command:
    def callback(**values: Any) -> int | None:  # noqa: ANN401 - of any option
        return call(values_by_place(parts, values))

    return kind(help, params=list(parameters(parts)), callback=callback)


def exit_code_of(result: object) -> int:
    """Return the exit code of a result, 0 if it has none."""
    code: int = getattr(result, "exit_code", 0)
    return code


def working(what: str, path: str, shown_as: str) -> "WorkProgress":
    """Show what is being done with a file meanwhile, if the result goes to a terminal."""
    from compactctl.views.terminal.progress import WorkProgress

    return WorkProgress(what, path, enabled=shown_as == TERMINAL)


def emit(
    result: object,
    shown_as: str,
    *,
    piped: Iterable[bytes] | None = None,
    page: "PageChoice | None" = None,
) -> None:
    """Print a result in an output, then its messages to standard error.

    ``shown_as`` is a name in ``OUTPUTS``. ``piped`` are the pieces of a transcript for standard
    output; the result goes to standard error then. ``page`` is written before anything is printed;
    raises as ``write_page`` does.
    """
    written = () if page is None else _write_page(make_page(result, page), page)
    output = OUTPUTS[shown_as]
    function_at(output.print)(make_view(result, output), error=piped is not None)
    if piped is not None:
        from compactctl.views.terminal.screen import write_bytes

        write_bytes(piped)
    lines = (*messages_of(result), *written)
    if lines:
        from compactctl.views.terminal.screen import print_messages

        print_messages(*lines)


def _write_page(text: str, page: "PageChoice") -> tuple[str, ...]:
    """Write a page; return the lines about it."""
    from compactctl.views.pages.page import write_page
    from compactctl.views.terminal.text import line_text, size_text

    warnings = write_page(text, page)
    size = size_text(len(text.encode("utf-8", "backslashreplace")))
    written = f"wrote {line_text(page.path)} (a page of {size}; open it in a browser)"
    return (*(f"warning: {line_text(warning)}" for warning in warnings), written)


class NeverFailing(HelpfulCommand):
    """A command that exits with 0 after any error, which it prints to standard error.

    Clients treat some exit codes of a hook as a refusal, such as 2, our code for wrong options.
    """

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401 - click's
    ) -> click.Context:
        """Read the command line."""
        return _ended_well(
            lambda: super(NeverFailing, self).make_context(info_name, args, parent, **extra)
        )

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        return _ended_well(lambda: super(NeverFailing, self).invoke(ctx))


def _ended_well(do: Callable[[], R]) -> R:
    """Return what is done; say what went wrong instead, and exit with 0."""
    try:
        return do()
    except click.exceptions.Exit:
        raise
    except Exception as error:
        from compactctl.views.terminal.screen import print_messages
        from compactctl.views.terminal.text import one_line

        what = error.format_message() if isinstance(error, click.ClickException) else str(error)
        print_messages(f"compactctl: {one_line(what or type(error).__name__, 500)}")
        raise click.exceptions.Exit(0) from error
