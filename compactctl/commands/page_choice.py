"""The page to write besides a command's result."""

from compactctl.asks import ONE_RUN, OUTPUT, PRIVACY, SUMMARIZES, WRITES, ask, flag
from compactctl.records import Record


class PageChoice(Record):
    """A page to write; ``force`` overwrites files not written by compactctl."""

    path: str = ask(
        "",
        "Write a self-contained HTML page to this file.",
        OUTPUT,
        WRITES,
        flag="--html",
        path="here",
        metavar="FILE",
    )
    redact: bool = flag("Omit transcript text and names from the page.", PRIVACY, ONE_RUN)
    mask: bool = flag(
        "Mask keys, tokens and passwords in the page. [default: mask-secrets]",
        PRIVACY,
        SUMMARIZES,
        default=True,
        flag="--mask-secrets/--no-mask-secrets",
    )
    force: bool = False
