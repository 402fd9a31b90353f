"""Commands about archives: ``compactctl verify``, ``archive``."""

import time

from compactctl.cli.command import command
from compactctl.cli.help import Help
from compactctl.cli.opt import Arg, OptGroup
from compactctl.cli.options.arguments import paths_argument
from compactctl.cli.options.asked import asked
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.reading import LIMITS
from compactctl.commands.archives import ArchivesOptions, ArchivesResult, archives
from compactctl.commands.verify.verify import VerifyOptions, VerifyResult, verify
from compactctl.store.client_folders import this_machine

_VERIFY_HELP = Help(
    """Check that every archived byte can be restored.

PATHS are transcripts that compactctl wrote, folders of them, and sessions (an id, latest, or
claude: for all of a client). Every archive is read to its end and every state compared with its
SHA-256; nothing is written without --repair.

Exit codes: 7 damaged, 8 changed by another program, 6 unreadable, 1 repairable.
""",
    examples=(
        "compactctl verify run.compacted.jsonl",
        'compactctl verify . --exclude "old/*"',
    ),
)


@command(
    VerifyOptions,
    paths_argument("PATHS...", "restore", required=True),
    *asked(VerifyOptions),
    LIMITS.at("limits"),
    SHOWN_AS,
    help=_VERIFY_HELP,
)
def verify_command(options: VerifyOptions) -> VerifyResult:
    """Run ``compactctl verify``."""
    from compactctl.views.terminal.progress import BatchProgress

    with BatchProgress() as progress:
        return verify(options, progress.tell)


_ARCHIVE_HELP = Help(
    """List archives and delete those no longer needed.

Archives of sessions in clients' stores are kept in a folder of your own, apart from the clients'
files. SESSIONS are ids, beginnings of ids, or paths; by default, all archives are listed.

--forget deletes for good. It keeps the archive of a compacted session that still exists, unless you
add --force.
""",
    examples=(
        "compactctl archive",
        "compactctl archive --dead --forget",
    ),
)


@command(
    ArchivesOptions,
    Arg("names", metavar="[SESSIONS]...", nargs=-1),
    *asked(ArchivesOptions),
    OptGroup("now", make=time.time),
    SHOWN_AS,
    help=_ARCHIVE_HELP,
)
def archive_command(options: ArchivesOptions) -> ArchivesResult:
    """Run ``compactctl archive``."""
    return archives(options, this_machine())
