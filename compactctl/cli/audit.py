"""``compactctl lab audit``."""

from typing import get_args

import click

from compactctl.asks import GATES, MAY, SHOWN
from compactctl.cli.command import command
from compactctl.cli.help import Help
from compactctl.cli.opt import ParsedText, opt
from compactctl.cli.options.arguments import file_argument
from compactctl.cli.options.measuring import MEASURE
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.reading import FORMAT, LIMITS
from compactctl.commands.lab.audit import AuditGate, AuditOptions, AuditResult, audit
from compactctl.errors import UsageError, suggestion

_GATES = get_args(AuditGate)

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


def _gates(text: str) -> tuple[AuditGate, ...]:
    """Return the gates in a comma-separated list. Raises UsageError for an unknown one."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in _GATES:
            hint = suggestion(name, _GATES, f"there are {', '.join(_GATES)}")
            raise UsageError(f"no gate named {name!r}; {hint}")
    return tuple(gate for gate in _GATES if gate in names)


@command(
    AuditOptions,
    file_argument(),
    opt(
        "fail_on",
        GATES,
        MAY,
        f"Exit 1 if any of these was found: {', '.join(_GATES)}. Separate several with commas.",
        type=ParsedText(_gates),
        metavar="LIST",
        default="",
    ),
    opt(
        "top",
        SHOWN,
        MAY,
        "Number of findings of each kind to list.",
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
    """Run ``compactctl lab audit``."""
    return audit(options)
