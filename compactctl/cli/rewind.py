"""``compactctl rewind``."""

from compactctl.asks import ONE_RUN, OUTPUT, STATE, WRITES
from compactctl.cli.command import emit, shown_command, working
from compactctl.cli.help import Help
from compactctl.cli.opt import OptGroup, flag, opt
from compactctl.cli.options.arguments import file_argument
from compactctl.cli.options.output import CLOSED, SHOWN_AS, WHILE_OPEN, one_document
from compactctl.cli.options.reading import ARCHIVE, LIMITS
from compactctl.commands.client_sessions.write import OutputLayout
from compactctl.commands.rewind.rewind import RewindOptions, rewind

_HELP = Help(
    """Restore an earlier state, byte for byte.

FILE is a transcript or session that compactctl wrote, or - for standard input; by default, the only
compacted transcript in this folder. Undoes the last compaction. Lines appended since are kept. A
rewind is an operation too: --to undoes it.

--client undoes what FILE's own client compacted: as a new session if FILE is one, else where -o,
--in-place or --native says.
""",
    examples=(
        "compactctl rewind run.compacted.jsonl",
        "compactctl rewind run.compacted.jsonl --group 8b40756175b7",
        "compactctl rewind latest --client",
    ),
)


def _layout(*, native: bool) -> OutputLayout:
    return "native" if native else "split"


@shown_command(
    RewindOptions,
    file_argument("restore", compacted=True),
    opt(
        "to",
        STATE,
        WRITES,
        "Restore the state after this operation (compactctl log).",
        metavar="OPERATION",
    ),
    opt(
        "group",
        STATE,
        WRITES,
        "Restore the messages of one group only. A group that a client tagged (NeuroLink, Roo "
        "Code) is undone like --client.",
        metavar="ID",
    ),
    flag("all", STATE, ONE_RUN, "Restore the first state."),
    flag(
        "client",
        STATE,
        ONE_RUN,
        "Undo the last compaction by FILE's own client, or with --all every one.",
    ),
    flag("check", OUTPUT, WRITES, "Check that it can be restored; write nothing."),
    OptGroup(
        "output",
        opt(
            "path",
            OUTPUT,
            WRITES,
            "Write here instead; - is standard output.",
            flag="--output",
            short="-o",
            path="here",
            metavar="FILE",
        ),
        flag(
            "in_place",
            OUTPUT,
            WRITES,
            "With --client, and groups that a client tagged, replace FILE.",
        ),
        OptGroup(
            "layout",
            flag(
                "native",
                OUTPUT,
                WRITES,
                "With --client, undo by appending to FILE; existing bytes stay unchanged. For "
                "Claude Code, Codex and pi.",
            ),
            make=_layout,
        ),
        WHILE_OPEN,
        CLOSED,
        flag(
            "force",
            OUTPUT,
            WRITES,
            "Overwrite files that compactctl did not write, or that another program has open.",
            short="-f",
        ),
    ),
    ARCHIVE,
    LIMITS,
    SHOWN_AS,
    help=_HELP,
)
def rewind_command(options: RewindOptions, shown_as: str) -> None:
    """Run ``compactctl rewind``."""
    path = options.input.path
    if not options.check:
        shown_as = one_document(options.output.path or ("" if options.client else path), shown_as)
    with working("restoring", path, shown_as):
        result = rewind(options)
    emit(result, shown_as, piped=None if result.options.check else result.data)
