"""``compactctl rewind``."""

from pathlib import Path

from compactctl.cli.command import emit, plain_command, working
from compactctl.cli.opt import ONE_RUN, OUTPUT, STATE, WRITES, flag, opt
from compactctl.cli.options.file_argument import file_argument
from compactctl.cli.options.input import ARCHIVE, LIMITS
from compactctl.cli.options.output import SHOWN_AS, WHILE_OPEN, one_document
from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.reading.transcript import InputOptions
from compactctl.commands.rewind.rewind import RewindOptions, rewind
from compactctl.store.files.limits import ReadLimits

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


@plain_command(
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
    opt(
        "output",
        OUTPUT,
        WRITES,
        "Write the restored state here instead; - is standard output.",
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
    flag(
        "native",
        OUTPUT,
        WRITES,
        "With --client, append to FILE what undoes it; no byte of it changes. For Claude Code, "
        "Codex and pi.",
    ),
    WHILE_OPEN,
    flag(
        "force",
        OUTPUT,
        WRITES,
        "Overwrite what compactctl did not write, also while a program has it open.",
        short="-f",
    ),
    ARCHIVE,
    LIMITS,
    SHOWN_AS,
    help=_HELP,
)
def rewind_command(
    path: str,
    *,
    to: str | None,
    group: str | None,
    all: bool,  # noqa: A002
    client: bool,
    check: bool,
    output: str | None,
    in_place: bool,
    native: bool,
    while_open: bool,
    force: bool,
    archive: Path | None,
    limits: ReadLimits,
    shown_as: str,
) -> None:
    """Run ``compactctl rewind``."""
    if not check:
        shown_as = one_document(output or ("" if client else path), shown_as)
    options = RewindOptions(
        input=InputOptions(path=path, limits=limits),
        to=to,
        group=group,
        all=all,
        client=client,
        check=check,
        output=OutputOptions(
            path=output,
            in_place=in_place,
            layout="native" if native else "split",
            while_open=while_open,
            force=force,
        ),
        archive=archive,
    )
    with working("restoring", path, shown_as):
        result = rewind(options)
    emit(result, shown_as, piped=None if result.options.check else result.data)
