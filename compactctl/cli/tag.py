"""``compactctl tag``."""

from dataclasses import replace

from compactctl.cli.command import emit, plain_command, working
from compactctl.cli.opt import ONE_RUN, OUTPUT, READS, SPAN, SUMMARIES, WRITES, flag, opt
from compactctl.cli.options.file_argument import file_argument
from compactctl.cli.options.input import FORMAT, LIMITS
from compactctl.cli.options.measure import MEASURE
from compactctl.cli.options.output import (
    SHOWN_AS,
    STANDARD_STREAM,
    layout_into,
    layout_options,
    one_document,
)
from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.compact.presets import HandOptions, tag
from compactctl.commands.compact.result import CompactOptions
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import Recipe
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import UsageError
from compactctl.pipeline.layout import Layout
from compactctl.store.files.limits import TEXT_LIMITS, ReadLimits
from compactctl.store.files.lines import open_input

_HELP = """Hide messages by hand, behind a summary or a marker.

FILE is a transcript or a session (compactctl sessions); it is left alone, as compact leaves it.
FROM and TO are ids or lines that compactctl view shows; both are hidden. A range that parts a
tool call from its result, or would save nothing, is refused. compactctl rewind undoes it.
"""


@plain_command(
    file_argument("write"),
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
    opt(
        "output",
        OUTPUT,
        WRITES,
        "Write here; - is standard output.",
        short="-o",
        path="here",
        metavar="FILE",
    ),
    flag("in_place", OUTPUT, WRITES, "Replace FILE itself; its old bytes are archived."),
    *layout_options(),
    flag("dry_run", OUTPUT, WRITES, "Do everything but write.", short="-n"),
    flag("force", OUTPUT, WRITES, "Overwrite what compactctl did not write.", short="-f"),
    FORMAT,
    LIMITS,
    MEASURE,
    SHOWN_AS,
    help=_HELP,
)
def tag_command(
    path: str,
    *,
    condense: str | None,
    truncate: str | None,
    summary_file: str | None,
    widen: bool,
    output: str | None,
    in_place: bool,
    layout: Layout,
    tags: bool,
    dry_run: bool,
    force: bool,
    format_name: str | None,
    limits: ReadLimits,
    measure: MeasureOptions,
    shown_as: str,
) -> None:
    """Run ``compactctl tag``."""
    if path == STANDARD_STREAM and not in_place:
        output = output or STANDARD_STREAM
    if not dry_run:
        shown_as = one_document(output, shown_as)
    options = CompactOptions(
        input=InputOptions(path=path, format=format_name, limits=limits),
        recipe=Recipe(measure=measure),
        output=OutputOptions(
            path=output,
            in_place=in_place,
            layout=layout_into(output, layout),
            tags=tags,
            dry_run=dry_run,
            force=force,
        ),
    )
    wanted = replace(_wanted(condense, truncate, summary_file), widen=widen)
    with working("compacting", path, shown_as):
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
