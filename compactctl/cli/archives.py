"""``compactctl archives``."""

import time

from compactctl.cli.command import command
from compactctl.cli.opt import INPUT, OUTPUT, WRITES, Arg, OptGroup, flag
from compactctl.cli.options.output import SHOWN_AS
from compactctl.commands.archives import ArchivesOptions, ArchivesResult, archives
from compactctl.store.places import this_machine

_HELP = """List the archives of sessions, and forget what is not needed.

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
    help=_HELP,
)
def archives_command(options: ArchivesOptions) -> ArchivesResult:
    """Run ``compactctl archives``."""
    return archives(options, this_machine())
