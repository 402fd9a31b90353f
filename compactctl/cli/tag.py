"""``compactctl tag``."""

from dataclasses import replace

from compactctl.cli.command import emit, shown_command, working
from compactctl.cli.opt import (
    ONE_RUN,
    READS,
    SPAN,
    SUMMARIES,
    OptGroup,
    beside,
    flag,
    opt,
)
from compactctl.cli.options.file_argument import file_argument
from compactctl.cli.options.input import FORMAT, LIMITS
from compactctl.cli.options.measure import MEASURE
from compactctl.cli.options.output import (
    DRY_RUN,
    FORCE,
    IN_PLACE,
    OUTPUT_FILE,
    SHOWN_AS,
    STANDARD_STREAM,
    TAGS,
    layout_into,
    layout_option,
    one_document,
)
from compactctl.commands.compact.presets import HandOptions, tag
from compactctl.commands.compact.result import CompactOptions
from compactctl.errors import UsageError
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.lines import open_input

_HELP = """Hide messages by hand, behind a summary or a marker.

FILE is a transcript or a session (compactctl sessions); it is left alone, as compact leaves it.
FROM and TO are ids or lines that compactctl view shows; both are hidden. A range that parts a
tool call from its result, or would save nothing, is refused. compactctl rewind undoes it.
"""


@shown_command(
    CompactOptions,
    file_argument("write"),
    beside(
        opt(
            "condense",
            SPAN,
            ONE_RUN,
            "Hide these behind the text of --summary-file.",
            metavar="FROM..TO",
        ),
        opt("truncate", SPAN, ONE_RUN, "Hide these behind a marker.", metavar="FROM..TO"),
        opt(
            "summary_file",
            SUMMARIES,
            READS,
            "With --condense, the text of the summary.",
            path="settings",
            metavar="FILE",
        ),
        flag("widen", SPAN, ONE_RUN, "Hide whole tool pairs where the range ends in one."),
    ),
    OptGroup("output", OUTPUT_FILE, IN_PLACE, layout_option(), TAGS, DRY_RUN, FORCE),
    FORMAT,
    LIMITS,
    OptGroup("recipe", MEASURE),
    SHOWN_AS,
    help=_HELP,
)
def tag_command(
    options: CompactOptions,
    *,
    condense: str | None,
    truncate: str | None,
    summary_file: str | None,
    widen: bool,
    shown_as: str,
) -> None:
    """Run ``compactctl tag``."""
    output = options.output
    if options.input.path == STANDARD_STREAM and not output.in_place:
        output = replace(output, path=output.path or STANDARD_STREAM)
    if not output.dry_run:
        shown_as = one_document(output.path, shown_as)
    layout = layout_into(output.path, output.layout)
    options = replace(options, output=replace(output, layout=layout))
    wanted = replace(_wanted(condense, truncate, summary_file), widen=widen)
    with working("compacting", options.input.path, shown_as):
        result = tag(options, wanted)
    emit(result, shown_as, piped=result.data)


def _wanted(condense: str | None, truncate: str | None, summary_file: str | None) -> HandOptions:
    if (condense is None) == (truncate is None):
        raise UsageError("give either --condense or --truncate, with the messages FROM..TO")
    if (condense is None) != (summary_file is None):
        raise UsageError("--condense needs the text of the summary; name it with --summary-file")
    text = None
    if summary_file is not None:
        text = open_input(summary_file, TEXT_LIMITS).data.decode("utf-8", "replace")
    return HandOptions(messages=condense or truncate or "", summary=text)
