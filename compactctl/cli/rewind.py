"""``compactctl rewind``."""

from compactctl.cli.command import emit, shown_command, working
from compactctl.cli.help import Help
from compactctl.cli.opt import OptGroup
from compactctl.cli.options.arguments import file_argument
from compactctl.cli.options.asked import asked
from compactctl.cli.options.output import SHOWN_AS, native_layout, native_option, one_document
from compactctl.cli.options.reading import ARCHIVE, LIMITS
from compactctl.commands.client_sessions.write import OutputOptions
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


@shown_command(
    RewindOptions,
    file_argument("restore", compacted=True),
    *asked(RewindOptions),
    OptGroup(
        "output",
        *asked(
            OutputOptions,
            path="Write here instead; - is standard output.",
            in_place="With --client, and groups that a client tagged, replace FILE.",
        ),
        OptGroup(
            "layout",
            native_option("With --client, undo by appending to FILE"),
            make=native_layout,
        ),
        *asked(
            OutputOptions,
            "while_open",
            "closed",
            force="Overwrite files that compactctl did not write, or that another program has "
            "open.",
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
