"""``compactctl audit``."""

from typing import get_args

import click

from compactctl.cli.command import command
from compactctl.cli.opt import GATES, MAY, SHOWN, ParsedText, opt
from compactctl.cli.options.arguments import file_argument
from compactctl.cli.options.measuring import MEASURE
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.reading import FORMAT, LIMITS
from compactctl.commands.lab.audit import AuditGate, AuditOptions, AuditResult, audit
from compactctl.errors import UsageError, suggestion

_GATES = get_args(AuditGate)

_HELP = """Show what compactions lost, made up, and what was read again.

FILE is a transcript; without it, or with -, standard input is read. Every compaction in it is
compared with what it stands for: those by compactctl with their originals from the archive or the
file, a client's own with what the file still holds. Nothing is written.
"""


def _gates(text: str) -> tuple[AuditGate, ...]:
    """Return the gates in a comma-separated list. Raises UsageError for an unknown one."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in _GATES:
            hint = suggestion(name, _GATES, f"there are {', '.join(_GATES)}")
            raise UsageError(f"there is no {name!r}; {hint}")
    return tuple(gate for gate in _GATES if gate in names)


@command(
    AuditOptions,
    file_argument(),
    opt(
        "fail_on",
        GATES,
        MAY,
        f"Exit with 1 when any of these was found: {', '.join(_GATES)}; several with commas.",
        type=ParsedText(_gates),
        metavar="FINDS",
        default="",
    ),
    opt(
        "top",
        SHOWN,
        MAY,
        "How many finds of each kind to list.",
        type=click.IntRange(min=0),
        metavar="N",
        default=5,
        show_default=True,
    ),
    FORMAT,
    LIMITS,
    MEASURE,
    SHOWN_AS,
    help=_HELP,
    doing="auditing",
)
def audit_command(options: AuditOptions) -> AuditResult:
    """Run ``compactctl audit``."""
    return audit(options)
