"""``compactctl view``."""

from typing import TYPE_CHECKING

from compactctl.asks import ONE_RUN, STATE, ask
from compactctl.cli.command import command
from compactctl.cli.help import Help
from compactctl.cli.opt import OptGroup, opt
from compactctl.cli.options.arguments import file_argument
from compactctl.cli.options.asked import asked
from compactctl.cli.options.measuring import MEASURE, PROFILE
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.reading import ARCHIVE, FORMAT, LIMITS
from compactctl.commands.inspect.view import ViewOptions, ViewResult, view
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.records import Record, field, replace

if TYPE_CHECKING:
    from compactctl.commands.inspect.explain import ExplainResult

_HELP = Help(
    """Show the messages the model sees, or those hidden from it.

FILE is a transcript, a session (compactctl sessions), or - for standard input; by default, the only
transcript in this folder, else its newest session. A hidden message carries the tag of the summary,
marker or rewritten record that replaces it.
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
    message: str | None = ask(
        None,
        "Explain this message: its size, what a compaction would do to it, and how to restore "
        "it. ID is a line (158), a reference in a digest (L158) or the beginning of an id, also of "
        "a hidden message.",
        STATE,
        ONE_RUN,
        metavar="ID",
    )
    measure: MeasureOptions = field(default_factory=MeasureOptions)


@command(
    _Request,
    OptGroup(
        "view",
        file_argument(),
        # Two names for one field.
        opt(
            "what",
            STATE,
            ONE_RUN,
            "Show only messages that are not sent: hidden, cut off, or on another branch.",
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
    *asked(_Request),
    OptGroup(
        "view",
        *asked(ViewOptions),
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
        return view(replace(request.view, measure=request.measure))
    from compactctl.commands.inspect.explain import ExplainOptions, explain_message

    return explain_message(
        ExplainOptions(
            input=request.view.input,
            message=request.message,
            measure=request.measure,
            archive=request.view.archive,
        )
    )
