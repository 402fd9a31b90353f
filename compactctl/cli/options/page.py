"""Options about pages that a command writes to be looked at."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

from compactctl.cli.opt import ONE_RUN, OUTPUT, PRIVACY, SUMMARIZES, WRITES, OptGroup, flag, opt
from compactctl.cli.options.output import STANDARD_STREAM
from compactctl.commands.output_files import PageChoice, check_report
from compactctl.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])


_HTML = opt(
    "html",
    OUTPUT,
    WRITES,
    "Write a page to look at to this file: it opens from disk and loads nothing.",
    path="here",
    metavar="FILE",
)
_REDACT = flag(
    "redact", PRIVACY, ONE_RUN, "Leave texts of the transcript, and names in it, out of the page."
)
_MASK = opt(
    "mask_secrets",
    PRIVACY,
    SUMMARIZES,
    "Mask keys, tokens and passwords in the page. [default: mask-secrets]",
    flag="--mask-secrets/--no-mask-secrets",
    default=True,
)


def ready_page(page: PageChoice | None, taken: Iterable[str], *, force: bool) -> PageChoice | None:
    """Return the page with what is known of overwriting, before any work is done.

    ``taken`` are the command's other files. Raises UsageError where it cannot be written.
    """
    if page is None:
        return None
    check_report(page.path, taken, force=force)
    return replace(page, force=force)


def _page(html: str | None, *, redact: bool, mask_secrets: bool = True) -> PageChoice | None:
    if html == STANDARD_STREAM:
        raise UsageError("--html writes a file, which a browser opens; name one")
    return None if html is None else PageChoice(path=html, redact=redact, mask=mask_secrets)


PAGE = OptGroup("page", _HTML, _REDACT, make=_page)
"""A page, where secrets are asked about already, or no text stands on it."""

MASKED_PAGE = OptGroup("page", _HTML, _REDACT, _MASK, make=_page)
