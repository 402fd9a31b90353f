"""``compactctl verify``."""

from compactctl.cli.command import command
from compactctl.cli.opt import INPUT, OUTPUT, READS, WRITES, flag, opt
from compactctl.cli.options.file_argument import paths_argument
from compactctl.cli.options.input import LIMITS
from compactctl.cli.options.output import SHOWN_AS
from compactctl.commands.verify.verify import VerifyOptions, VerifyResult, verify

_HELP = """Prove that every byte that was taken out can be put back.

PATHS are transcripts that compactctl wrote, folders that hold any, and sessions (claude: for all
of a client, latest, ids). Every archive is read
to its end and every state compared with its digest; nothing is written without --repair.
Exit 7 when anything is damaged, 8 when a transcript was changed by something else since, 6
when something could not be looked into, 1 when there is something to repair.
"""


@command(
    VerifyOptions,
    paths_argument("PATHS...", "restore", required=True),
    flag(
        "repair",
        OUTPUT,
        WRITES,
        "Set right what can be without losing anything: names and permissions of archives, "
        "drafts of killed runs.",
    ),
    opt(
        "exclude",
        INPUT,
        READS,
        "Leave out files like this (repeatable).",
        metavar="GLOB",
        multiple=True,
    ),
    LIMITS.at("limits"),
    SHOWN_AS,
    help=_HELP,
)
def verify_command(options: VerifyOptions) -> VerifyResult:
    """Run ``compactctl verify``."""
    from compactctl.views.terminal.progress import BatchProgress

    with BatchProgress() as progress:
        return verify(options, progress.tell)
