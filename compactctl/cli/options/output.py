"""Options about the files that are written, and how a result is shown."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypeVar

from compactctl.asks import ONE_RUN, OUTPUT, WRITES
from compactctl.cli.opt import Opt, OptGroup, beside, flag, is_typed
from compactctl.cli.options.asked import asked
from compactctl.commands.page_choice import PageChoice
from compactctl.errors import UsageError
from compactctl.records import replace
from compactctl.views.registry import OUTPUTS, TERMINAL

if TYPE_CHECKING:
    from compactctl.commands.client_sessions.write import OutputLayout

L = TypeVar("L", bound=str)


def _shown_as(**chosen: bool) -> str:
    return next((name for name in OUTPUTS if chosen.get(name)), TERMINAL)


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
"""A flag for every output that has to be asked for, such as ``--json``; commands do not know it."""


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


def native_option(what: str = "Compact by appending to the session file") -> Opt:
    """Return ``--native``, which is not a field but a layout that a command decides on."""
    return flag(
        "native",
        OUTPUT,
        WRITES,
        f"{what}; existing bytes stay unchanged. For Claude Code, Codex and pi.",
    )


def native_layout(*, native: bool) -> "OutputLayout":
    """Return the layout for ``--native``, where no other may be chosen."""
    return "native" if native else "split"


def layout_into(output: str | None, layout: L) -> L | Literal["inline"]:
    """Return the layout; in a pipe, which has no folder for an archive, originals are inline.

    A typed layout is not changed, nor is the one without an archive.
    """
    from compactctl.store.files.source import STANDARD_STREAM

    is_free = layout == "split" and not is_typed("--layout")
    return "inline" if is_free and output == STANDARD_STREAM else layout


# A field of the options of several commands.
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
