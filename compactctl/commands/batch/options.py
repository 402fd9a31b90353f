"""The options of a batch."""

import math
from typing import Literal

from compactctl.asks import (
    GATES,
    INPUT,
    LOADS,
    MAY,
    ONE_RUN,
    OUTPUT,
    READS,
    SHOWN,
    WRITES,
    ask,
    flag,
)
from compactctl.clients.registry import format_named
from compactctl.commands.batch.report_format import (
    REPORT_FORMATS,
    Flag,
    ReportFormat,
    Runner,
    asked_tolerance,
    parse_flags,
)
from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.measuring.measure import NO_DETAILS, DetailChoice, counter_asked_for
from compactctl.commands.planning.plan import Recipe, make_plan
from compactctl.commands.reading.discover import FileChoice
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import UsageError
from compactctl.llm.summarizer_options import summarizer_for
from compactctl.records import Record, field
from compactctl.tokens.budget import Budget
from compactctl.tokens.fit import limits_of
from compactctl.tokens.models.token_sizes import parse_window

# Any window will do to check stages and target.
_ROOMY = limits_of(Budget(window=1_000_000_000, output_reserve=0, source="any"), None)


class BatchGates(Record):
    """The gates that rows are compared with when all files are done.

    No request may take more than the share ``fail_over`` of the measure's base; no project's
    figures may exceed the baseline by more than the share ``tolerance``.
    """

    fail_over: float | None = None
    fail_over_tokens: int | None = ask(
        None,
        "Exit 1 if the next request of a file is larger than this, e.g. 120k.",
        GATES,
        MAY,
        metavar="SIZE",
        parse=parse_window,
    )
    fail_on: tuple[Flag, ...] = ask(
        (),
        "Exit 1 if a file has any of these: opaque, refused, errors, over-window, usage. These "
        "are lines or text not recognized, what the provider or client refuses (see compactctl "
        "check), errors of tools, requests larger than the window, and reported sizes that "
        "cannot be true.",
        GATES,
        MAY,
        metavar="LIST",
        parse=parse_flags,
        typed="",
    )
    baseline: str | None = ask(
        None,
        "Exit 1 if a project's median request, its share of repeated file reads or of tool "
        "results has grown since this report.",
        GATES,
        READS,
        path="settings",
        metavar="FILE",
    )
    tolerance: float = asked_tolerance()


NO_GATES = BatchGates()


class BatchFiles(Record):
    """The files to write about a batch, and the CI runner whose log is to be annotated."""

    report: tuple[str, ...] = ask(
        (),
        "Write a row per file to this report, in the format of its extension or "
        "--report-format (repeatable).",
        OUTPUT,
        WRITES,
        path="here",
        metavar="FILE",
    )
    report_as: ReportFormat | None = ask(
        None,
        f"Format of reports: {', '.join(REPORT_FORMATS)}. [default: by extension, else parquet]",
        OUTPUT,
        WRITES,
        flag="--report-format",
        metavar="FORMAT",
    )
    messages_out: str | None = ask(
        None,
        "Write a row per message of all files to this Parquet file: tokens, category, tool, and "
        "the stage that removed it. Ignores the cache.",
        OUTPUT,
        WRITES,
        path="here",
        metavar="FILE",
    )
    rounds_out: str | None = ask(
        None,
        "Write a row per request of all files to this Parquet file, like stats --rounds-out.",
        OUTPUT,
        WRITES,
        path="here",
        metavar="FILE",
    )
    junit: str | None = ask(
        None,
        "Write a JUnit report, with one test per file.",
        OUTPUT,
        WRITES,
        path="here",
        metavar="FILE",
    )
    runner: Literal["none", "auto", Runner] = ask(
        "none",
        "Annotate the ten worst files in the CI log; auto detects the runner.",
        OUTPUT,
        WRITES,
        flag="--annotate",
    )

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of all the files."""
        others = (self.junit, self.messages_out, self.rounds_out)
        return (*self.report, *filter(None, others))

    @property
    def details(self) -> DetailChoice:
        """The rows that the files need besides those about files."""
        return DetailChoice(messages=bool(self.messages_out), rounds=bool(self.rounds_out))


Engine = Literal["local", "ray"]


class BatchOptions(Record):
    """Which files to process, and how.

    Attributes:
        input: how to read each file; its path is set per file.
        recipe: how to measure and compact; every worker process asks for summaries separately.
        output: its path is the folder for compacted transcripts and their archives.
        compacts: run stages, else only measure. Without an output folder, only for the figures.
        gates: what rows are compared with at the end; cached rows are without them.
        details: the rows about each file to return; files are read for them even if cached.
        written_paths: files to write at the end (reports, tables, a page); none may be an input or
            an output.
    """

    files: FileChoice
    input: InputOptions = field(default_factory=InputOptions)
    recipe: Recipe = field(default_factory=Recipe)
    output: OutputOptions = field(default_factory=OutputOptions)
    compacts: bool = False
    gates: BatchGates = NO_GATES
    details: DetailChoice = NO_DETAILS
    written_paths: tuple[str, ...] = ()
    require_fit: bool = flag(
        "Exit 5 if a file, or its result if stages run, does not fit.", GATES, MAY
    )
    require_audit: bool = flag("Exit 1 if a summary lost a rule or made something up.", GATES, MAY)
    cached: bool = flag(
        "Reuse cached figures of unchanged files. [default: cache]",
        INPUT,
        ONE_RUN,
        default=True,
        flag="--cache/--no-cache",
    )
    verify_cache: bool = flag(
        "Detect changed files by content instead of time and size.", INPUT, ONE_RUN
    )
    resume: bool = flag(
        "Resume an interrupted batch; skip files that are written and unchanged.", INPUT, ONE_RUN
    )
    jobs: int = ask(
        0,
        "Number of processes. [default: 0, as many as help]",
        INPUT,
        LOADS,
        short="-j",
        metavar="N",
    )
    engine: Engine = ask(
        "local",
        "Run the processes on this machine, or in a Ray cluster: that of RAY_ADDRESS, or one on "
        "this machine.",
        INPUT,
        LOADS,
    )
    show_all: bool = flag(
        "List every file, not only those with which something is wrong.",
        SHOWN,
        ONE_RUN,
        flag="--all",
    )
    timeout: float | None = ask(
        None,
        "Skip a file that takes longer (exit 75) and continue.",
        INPUT,
        LOADS,
        metavar="SECONDS",
    )

    @property
    def writes(self) -> bool:
        """Whether compacted transcripts are written."""
        return self.output.path is not None and not self.output.dry_run


def check_options(options: BatchOptions) -> None:
    """Raise UsageError for options that are wrong for any file, before the first one is read."""
    if options.jobs < 0:
        raise UsageError(
            f"--jobs {options.jobs}: must be a number of processes, or 0 to choose automatically"
        )
    if options.resume and not (options.writes and options.cached):
        raise UsageError(
            "--resume needs --out and the cache; add --out DIR, and leave out --no-cache"
        )
    share = options.gates.fail_over
    if share is not None and not 0 <= share < math.inf:
        raise UsageError(f"--fail-over {share:g}: must be a share, e.g. 80%")
    if options.input.format is not None:
        format_named(options.input.format)
    if counter := counter_asked_for(options.recipe.measure):
        # A counter command that does not work would fail for every file.
        counter.count_many(["text"])
    if options.require_audit and not options.compacts:
        raise UsageError(
            "--require-audit: no stage runs, so no summary can be audited; add --stages, or leave "
            "it out"
        )
    if options.compacts:
        make_plan(options.recipe, _ROOMY)
    summarizer_for(options.recipe.summarizer)
