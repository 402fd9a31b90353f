"""The commands that compact: ``compact``, ``tag`` by hand, and ``rescue`` for full sessions."""

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import click

from compactctl.cli.command import emit, shown_command, working
from compactctl.cli.opt import (
    GATES,
    MAY,
    MEASURED,
    ONE_RUN,
    OUTPUT,
    READS,
    SHOWN,
    SIZE,
    SPAN,
    SUMMARIES,
    TYPED,
    WRITES,
    OptGroup,
    ParsedText,
    beside,
    flag,
    opt,
)
from compactctl.cli.options.arguments import SESSION, file_argument
from compactctl.cli.options.measuring import FAIL_BASE, MEASURE
from compactctl.cli.options.output import (
    DRY_RUN,
    FORCE,
    IN_PLACE,
    NATIVE,
    OUTPUT_FILE,
    PAGE,
    SHOWN_AS,
    TAGS,
    WHILE_OPEN,
    checked_page,
    layout_into,
    layout_option,
    one_document,
)
from compactctl.cli.options.planning import PLAN, PLAN_FILE, PLAN_OUT, PROTECT, read_plan_option
from compactctl.cli.options.reading import FORMAT, LIMITS, STRICT
from compactctl.cli.options.summaries import SUMMARIZER, effective_summarizer
from compactctl.cli.options.tables import PROFILE, prices_option
from compactctl.commands.client_sessions.write import OutputLayout, OutputOptions
from compactctl.commands.compact.compact import compact
from compactctl.commands.compact.presets import (
    HandOptions,
    rescue,
    tag,
)
from compactctl.commands.compact.result import CompactOptions, CompactResult
from compactctl.commands.harness.overflow import overflow
from compactctl.errors import UsageError
from compactctl.profiles.overflow import Overflow
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.source import STANDARD_STREAM, open_input
from compactctl.tokens.budget import parse_target

if TYPE_CHECKING:
    from compactctl.commands.output_files import PageChoice


_COMPACT_HELP = """Compact a transcript; every byte can be restored.

FILE is a transcript or a session (compactctl sessions); without it, or with -, standard input is
compacted to standard output. FILE itself is left alone: run.jsonl gives run.compacted.jsonl,
which its own client can load, and beside it an archive that compactctl rewind restores from.
In its client's store a session of Claude Code, Codex or pi gives a new session of that client;
with --native it is compacted where it is, by appending to it.

Without --stages and --profile, repeated file reads go (dedup), then the lines that will be
needed again stand in place of older messages (distill), until half of what the client takes is
free. With --stages, exactly those run, in the order given.
"""


@shown_command(
    CompactOptions,
    file_argument("write"),
    OptGroup("recipe", OptGroup("measure", PROFILE), PLAN),
    beside(PLAN_FILE),
    PLAN_OUT,
    OptGroup("recipe", SUMMARIZER, PROTECT, OptGroup("measure", FAIL_BASE)),
    flag(
        "redo",
        SUMMARIES,
        ONE_RUN,
        "Start from the originals of what FILE's own client compacted, instead of its summaries.",
    ),
    OptGroup("output", OUTPUT_FILE, IN_PLACE),
    opt(
        "archived_out",
        OUTPUT,
        WRITES,
        "Write what is hidden now here as well, as plain lines with their tags: what view "
        "--archived --jsonl prints.",
        path="here",
        metavar="FILE",
    ),
    beside(NATIVE),
    OptGroup("output", WHILE_OPEN),
    beside(PAGE, layout_option(messages=True)),
    OptGroup("output", TAGS, DRY_RUN),
    flag("explain", SHOWN, ONE_RUN, "List every message: what became of it, and why."),
    prices_option("Tell after how many requests the compaction has paid what a prompt cache loses"),
    flag("require_fit", MEASURED, MAY, "Fail (exit 5) when it does not fit afterwards."),
    flag(
        "require_audit",
        GATES,
        MAY,
        "Fail (exit 1) when a summary lost a rule or made something up.",
    ),
    OptGroup("output", FORCE),
    FORMAT,
    LIMITS,
    OptGroup("recipe", MEASURE),
    STRICT,
    SHOWN_AS,
    help=_COMPACT_HELP,
)
def compact_command(
    options: CompactOptions,
    *,
    planned: str | None,
    native: bool,
    page: "PageChoice | None",
    layout: OutputLayout | Literal["messages"],
    shown_as: str,
) -> None:
    """Run ``compactctl compact``."""
    from compactctl.commands.compact.side_files import check_archived_out, with_side_files
    from compactctl.commands.inspect.view import hidden_lines, sent_records

    path, output = options.input.path, _output_options(options, layout, native=native)
    if not output.dry_run:
        shown_as = one_document(output.path, shown_as)
    plan_file = read_plan_option(planned)
    summarizer = effective_summarizer(options.recipe.summarizer)
    options = replace(
        options,
        recipe=replace(options.recipe, summarizer=summarizer),
        output=output,
        redo=options.redo if plan_file is None else plan_file.redo,
        plan_file=plan_file,
        compare=page is not None,
    )
    check_archived_out(options)
    reserved = tuple(filter(None, (*_reserved_paths(options), planned)))
    if options.plan_out is not None:
        _check_plan_out(options.plan_out, reserved, force=output.force)
        reserved += (options.plan_out,)
    page = page and replace(page, mask=summarizer.style.mask)
    page = checked_page(page, reserved, force=output.force)
    with working("compacting", path, shown_as):
        result = with_side_files(compact(options), hidden_lines)
    piped = result.data
    if output.messages_only and piped is not None:
        piped = sent_records(piped, path, result.format)
    emit(result, shown_as, piped=piped, page=page)
    _suggest_for_real(result)


def _suggest_for_real(result: CompactResult) -> None:
    """After a dry run that would change something, print the command without --dry-run."""
    if not (result.options.output.dry_run and result.compacted):
        return
    from compactctl.views.facts import labeled
    from compactctl.views.terminal.screen import print_messages
    from compactctl.views.terminal.text import shell_words

    context = click.get_current_context()
    typed = [word for word in context.meta.get(TYPED, ()) if word not in ("-n", "--dry-run")]
    print_messages(labeled("do it", f"{context.command_path} {shell_words(typed)}"))


def _output_options(
    options: CompactOptions, layout: OutputLayout | Literal["messages"], *, native: bool
) -> OutputOptions:
    """Return where to write; standard output is the default for piped input and messages only."""
    messages_only = layout == "messages"
    path = options.output.path
    is_piped = messages_only or options.input.path == STANDARD_STREAM
    if is_piped and not (options.output.in_place or native):
        path = path or STANDARD_STREAM
    layout = layout_into(path, layout)
    return replace(
        options.output,
        path=path,
        layout="native" if native else "split" if layout == "messages" else layout,
        messages_only=messages_only,
    )


def _check_plan_out(plan_out: str, reserved: tuple[str, ...], *, force: bool) -> None:
    """Raise UsageError if the plan cannot be written, before any work is done."""
    from compactctl.commands.output_files import check_report

    if plan_out == STANDARD_STREAM:
        raise UsageError("--plan-out writes a file, which you can edit; name one")
    check_report(plan_out, reserved, force=force)


def _reserved_paths(options: CompactOptions) -> tuple[str, ...]:
    """Return the files that neither a page nor a plan may replace."""
    from compactctl.commands.compact.place import target_of

    output = None if options.output.path == STANDARD_STREAM else target_of(options)
    paths = (options.input.path, output, options.archived_out)
    return tuple(str(path) for path in paths if path is not None)


_TAG_HELP = """Hide messages by hand, behind a summary or a marker.

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
    help=_TAG_HELP,
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
    span = replace(_hand_options(condense, truncate, summary_file), widen=widen)
    with working("compacting", options.input.path, shown_as):
        result = tag(options, span)
    emit(result, shown_as, piped=result.data)
    _suggest_for_real(result)


def _hand_options(
    condense: str | None, truncate: str | None, summary_file: str | None
) -> HandOptions:
    if (condense is None) == (truncate is None):
        raise UsageError("give either --condense or --truncate, with the messages FROM..TO")
    if (condense is None) != (summary_file is None):
        raise UsageError("--condense needs the text of the summary; name it with --summary-file")
    text = None
    if summary_file is not None:
        text = open_input(summary_file, TEXT_LIMITS).data.decode("utf-8", "replace")
    return HandOptions(messages=condense or truncate or "", summary=text)


_RESCUE_HELP = """Make room in a session whose context is full.

SESSION is a file or what compactctl sessions lists; without it, the session that changed last.
It is compacted as compactctl compact does it, down to half of what its client takes, so that
there is room to work: as a new session, with the old one as it was, or with --native by appending
to it. The last line is the command that goes on with it, and compactctl rewind has every byte back.
What was rescued before and has not changed since is not written a second time.
"""


def _parse_overflow(from_error: str | None) -> Overflow | None:
    """Read the error to recover from. Raises UsageError if a smaller context would not help."""
    error = overflow(from_error) if from_error is not None else None
    if error is None or error.overflow:
        return error
    if error.pattern is not None:
        raise UsageError(
            "--from-error: this is a rate limit or a quota, which a smaller context does not "
            "lift; see compactctl overflow"
        )
    raise UsageError(
        "--from-error: this is not known to be about a context that is too long; leave it out to "
        "compact the session all the same"
    )


def _layout_of_rescue(*, native: bool) -> OutputLayout:
    return "native" if native else "split"


@shown_command(
    CompactOptions,
    SESSION,
    OptGroup(
        "recipe.plan",
        OptGroup(
            "overflow",
            opt(
                "from_error",
                SIZE,
                READS,
                "What the client or the provider said; a size that it names is gone by.",
                path="settings",
                metavar="TEXT|FILE",
            ),
            make=_parse_overflow,
        ),
        opt(
            "target",
            SIZE,
            MAY,
            "Another size to reach: a share of the window (60%, 0.6) or tokens (60000, 60k).",
            type=ParsedText(parse_target),
            metavar="SIZE",
        ),
    ),
    flag(
        "redo",
        SUMMARIES,
        ONE_RUN,
        "Start from the originals of what the client itself compacted, instead of its summaries.",
    ),
    OptGroup(
        "output",
        opt(
            "path",
            OUTPUT,
            WRITES,
            "Write a file elsewhere instead.",
            flag="--output",
            short="-o",
            path="here",
            metavar="FILE",
        ),
        flag("in_place", OUTPUT, WRITES, "Replace the session itself; it is archived."),
        OptGroup("layout", NATIVE, make=_layout_of_rescue),
        WHILE_OPEN,
        FORCE,
        DRY_RUN,
    ),
    LIMITS,
    SHOWN_AS,
    help=_RESCUE_HELP,
)
def rescue_command(options: CompactOptions, *, shown_as: str) -> None:
    """Run ``compactctl rescue``."""
    with working("compacting", options.input.path, shown_as):
        result = rescue(options)
    emit(result, shown_as)
    if result.earlier is None:
        _suggest_for_real(result.compacted)
