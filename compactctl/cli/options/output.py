"""Options about the files that are written, and how a result is shown."""

from collections.abc import Iterable
from typing import Literal, TypeVar

import click

from compactctl.asks import ONE_RUN, OUTPUT, WRITES
from compactctl.cli.opt import Opt, OptGroup, beside, flag, is_typed, opt
from compactctl.cli.options.asked import asked
from compactctl.commands.page_choice import PageChoice
from compactctl.errors import UsageError
from compactctl.records import replace
from compactctl.views.registry import OUTPUTS, TERMINAL

L = TypeVar("L", bound=str)


def _shown_as(**asked: bool) -> str:
    return next((name for name in OUTPUTS if asked.get(name)), TERMINAL)


SHOWN_AS = beside(
    OptGroup(
        "shown_as",
        *(
            flag(name, OUTPUT, ONE_RUN, output.help)
            for name, output in OUTPUTS.items()
            if output.help
        ),
        make=_shown_as,
    )
)
"""A flag for every output that has to be asked for, such as ``--json``."""


def one_document(output: str | None, shown_as: str) -> str:
    """Return how the result is shown if a transcript may go to standard output.

    A document would collide with it. Raises UsageError if one was requested on the
    command line.
    """
    from compactctl.store.files.source import STANDARD_STREAM

    if shown_as == TERMINAL or output != STANDARD_STREAM:
        return shown_as
    if is_typed(f"--{shown_as}"):
        raise UsageError(
            f"--{shown_as} and a transcript both need standard output; name a file with -o"
        )
    return TERMINAL


NATIVE = flag(
    "native",
    OUTPUT,
    WRITES,
    "Compact by appending to the session file; existing bytes stay unchanged. For Claude Code, "
    "Codex and pi.",
)


WHILE_OPEN = flag(
    "while_open",
    OUTPUT,
    WRITES,
    "With --native, append even if the client has (or may have) the session open. The client "
    "picks it up on the next resume.",
)


CLOSED = flag(
    "closed",
    OUTPUT,
    WRITES,
    "With --native, or to undo it, treat the session as closed even if that cannot be detected. "
    "If nothing was added since, the undo cuts off what was appended.",
)


def layout_option(*, messages: bool = False, piped: bool = True) -> Opt:
    """Return the option for the layout of a compacted transcript.

    With ``messages`` there is a layout ``messages`` too: only what is sent. ``piped`` says whether
    the transcript may go to standard output.
    """
    what = "Put originals into an archive beside the output, or leave them in it with tags"
    more = ", or print only the messages that are sent (-o -)" if messages else ""
    return opt(
        "layout",
        OUTPUT,
        WRITES,
        f"{what}{more}.",
        type=click.Choice(["split", "inline", *(["messages"] if messages else [])]),
        default="split",
        show_default="split; inline into a pipe" if piped else True,
    )


def layout_into(output: str | None, layout: L) -> L | Literal["inline"]:
    """Return the layout; in a pipe, which has no folder for an archive, originals are inline.

    A typed layout is not changed, nor is the one without an archive.
    """
    from compactctl.store.files.source import STANDARD_STREAM

    is_free = layout == "split" and not is_typed("--layout")
    return "inline" if is_free and output == STANDARD_STREAM else layout


OUTPUT_FILE = opt(
    "path",
    OUTPUT,
    WRITES,
    "Write here; - is standard output.",
    flag="--output",
    short="-o",
    path="here",
    metavar="FILE",
)
IN_PLACE = flag("in_place", OUTPUT, WRITES, "Replace FILE; its old bytes are archived.")
TAGS = opt(
    "tags",
    OUTPUT,
    WRITES,
    "Write tags into the output. [default: tags]",
    flag="--tags/--no-tags",
    default=True,
)
DRY_RUN = flag("dry_run", OUTPUT, WRITES, "Show what would happen; write nothing.", short="-n")
FORCE = flag("force", OUTPUT, WRITES, "Overwrite files that compactctl did not write.", short="-f")


def checked_page(
    page: PageChoice | None, reserved: Iterable[str], *, force: bool
) -> PageChoice | None:
    """Return the page with ``force`` set, before any work is done.

    ``reserved`` are the command's other files. Raises UsageError if it cannot be written.
    """
    if page is None:
        return None
    from compactctl.commands.output_files import check_report

    check_report(page.path, reserved, force=force)
    return replace(page, force=force)


def _page(path: str | None, **how: bool) -> PageChoice | None:
    if path is None:
        return None
    from compactctl.store.files.source import STANDARD_STREAM

    if path == STANDARD_STREAM:
        raise UsageError("--html: cannot write to standard output; name a file")
    return PageChoice(path=path, **how)


PAGE = OptGroup("page", *asked(PageChoice, "path", "redact"), make=_page)
"""A page, where secrets are asked about already, or no text stands on it."""

MASKED_PAGE = OptGroup("page", *asked(PageChoice), make=_page)
