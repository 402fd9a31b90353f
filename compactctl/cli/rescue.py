"""``compactctl rescue``."""

from compactctl.cli.command import command
from compactctl.cli.opt import (
    MAY,
    ONE_RUN,
    OUTPUT,
    READS,
    SIZE,
    SUMMARIES,
    WRITES,
    OptGroup,
    flag,
    opt,
)
from compactctl.cli.options.file_argument import SESSION
from compactctl.cli.options.input import LIMITS
from compactctl.cli.options.output import DRY_RUN, FORCE, NATIVE, SHOWN_AS, WHILE_OPEN
from compactctl.cli.options.values import ParsedText
from compactctl.commands.compact.presets import RescueOptions, RescueResult, rescue
from compactctl.commands.harness.overflow import overflow
from compactctl.errors import UsageError
from compactctl.profiles.overflow.overflow import Overflow
from compactctl.tokens.budget import parse_target

_HELP = """Make room in a session whose context is full.

SESSION is a file or what compactctl sessions lists; without it, the session that changed last.
It is compacted as compactctl compact does it, down to half of what its client takes, so that
there is room to work: as a new session, with the old one as it was, or with --native by appending
to it. The last line is the command that goes on with it, and compactctl rewind has every byte back.
What was rescued before and has not changed since is not written a second time.
"""


def _overflow(from_error: str | None) -> Overflow | None:
    """Read what was said; UsageError for what another size of the context does not help against."""
    found = overflow(from_error) if from_error is not None else None
    if found is None or found.overflow:
        return found
    if found.pattern is not None:
        raise UsageError(
            "--from-error: this is a rate limit or a quota, which a smaller context does not "
            "lift; see compactctl overflow"
        )
    raise UsageError(
        "--from-error: this is not known to be about a context that is too long; leave it out to "
        "compact the session all the same"
    )


@command(
    RescueOptions,
    SESSION,
    OptGroup(
        "overflow",
        opt(
            "from_error",
            SIZE,
            READS,
            "What the client or the provider said; a size that it names is gone by.",
            path="settings",
            metavar="TEXT|FILE",
        ),
        make=_overflow,
    ),
    opt(
        "target",
        SIZE,
        MAY,
        "Another size to reach: a share of the window (60%, 0.6) or tokens (60000, 60k).",
        type=ParsedText(parse_target),
        metavar="SIZE",
    ),
    flag(
        "redo",
        SUMMARIES,
        ONE_RUN,
        "Start from the originals of what the client itself compacted, instead of its summaries.",
    ),
    opt(
        "output",
        OUTPUT,
        WRITES,
        "Write a file elsewhere instead.",
        short="-o",
        path="here",
        metavar="FILE",
    ),
    flag("in_place", OUTPUT, WRITES, "Replace the session itself; it is archived."),
    NATIVE,
    WHILE_OPEN,
    FORCE,
    DRY_RUN,
    LIMITS,
    SHOWN_AS,
    help=_HELP,
    doing="compacting",
)
def rescue_command(options: RescueOptions) -> RescueResult:
    """Run ``compactctl rescue``."""
    return rescue(options)
