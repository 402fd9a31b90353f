"""``compactctl rescue``."""

from compactctl.cli.command import emit, plain_command, working
from compactctl.cli.opt import MAY, ONE_RUN, OUTPUT, READS, SIZE, SUMMARIES, WRITES, flag, opt
from compactctl.cli.options.file_argument import SESSION
from compactctl.cli.options.input import LIMITS
from compactctl.cli.options.output import NATIVE, SHOWN_AS, WHILE_OPEN
from compactctl.cli.options.values import ParsedText
from compactctl.commands.compact.presets import RescueOptions, rescue
from compactctl.commands.harness.overflow import overflow
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import UsageError
from compactctl.profiles.overflow.overflow import Overflow
from compactctl.store.files.limits import ReadLimits
from compactctl.tokens.budget import TargetSize, parse_target

_HELP = """Make room in a session whose context is full.

SESSION is a file or what compactctl sessions lists; without it, the session that changed last.
It is compacted as compactctl compact does it, down to half of what its client takes, so that
there is room to work: as a new session, with the old one as it was, or with --native by appending
to it. The last line is the command that goes on with it, and compactctl rewind has every byte back.
What was rescued before and has not changed since is not written a second time.
"""


@plain_command(
    SESSION,
    opt(
        "from_error",
        SIZE,
        READS,
        "What the client or the provider said; a size that it names is gone by.",
        path="settings",
        metavar="TEXT|FILE",
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
    flag("force", OUTPUT, WRITES, "Overwrite what compactctl did not write.", short="-f"),
    flag("dry_run", OUTPUT, WRITES, "Do everything but write.", short="-n"),
    LIMITS,
    SHOWN_AS,
    help=_HELP,
)
def rescue_command(
    path: str,
    *,
    from_error: str | None,
    target: TargetSize | None,
    redo: bool,
    output: str | None,
    in_place: bool,
    native: bool,
    while_open: bool,
    force: bool,
    dry_run: bool,
    limits: ReadLimits,
    shown_as: str,
) -> None:
    """Run ``compactctl rescue``."""
    options = RescueOptions(
        input=InputOptions(path=path, limits=limits),
        overflow=_overflow(from_error),
        target=target,
        redo=redo,
        output=output,
        in_place=in_place,
        native=native,
        while_open=while_open,
        force=force,
        dry_run=dry_run,
    )
    with working("compacting", path, shown_as):
        result = rescue(options)
    emit(result, shown_as)


def _overflow(error: str | None) -> Overflow | None:
    """Read what was said; UsageError for what another size of the context does not help against."""
    found = overflow(error) if error is not None else None
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
