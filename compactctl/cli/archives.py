"""``compactctl archives``."""

import time

from compactctl.cli.command import emit, plain_command
from compactctl.cli.opt import INPUT, OUTPUT, WRITES, Arg, flag
from compactctl.cli.options.output import SHOWN_AS
from compactctl.commands.archives import ArchivesOptions, archives
from compactctl.store.places import this_machine

_HELP = """List the archives of sessions, and forget what is not needed.

Archives of sessions in clients' stores lie in a folder of your own, apart from the clients' files.
SESSIONS are ids, their beginnings, or paths; without any all archives are listed. What --forget
removes cannot be had again: a session that is compacted and still there keeps its way back, unless
--force is given.
"""


@plain_command(
    Arg("names", metavar="[SESSIONS]...", nargs=-1),
    flag("dead", INPUT, WRITES, "Only archives whose session is in no store."),
    flag("forget", OUTPUT, WRITES, "Remove the archives of these sessions, or those of --dead."),
    flag("dry_run", OUTPUT, WRITES, "Show what --forget would remove, remove nothing."),
    flag(
        "force", OUTPUT, WRITES, "Also remove the only way back of a compacted session.", short="-f"
    ),
    SHOWN_AS,
    help=_HELP,
)
def archives_command(
    names: tuple[str, ...], *, dead: bool, forget: bool, dry_run: bool, force: bool, shown_as: str
) -> None:
    """Run ``compactctl archives``."""
    options = ArchivesOptions(
        names=names, dead=dead, forget=forget, dry_run=dry_run, force=force, now=time.time()
    )
    emit(archives(options, this_machine()), shown_as)
