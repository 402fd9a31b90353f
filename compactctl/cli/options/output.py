"""Options about what is written, and in which form a result is shown."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypeVar

import click

from compactctl.cli.opt import ONE_RUN, OUTPUT, SHOWN, WRITES, flag, opt
from compactctl.cli.options.sections import is_typed
from compactctl.cli.options.together import with_options
from compactctl.errors import UsageError
from compactctl.reports.registry import OUTPUTS, TERMINAL

F = TypeVar("F", bound=Callable[..., Any])
L = TypeVar("L", bound=str)

# Standard input as FILE, standard output as --output.
STANDARD_STREAM = "-"


def shown_as_options(function: F) -> F:
    """Add a flag for every output that has to be asked for, such as ``--json``.

    The one asked for, or the terminal, arrives as ``shown_as``.
    """
    options = [
        flag(
            f"as_{name}",
            SHOWN,
            ONE_RUN,
            output.help,
            flag=f"--{name}",
            expose_value=False,
            callback=partial(_show_as, name),
        )
        for name, output in OUTPUTS.items()
        if output.help
    ]
    return with_options(function, options)


def _show_as(name: str, context: click.Context, parameter: click.Parameter, asked: bool) -> None:  # noqa: ARG001
    context.params["shown_as"] = name if asked else context.params.get("shown_as", TERMINAL)


def one_document(output: str | None, shown_as: str) -> str:
    """Return how the result is shown where a transcript may go to standard output.

    That leaves no room there for a document, and UsageError is raised where one is asked for on
    the command line.
    """
    if shown_as == TERMINAL or output != STANDARD_STREAM:
        return shown_as
    if is_typed(f"as_{shown_as}"):
        raise UsageError(
            f"--{shown_as} and a transcript both need standard output; name a file with -o"
        )
    return TERMINAL


NATIVE = flag(
    "native",
    OUTPUT,
    WRITES,
    "Append to the session itself what makes its client send less; no byte of it "
    "changes. For Claude Code, Codex and pi.",
)


WHILE_OPEN = flag(
    "while_open",
    OUTPUT,
    WRITES,
    "Append to a session (--native) though its client has it open, or nothing tells "
    "whether it has; it reads that when it resumes the session.",
)


def layout_options(*, messages: bool = False, piped: bool = True) -> Callable[[F], F]:
    """Add the options that say what a compacted transcript looks like.

    With ``messages`` there is a layout ``messages`` as well: what is sent, and nothing else.
    ``piped`` tells whether the transcript may go to standard output.
    """
    what = "Put originals into an archive beside the output, or leave them in it with tags"
    more = ", or print the messages that are sent and nothing else (-o -)" if messages else ""
    options = (
        opt(
            "layout",
            OUTPUT,
            WRITES,
            f"{what}{more}.",
            type=click.Choice(["split", "inline", *(["messages"] if messages else [])]),
            default="split",
            show_default="split; inline into a pipe" if piped else True,
        ),
        opt(
            "tags",
            OUTPUT,
            WRITES,
            "Write tags into the output. [default: tags]",
            flag="--tags/--no-tags",
            default=True,
        ),
    )
    return lambda function: with_options(function, options)


def layout_into(output: str | None, layout: L) -> L | Literal["inline"]:
    """Return the layout; a pipe has no folder for an archive, so there originals go along.

    One that is typed stays, and the one of no archive at all.
    """
    is_free = layout == "split" and not is_typed("layout")
    return "inline" if is_free and output == STANDARD_STREAM else layout
