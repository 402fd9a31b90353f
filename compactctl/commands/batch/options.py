"""The options of a batch."""

import math
from typing import Literal

from compactctl.commands.batch.report_format import Flag, growth_tolerance
from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.measuring.measure import NO_DETAILS, DetailChoice, counter_asked_for
from compactctl.commands.planning.plan import Recipe, make_plan
from compactctl.commands.reading.discover import FileChoice
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import UsageError
from compactctl.formats.registry import format_named
from compactctl.llm.summarizer_options import summarizer_for
from compactctl.records import Record, field
from compactctl.tokens.budget import Budget
from compactctl.tokens.fit import limits_of

# Any window will do to check stages and target.
_ROOMY = limits_of(Budget(window=1_000_000_000, output_reserve=0, source="any"), None)


class BatchGates(Record):
    """The gates that rows are compared with when all files are done.

    Attributes:
        fail_over: the maximum share of the measure's base.
        fail_over_tokens: the maximum size of the next request in tokens.
        fail_on: flags that no transcript may have.
        baseline: an earlier report; no project's figures may exceed it by more than ``tolerance``.
    """

    fail_over: float | None = None
    fail_over_tokens: int | None = None
    fail_on: tuple[Flag, ...] = ()
    baseline: str | None = None
    tolerance: float = growth_tolerance()


NO_GATES = BatchGates()


Engine = Literal["local", "ray"]


class BatchOptions(Record):
    """Which files to process, and how.

    Attributes:
        files: the paths, folders and patterns, and what to skip in them.
        input: how to read each file; its path is set per file.
        recipe: how to measure and compact; every worker process asks for summaries separately.
        output: its path is the folder for compacted transcripts and their archives.
        compacts: run stages, else only measure. Without an output folder, only for the figures.
        require_fit: fail a file whose context does not fit after all stages.
        require_audit: fail a file with a summary that lost a rule or made something up.
        gates: what rows are compared with at the end; cached rows are without them.
        cached: use and store rows in the cache.
        verify_cache: read files to check that cached rows are still right.
        resume: skip files that an earlier batch has written and that are unchanged.
        jobs: the number of worker processes; 0 chooses.
        engine: where these processes are: on this machine, or in a Ray cluster.
        timeout: the time limit of a file in seconds, None for no limit.
        details: the rows about each file to return; files are read for them even if cached.
        written_paths: files to write at the end (reports, tables, a page); none may be an input or
            an output.
    """

    files: FileChoice
    input: InputOptions = field(default_factory=InputOptions)
    recipe: Recipe = field(default_factory=Recipe)
    output: OutputOptions = field(default_factory=OutputOptions)
    compacts: bool = False
    require_fit: bool = False
    require_audit: bool = False
    gates: BatchGates = NO_GATES
    cached: bool = True
    verify_cache: bool = False
    resume: bool = False
    jobs: int = 0
    engine: Engine = "local"
    timeout: float | None = None
    details: DetailChoice = NO_DETAILS
    written_paths: tuple[str, ...] = ()

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
    if options.compacts:
        make_plan(options.recipe, _ROOMY)
    summarizer_for(options.recipe.summarizer)
