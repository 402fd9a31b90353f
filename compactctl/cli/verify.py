"""Commands about archives: ``compactctl verify``, ``archives``."""

import time

from compactctl.cli.command import command
from compactctl.cli.opt import INPUT, OUTPUT, READS, WRITES, Arg, OptGroup, flag, opt
from compactctl.cli.options.arguments import paths_argument
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.reading import LIMITS
from compactctl.commands.archives import ArchivesOptions, ArchivesResult, archives
from compactctl.commands.verify.verify import VerifyOptions, VerifyResult, verify
from compactctl.store.client_folders import this_machine

_VERIFY_HELP = """Prove that every byte that was taken out can be put back.

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
    help=_VERIFY_HELP,
)
def verify_command(options: VerifyOptions) -> VerifyResult:
    """Run ``compactctl verify``."""
    from compactctl.views.terminal.progress import BatchProgress

    with BatchProgress() as progress:
        return verify(options, progress.tell)


_ARCHIVES_HELP = """List the archives of sessions, and forget what is not needed.

Archives of sessions in clients' stores lie in a folder of your own, apart from the clients' files.
SESSIONS are ids, their beginnings, or paths; without any all archives are listed. What --forget
removes cannot be had again: a session that is compacted and still there keeps its way back, unless
--force is given.
"""


@command(
    ArchivesOptions,
    Arg("names", metavar="[SESSIONS]...", nargs=-1),
    flag("dead", INPUT, WRITES, "Only archives whose session is in no store."),
    flag("forget", OUTPUT, WRITES, "Remove the archives of these sessions, or those of --dead."),
    flag("dry_run", OUTPUT, WRITES, "Show what --forget would remove, remove nothing."),
    flag(
        "force", OUTPUT, WRITES, "Also remove the only way back of a compacted session.", short="-f"
    ),
    OptGroup("now", make=time.time),
    SHOWN_AS,
    help=_ARCHIVES_HELP,
)
def archives_command(options: ArchivesOptions) -> ArchivesResult:
    """Run ``compactctl archives``."""
    return archives(options, this_machine())
