"""``compactctl compact``."""

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from compactctl.cli.command import emit, plain_command, working
from compactctl.cli.opt import (
    GATES,
    MAY,
    MEASURED,
    ONE_RUN,
    OUTPUT,
    SHOWN,
    SUMMARIES,
    WRITES,
    flag,
    opt,
)
from compactctl.cli.options.file_argument import file_argument
from compactctl.cli.options.input import (
    FORMAT,
    LIMITS,
    STRICT,
)
from compactctl.cli.options.measure import FAIL_BASE, MEASURE
from compactctl.cli.options.output import (
    NATIVE,
    SHOWN_AS,
    STANDARD_STREAM,
    WHILE_OPEN,
    layout_into,
    layout_options,
    one_document,
)
from compactctl.cli.options.page import PAGE, ready_page
from compactctl.cli.options.plan import PLAN, PROTECT
from compactctl.cli.options.plan_file import PLAN_FILE, PLAN_OUT, plan_from
from compactctl.cli.options.prices import prices_option
from compactctl.cli.options.profile import PROFILE
from compactctl.cli.options.summarizer import (
    SUMMARIZER,
    SummarizerParameters,
    summarizer_from,
)
from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.compact.compact import CompactOptions, compact
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import UsageError
from compactctl.history.protection import ProtectOptions
from compactctl.pipeline.layout import Layout
from compactctl.store.files.limits import ReadLimits
from compactctl.tokens.fit import Base

if TYPE_CHECKING:
    from compactctl.commands.output_files import PageChoice
    from compactctl.profiles.profile import Profile
    from compactctl.tokens.models.prices import Prices

_HELP = """Compact a transcript; every byte can be restored.

FILE is a transcript or a session (compactctl sessions); without it, or with -, standard input is
compacted to standard output. FILE itself is left alone: run.jsonl gives run.compacted.jsonl,
which its own client can load, and beside it an archive that compactctl rewind restores from.
In its client's store a session of Claude Code, Codex or pi gives a new session of that client;
with --native it is compacted where it is, by appending to it.

Without --stages and --profile, repeated file reads go (dedup), then the lines that will be
needed again stand in place of older messages (distill), until half of what the client takes is
free. With --stages, exactly those run, in the order given.
"""


@plain_command(
    file_argument("write"),
    PROFILE,
    PLAN,
    PLAN_FILE,
    PLAN_OUT,
    SUMMARIZER,
    PROTECT,
    FAIL_BASE,
    flag(
        "redo",
        SUMMARIES,
        ONE_RUN,
        "Start from the originals of what FILE's own client compacted, instead of its summaries.",
    ),
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
    opt(
        "archived_out",
        OUTPUT,
        WRITES,
        "Write what is hidden now here as well, as plain lines with their tags: what view "
        "--archived --jsonl prints.",
        path="here",
        metavar="FILE",
    ),
    NATIVE,
    WHILE_OPEN,
    PAGE,
    *layout_options(messages=True),
    flag("dry_run", OUTPUT, WRITES, "Do everything but write.", short="-n"),
    flag("explain", SHOWN, ONE_RUN, "List every message: what became of it, and why."),
    prices_option("Tell after how many requests the compaction has paid what a prompt cache loses"),
    flag("require_fit", MEASURED, MAY, "Fail (exit 5) when it does not fit afterwards."),
    flag(
        "require_audit",
        GATES,
        MAY,
        "Fail (exit 1) when a summary lost a rule or made something up.",
    ),
    flag("force", OUTPUT, WRITES, "Overwrite what compactctl did not write.", short="-f"),
    FORMAT,
    LIMITS,
    MEASURE,
    STRICT,
    SHOWN_AS,
    help=_HELP,
)
def compact_command(
    path: str,
    *,
    profile: "Profile | None",
    plan: PlanOptions,
    planned: str | None,
    plan_out: str | None,
    summarizer: SummarizerParameters,
    protect: ProtectOptions,
    redo: bool,
    output: str | None,
    in_place: bool,
    archived_out: str | None,
    native: bool,
    while_open: bool,
    page: "PageChoice | None",
    layout: Layout | Literal["messages"],
    tags: bool,
    dry_run: bool,
    explain: bool,
    prices: "Prices | None",
    require_fit: bool,
    require_audit: bool,
    fail_base: Base | None,
    force: bool,
    format_name: str | None,
    limits: ReadLimits,
    measure: MeasureOptions,
    strict: bool,
    shown_as: str,
) -> None:
    """Run ``compactctl compact``."""
    messages_only = layout == "messages"
    if (messages_only or path == STANDARD_STREAM) and not (in_place or native):
        output = output or STANDARD_STREAM
    layout = layout_into(output, layout)
    if not dry_run:
        shown_as = one_document(output, shown_as)
    decided = plan_from(planned)
    options = CompactOptions(
        input=InputOptions(path=path, format=format_name, limits=limits, strict=strict),
        recipe=Recipe(
            measure=replace(measure, profile=profile, base=fail_base),
            plan=plan,
            protect=protect,
            summarizer=summarizer_from(summarizer, profile),
        ),
        output=OutputOptions(
            path=output,
            in_place=in_place,
            layout="native" if native else "split" if layout == "messages" else layout,
            messages_only=messages_only,
            while_open=while_open,
            tags=tags,
            dry_run=dry_run,
            force=force,
        ),
        redo=redo if decided is None else decided.redo,
        plan_file=decided,
        as_plan=plan_out is not None,
        require_fit=require_fit,
        require_audit=require_audit,
        explain=explain,
        compare=page is not None,
        prices=prices,
    )
    from compactctl.commands.compact.result import with_idle_options
    from compactctl.commands.compact.side_files import (
        check_archived_out,
        with_archived_out,
        with_plan_out,
    )
    from compactctl.commands.inspect.view import hidden_lines, sent_records

    check_archived_out(options, archived_out)
    taken = tuple(filter(None, (*_taken(options, archived_out), planned)))
    if plan_out is not None:
        _check_plan_out(plan_out, taken, force=force)
        taken += (plan_out,)
    page = ready_page(_masked(page, summarizer), taken, force=force)
    with working("compacting", path, shown_as):
        result = with_plan_out(compact(options), plan_out, force=force)
        result = with_idle_options(result, options)
        result = with_archived_out(result, options, archived_out, hidden_lines)
    piped = result.data
    if messages_only and piped is not None:
        piped = sent_records(piped, path, result.format)
    emit(result, shown_as, piped=piped, page=page)


def _masked(page: "PageChoice | None", summarizer: SummarizerParameters) -> "PageChoice | None":
    """Return the page with what is asked about secrets in prompts and pages alike."""
    return None if page is None else replace(page, mask=summarizer.mask_secrets)


def _check_plan_out(plan_out: str, taken: tuple[str, ...], *, force: bool) -> None:
    """Raise UsageError where a plan cannot be written, before any work is done."""
    from compactctl.commands.output_files import check_report

    if plan_out == STANDARD_STREAM:
        raise UsageError("--plan-out writes a file, which you can edit; name one")
    check_report(plan_out, taken, force=force)


def _taken(options: CompactOptions, archived_out: str | None) -> tuple[str, ...]:
    """Return the files that a page or a plan must not take the place of."""
    from compactctl.commands.compact.place import target_of

    output = None if options.output.path == STANDARD_STREAM else target_of(options)
    return tuple(
        str(each) for each in (options.input.path, output, archived_out) if each is not None
    )
