"""What a batch can be asked for."""

import math
from dataclasses import dataclass, field

from compactctl.commands.batch.report import TOLERANCE
from compactctl.commands.batch.row import Flag
from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.measuring.figures import NO_DETAILS, DetailChoice
from compactctl.commands.measuring.measure import counter_asked_for
from compactctl.commands.planning.plan import Recipe, make_plan
from compactctl.commands.reading.discover import FileChoice
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import UsageError
from compactctl.formats.registry import format_named
from compactctl.llm.summarizer_options import summarizer_for
from compactctl.tokens.budget import Budget
from compactctl.tokens.fit import limits_of

# Any window will do to find out whether stages and target mean something.
_ROOMY = limits_of(Budget(window=1_000_000_000, output_reserve=0, source="any"), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchGates:
    """What rows are held against when all is done.

    Attributes:
        fail_over: share of the measure's base that no transcript may be over.
        fail_over_tokens: size that no transcript's next request may be over.
        fail_on: what no transcript may have.
        baseline: an earlier report, of which no project's figures may be exceeded by more than
            ``tolerance``.
    """

    fail_over: float | None = None
    fail_over_tokens: int | None = None
    fail_on: tuple[Flag, ...] = ()
    baseline: str | None = None
    tolerance: float = TOLERANCE


NO_GATES = BatchGates()


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOptions:
    """Which files, and what to do with each of them.

    Attributes:
        files: which files are worked on: paths, folders, patterns, and what is left out of them.
        input: how each file is read; its path is filled in per file.
        recipe: how files are measured, and compacted; every worker process asks for summaries on
            its own.
        output: its path is the folder for compacted transcripts and their archives.
        compacts: whether stages are run, else files are only measured. Without a folder to write to
            they are run for the figures.
        require_fit: fail a file whose context does not fit after all stages.
        require_audit: fail a file with a summary that lost a rule or made something up.
        gates: what rows are held against once they are known; the cache keeps rows without.
        cached: whether rows that an earlier batch found out are taken from the cache, and new ones
            kept there; ``verify_cache`` reads the files to see whether they are the same.
        resume: take what an earlier batch has written as done, as long as it is unchanged.
        jobs: number of worker processes; 0 chooses.
        timeout: seconds that a file may take, None for any time.
        details: rows about each file that are wanted: files are read for them whatever is known.
        written_paths: files that are written when the batch is done (reports, tables, a page); none
            may be an input or an output.
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
    timeout: float | None = None
    details: DetailChoice = NO_DETAILS
    written_paths: tuple[str, ...] = ()

    @property
    def writes(self) -> bool:
        """Whether compacted transcripts are written."""
        return self.output.path is not None and not self.output.dry_run


def check_options(options: BatchOptions) -> None:
    """Raise UsageError for what means nothing for any file, before the first one is read."""
    if options.jobs < 0:
        raise UsageError(f"--jobs {options.jobs}: give a number of processes, or 0 to choose one")
    if options.resume and not (options.writes and options.cached):
        raise UsageError(
            "--resume goes on with a batch that writes; give --out, and leave out --no-cache"
        )
    share = options.gates.fail_over
    if share is not None and not 0 <= share < math.inf:
        raise UsageError(f"--fail-over {share:g}: give a share, such as 0.8")
    if options.input.format is not None:
        format_named(options.input.format)
    if asked := counter_asked_for(options.recipe.measure):
        # A program that cannot count would fail for every file.
        asked.count_many(["text"])
    if options.compacts:
        make_plan(options.recipe, _ROOMY)
    summarizer_for(options.recipe.summarizer)
