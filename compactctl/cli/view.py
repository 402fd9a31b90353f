"""``compactctl view``."""

from typing import TYPE_CHECKING

import click

from compactctl.asks import ONE_RUN, SHOWN, STATE
from compactctl.cli.command import command
from compactctl.cli.help import Help
from compactctl.cli.opt import OptGroup, flag, opt
from compactctl.cli.options.arguments import file_argument
from compactctl.cli.options.measuring import MEASURE, PROFILE
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.reading import ARCHIVE, FORMAT, LIMITS
from compactctl.commands.inspect.view import TextDetail, ViewOptions, ViewResult, view
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.records import Record, field

if TYPE_CHECKING:
    from compactctl.commands.inspect.explain import ExplainResult

_HELP = Help(
    """Show the messages the model sees, or those hidden from it.

FILE is a transcript, a session (compactctl sessions), or - for standard input. A hidden message
carries the tag of the summary, marker or rewritten record that replaces it.
""",
    examples=(
        "compactctl view run.jsonl",
        "compactctl view run.compacted.jsonl --archived --grep '(?i)token'",
        "compactctl view run.jsonl --message 9",
    ),
    usual=(
        "--archived", "--all", "--message", "--grep", "--limit", "--page", "--jsonl", "--full",
        "--archive", "--json",
    ),
)  # fmt: skip


class _Request(Record):
    """What to show: messages, or everything about one of them."""

    view: ViewOptions
    message: str | None = None
    measure: MeasureOptions = field(default_factory=MeasureOptions)


def _detail(*, jsonl: bool, full: bool) -> TextDetail:
    return "raw" if jsonl else "full" if full else "short"


@command(
    _Request,
    OptGroup(
        "view",
        file_argument(),
        opt(
            "what",
            STATE,
            ONE_RUN,
            "Show only hidden messages.",
            flag="--archived",
            flag_value="archived",
        ),
        opt(
            "what",
            STATE,
            ONE_RUN,
            "Show all messages, hidden ones in place.",
            flag="--all",
            flag_value="all",
        ),
    ),
    opt(
        "message",
        STATE,
        ONE_RUN,
        "Explain this message: its size, what a compaction would do to it, and how to restore "
        "it. ID is a line (158), a reference in a digest (L158) or the beginning of an id, also of "
        "a hidden message.",
        metavar="ID",
    ),
    OptGroup(
        "view",
        opt(
            "patterns",
            STATE,
            ONE_RUN,
            "Show only messages matching REGEX in text, tool name or arguments. Start with (?i) "
            "to ignore case (repeatable; all must match).",
            flag="--grep",
            metavar="REGEX",
            multiple=True,
        ),
        opt(
            "limit",
            STATE,
            ONE_RUN,
            "Show N messages per page.",
            type=click.IntRange(min=1),
            metavar="N",
        ),
        opt(
            "page",
            STATE,
            ONE_RUN,
            "With --limit, show the Nth page. [default: 1]",
            type=click.IntRange(min=1),
            metavar="N",
            default=1,
        ),
        OptGroup(
            "detail",
            flag(
                "jsonl",
                SHOWN,
                ONE_RUN,
                "Print raw lines (or records of a document) in the transcript's own format.",
            ),
            flag("full", SHOWN, ONE_RUN, "Do not shorten long texts."),
            make=_detail,
        ),
        FORMAT,
        ARCHIVE,
        LIMITS,
    ),
    MEASURE,
    PROFILE,
    SHOWN_AS,
    help=_HELP,
    doing="reading",
    reads="view.input.path",
)
def view_command(request: _Request) -> "ViewResult | ExplainResult":
    """Run ``compactctl view``."""
    if request.message is None:
        return view(request.view)
    from compactctl.commands.inspect.explain import ExplainOptions, explain_message

    return explain_message(
        ExplainOptions(
            input=request.view.input,
            message=request.message,
            measure=request.measure,
            archive=request.view.archive,
        )
    )
