"""``compactctl archives``."""

import time

import click

from compactctl.cli.emit import emit
from compactctl.cli.options.output import shown_as_options
from compactctl.commands.archives.archives import ArchivesOptions, archives
from compactctl.store.places import this_machine

_HELP = """List the archives of sessions, and forget what is not needed.

Archives of sessions in clients' stores lie in a folder of your own, apart from the clients' files.
SESSIONS are ids, their beginnings, or paths; without any all archives are listed. What --forget
removes cannot be had again: a session that is compacted and still there keeps its way back, unless
--force is given.
"""


@click.command("archives", help=_HELP)
@click.argument("names", metavar="[SESSIONS]...", nargs=-1)
@click.option("--dead", is_flag=True, help="Only archives whose session is in no store.")
@click.option(
    "--forget", is_flag=True, help="Remove the archives of these sessions, or those of --dead."
)
@click.option("--dry-run", is_flag=True, help="Show what --forget would remove, remove nothing.")
@click.option(
    "-f", "--force", is_flag=True, help="Also remove the only way back of a compacted session."
)
@shown_as_options
def command(
    names: tuple[str, ...], *, dead: bool, forget: bool, dry_run: bool, force: bool, shown_as: str
) -> None:
    """Run ``compactctl archives``."""
    options = ArchivesOptions(
        names=names, dead=dead, forget=forget, dry_run=dry_run, force=force, now=time.time()
    )
    emit(archives(options, this_machine()), shown_as)
