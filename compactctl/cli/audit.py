"""``compactctl lab audit``."""

from compactctl.cli.command import command
from compactctl.cli.help import Help
from compactctl.cli.options.arguments import file_argument
from compactctl.cli.options.asked import asked
from compactctl.cli.options.measuring import MEASURE
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.reading import FORMAT, LIMITS
from compactctl.commands.inspect.audit import AuditOptions, AuditResult, audit

_HELP = Help(
    """Show what each compaction lost or made up.

FILE is a transcript, a session (compactctl sessions), or - for standard input. Compares every
compaction with what it replaced: compactctl's with the archived originals, a client's own with what
its file still holds. Also lists what the agent had to read again. Nothing is written.
""",
    examples=(
        "compactctl lab audit run.compacted.jsonl",
        "compactctl lab audit latest --fail-on lost-rules,invented",
    ),
)


@command(
    AuditOptions,
    file_argument(),
    *asked(AuditOptions),
    FORMAT,
    LIMITS,
    MEASURE,
    SHOWN_AS,
    help=_HELP,
    doing="auditing",
)
def audit_command(options: AuditOptions) -> AuditResult:
    """Run ``compactctl lab audit``."""
    return audit(options)
