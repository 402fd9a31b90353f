"""``compactctl rewind``."""

from compactctl.cli.command import emit, shown_command, working
from compactctl.cli.opt import ONE_RUN, OUTPUT, STATE, WRITES, OptGroup, flag, opt
from compactctl.cli.options.arguments import file_argument
from compactctl.cli.options.output import SHOWN_AS, WHILE_OPEN, one_document
from compactctl.cli.options.reading import ARCHIVE, LIMITS
from compactctl.commands.client_sessions.write import OutputLayout
from compactctl.commands.rewind.rewind import RewindOptions, rewind

_HELP = """Restore an earlier state, byte for byte.

FILE is a transcript or a session (compactctl sessions) that compactctl wrote; without it, or
with -, one in inline layout is read from standard input, and where nothing comes from there, the
only compacted transcript in this folder is taken. Without options the last compaction of FILE is
undone. Lines appended since are kept. A rewind is an operation too and can itself be
undone with --to.

What FILE's own client compacted is undone with --client: as a new session where FILE is one in
its client's store, else where -o says, in FILE with --in-place, or behind it with --native. rewind
undoes that as well.
"""


def _layout(*, native: bool) -> OutputLayout:
    return "native" if native else "split"


@shown_command(
    RewindOptions,
    file_argument("restore", compacted=True),
    opt("to", STATE, WRITES, "Go to the state after this operation.", metavar="OPERATION"),
    opt(
        "group",
        STATE,
        WRITES,
        "Bring back the messages of one group only: one of compactctl's, or one that a client "
        "tagged, as NeuroLink and Roo Code do, which is undone like --client.",
        metavar="ID",
    ),
    flag("all", STATE, ONE_RUN, "Go back to the first state."),
    flag(
        "client",
        STATE,
        ONE_RUN,
        "Undo what FILE's own client compacted last, with --all everything it ever did.",
    ),
    flag("check", OUTPUT, WRITES, "Prove that it can be done; write nothing."),
    OptGroup(
        "output",
        opt(
            "path",
            OUTPUT,
            WRITES,
            "Write the restored state here instead; - is standard output.",
            flag="--output",
            short="-o",
            path="here",
            metavar="FILE",
        ),
        flag(
            "in_place",
            OUTPUT,
            WRITES,
            "With --client, and groups that a client tagged, replace FILE itself.",
        ),
        OptGroup(
            "layout",
            flag(
                "native",
                OUTPUT,
                WRITES,
                "With --client, append to FILE what undoes it; no byte of it changes. For Claude "
                "Code, Codex and pi.",
            ),
            make=_layout,
        ),
        WHILE_OPEN,
        flag(
            "force",
            OUTPUT,
            WRITES,
            "Overwrite what compactctl did not write, also while a program has it open.",
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
