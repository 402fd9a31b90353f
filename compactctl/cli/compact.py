"""The commands that compact: ``compactctl compact``, ``rescue``."""

from typing import Literal

import click

from compactctl.asks import OUTPUT, WRITES
from compactctl.cli.command import emit, shown_command, working
from compactctl.cli.help import Help
from compactctl.cli.opt import TYPED, OptGroup, beside, opt
from compactctl.cli.options.arguments import SESSION, file_argument
from compactctl.cli.options.asked import asked
from compactctl.cli.options.measuring import FAIL_BASE, MEASURE, PROFILE
from compactctl.cli.options.output import (
    PAGE,
    SHOWN_AS,
    checked_page,
    layout_into,
    native_layout,
    native_option,
    one_document,
)
from compactctl.cli.options.planning import (
    PLAN,
    PROTECT,
    from_error_option,
    plan_option,
    read_plan_option,
)
from compactctl.cli.options.reading import FORMAT, LIMITS, STRICT
from compactctl.cli.options.summaries import SUMMARIZER, effective_summarizer
from compactctl.commands.client_sessions.write import OutputLayout, OutputOptions
from compactctl.commands.compact.compact import compact
from compactctl.commands.compact.presets import HiddenRange, hide_range, rescue
from compactctl.commands.compact.result import CompactOptions, CompactResult
from compactctl.commands.page_choice import PageChoice
from compactctl.commands.planning.plan import PlanOptions
from compactctl.errors import UsageError
from compactctl.records import replace
from compactctl.store.files.objects import is_object
from compactctl.store.files.source import STANDARD_STREAM

_COMPACT_HELP = Help(
    """Compact a transcript; every byte stays restorable.

FILE is a transcript, a session (compactctl sessions), or - for standard input; by default, the only
transcript in this folder. It is not changed: the result goes to run.compacted.jsonl, the originals
to run.compacted.jsonl.archive/. A session of Claude Code, Codex or pi becomes a new session.

By default, repeated file reads are replaced (dedup) and older messages are reduced to the lines
most likely to be needed again (distill), until half of the space below the client's own limit is
free. compactctl rewind restores every byte.
""",
    examples=(
        "compactctl compact run.jsonl",
        "compactctl compact run.jsonl --stages prune,dedup -n",
        "compactctl compact run.jsonl --profile neurolink --target 60k",
    ),
    usual=(
        "--stages", "--profile", "--target", "--keep", "--if-needed", "--set", "--hide",
        "--keep-turns", "--pin", "--protect-tool", "--output", "--in-place", "--dry-run",
        "--html", "--json",
    ),
)  # fmt: skip


def _hidden(messages: str | None, *, widen: bool) -> HiddenRange | None:
    return None if messages is None else HiddenRange(messages=messages, widen=widen)


@shown_command(
    CompactOptions,
    file_argument("write"),
    OptGroup("recipe", PROFILE, PLAN),
    beside(
        OptGroup("hidden", *asked(HiddenRange), make=_hidden),
        plan_option(
            "Apply this plan, which --plan-out wrote and you may have edited, instead of running "
            "stages."
        ),
    ),
    *asked(CompactOptions, "plan_out"),
    OptGroup("recipe", SUMMARIZER, PROTECT, FAIL_BASE),
    *asked(CompactOptions, "redo"),
    OptGroup("output", *asked(OutputOptions, "path", "in_place")),
    *asked(CompactOptions, "archived_out"),
    beside(native_option()),
    OptGroup("output", *asked(OutputOptions, "while_open", "closed")),
    beside(
        PAGE,
        # Offers one more than the field, which is for files that can be restored.
        opt(
            "layout",
            OUTPUT,
            WRITES,
            "Put originals into an archive beside the output, or leave them in it with tags, or "
            "print only the messages that are sent (-o -).",
            type=click.Choice(["split", "inline", "messages"]),
            default="split",
            show_default="split; inline into a pipe",
        ),
    ),
    OptGroup("output", *asked(OutputOptions, "tags", "dry_run")),
    *asked(CompactOptions, without=("plan_out", "redo", "archived_out", "end")),
    OptGroup("output", *asked(OutputOptions, "force")),
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
    hidden: HiddenRange | None,
    planned: str | None,
    native: bool,
    page: PageChoice | None,
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
        result = compact(options) if hidden is None else hide_range(options, hidden)
        result = with_side_files(result, hidden_lines)
    piped = result.data
    if output.messages_only and piped is not None:
        piped = sent_records(piped, path, result.format)
    emit(result, shown_as, piped=piped, page=page)
    _suggest_for_real(result)


def _suggest_for_real(result: CompactResult) -> None:
    """After a dry run that would change something, print the command without --dry-run.

    A dry run that wrote a plan has said how to apply that.
    """
    options = result.options
    is_changed = result.compacted or result.end is not None
    if not (options.output.dry_run and is_changed) or options.plan_out is not None:
        return
    from compactctl.commands.compact.place import target_of
    from compactctl.views.facts import labeled
    from compactctl.views.terminal.screen import print_messages
    from compactctl.views.terminal.text import shell_words

    context = click.get_current_context()
    typed = [word for word in context.meta.get(TYPED, ()) if word not in ("-n", "--dry-run")]
    if is_object(options.input.path) and options.output.path is None:
        typed += ["-o", str(target_of(options))]
    print_messages(labeled("do it", f"{context.command_path} {shell_words(typed)}".rstrip()))


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


_RESCUE_HELP = Help(
    """Repair or shrink a session and print how to resume it.

SESSION is a file, or an id, title or client from compactctl sessions; by default, the newest
session of this folder. What the provider or client refuses is repaired (compactctl check lists it);
then, if it is full, half of the space below the client's own limit is freed. The result is a new
session; the old one is not changed. The last line is the command that resumes it. compactctl rewind
restores every byte. Running it again on an unchanged session writes nothing. Exit 5 if the next
request will still be refused.
""",
    examples=(
        "compactctl rescue",
        "compactctl rescue claude:latest --target 60k",
        "compactctl rescue --from-error error.json",
    ),
)


@shown_command(
    CompactOptions,
    SESSION,
    OptGroup(
        "recipe.plan",
        from_error_option(
            "Recover from this error of the client or provider: name the record that it is about "
            "and repair it, or free at least as many tokens as it says."
        ),
        *asked(PlanOptions, target="Stop at this size: 60k tokens, or 60% of the window."),
    ),
    *asked(CompactOptions, "end", "redo"),
    OptGroup(
        "output",
        *asked(
            OutputOptions,
            path="Write to this file instead.",
            in_place="Replace the session; its old bytes are archived.",
        ),
        OptGroup("layout", native_option(), make=native_layout),
        *asked(OutputOptions, "while_open", "closed", "force", "dry_run"),
    ),
    LIMITS,
    SHOWN_AS,
    help=_RESCUE_HELP,
)
def rescue_command(options: CompactOptions, *, shown_as: str) -> int:
    """Run ``compactctl rescue``."""
    with working("compacting", options.input.path, shown_as):
        result = rescue(options)
    emit(result, shown_as)
    if result.earlier is None:
        _suggest_for_real(result.compacted)
    return result.exit_code
