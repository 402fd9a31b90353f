"""What a batch can be asked for."""

import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from compactctl.commands.batch.report import TOLERANCE
from compactctl.commands.batch.row import Flag
from compactctl.commands.measuring.figures import NO_DETAILS, DetailChoice
from compactctl.commands.measuring.measure import counter_asked_for
from compactctl.commands.planning.plan import Recipe, make_plan
from compactctl.commands.reading.discover import Input
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import UsageError
from compactctl.formats.registry import format_named
from compactctl.llm.choice import summarizer_for
from compactctl.pipeline.layout import Layout
from compactctl.tokens.budget import Budget
from compactctl.tokens.fit import limits_of

_SHARD = re.compile(r"(\d{1,6})/(\d{1,6})")


@dataclass(frozen=True, slots=True)
class Shard:
    """The part with this number, from 1, of so many."""

    number: int
    of: int

    def holds(self, item: Input) -> bool:
        """Tell whether an input is of this part, by its path below the folder it was found in."""
        digest = hashlib.sha256(item.below.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8]) % self.of == self.number - 1

    def chosen(self, inputs: Sequence[Input]) -> tuple[Input, ...]:
        """Return the inputs of this part, in their order."""
        return tuple(item for item in inputs if self.holds(item))


def parse_shard(text: str) -> Shard:
    """Read ``2/8``. Raises UsageError for anything else."""
    match = _SHARD.fullmatch(text.strip())
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise UsageError(f"{text!r} is not a part; write it as 2/8, for the second of eight")
    return Shard(int(match[1]), int(match[2]))


# Any window will do to find out whether stages and target mean something.
_ROOMY = limits_of(Budget(window=1_000_000_000, output_reserve=0, source="any"), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOptions:
    """Which files, and what to do with each of them.

    Attributes:
        paths: files, folders and patterns.
        include, exclude: see ``discover.Choice``.
        shard: the part of the files to work on, None for all.
        out: folder for compacted transcripts and their archives.
        recipe: how files are measured, and compacted; every worker process asks for summaries on
            its own.
        compacts: whether stages are run, else files are only measured. Without ``out`` they are run
            for the figures, and nothing is written.
        jobs: number of worker processes; 0 chooses.
        timeout: seconds that a file may take, None for any time.
        fail_over: share of the measure's base that no transcript may be over.
        fail_over_tokens: size that no transcript's next request may be over.
        fail_on: what no transcript may have.
        baseline: an earlier report, of which no project's figures may be exceeded by more than
            ``tolerance``.
        require_fit: fail a file whose context does not fit after all stages.
        require_audit: fail a file with a summary that lost a rule or made something up.
        cached: whether rows that an earlier batch found out are taken from the cache, and new ones
            kept there; ``verify_cache`` reads the files to see whether they are the same.
        resume: take what an earlier batch has written as done, as long as it is unchanged.
        skip_unknown: skip a file that no format recognizes also where it was named.
        column: the column of conversations in Parquet data sets, None to find it by its name.
        details: rows about each file that are wanted: files are read for them whatever is known.
        reports: files that are written when the batch is done; kept apart from inputs and outputs.
    """

    paths: tuple[str, ...]
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    shard: Shard | None = None
    out: str | None = None
    recipe: Recipe = field(default_factory=Recipe)
    compacts: bool = False
    input: InputOptions = field(default_factory=InputOptions)
    layout: Layout = "split"
    tags: bool = True
    skip_unknown: bool = False
    force: bool = False
    dry_run: bool = False
    jobs: int = 0
    timeout: float | None = None
    fail_over: float | None = None
    fail_over_tokens: int | None = None
    fail_on: tuple[Flag, ...] = ()
    baseline: str | None = None
    tolerance: float = TOLERANCE
    require_fit: bool = False
    require_audit: bool = False
    cached: bool = True
    verify_cache: bool = False
    resume: bool = False
    column: str | None = None
    details: DetailChoice = NO_DETAILS
    reports: tuple[str, ...] = ()

    @property
    def writes(self) -> bool:
        """Whether compacted transcripts are written."""
        return self.out is not None and not self.dry_run


def check_options(options: BatchOptions) -> None:
    """Raise UsageError for what means nothing for any file, before the first one is read."""
    if options.jobs < 0:
        raise UsageError(f"--jobs {options.jobs}: give a number of processes, or 0 to choose one")
    if options.resume and not (options.writes and options.cached):
        raise UsageError(
            "--resume goes on with a batch that writes; give --out, and leave out --no-cache"
        )
    if options.fail_over is not None and not 0 <= options.fail_over < math.inf:
        raise UsageError(f"--fail-over {options.fail_over:g}: give a share, such as 0.8")
    if options.input.format is not None:
        format_named(options.input.format)
    if asked := counter_asked_for(options.recipe.measure):
        # A program that cannot count would fail for every file.
        asked.count_many(["text"])
    if options.compacts:
        make_plan(options.recipe, _ROOMY)
    summarizer_for(options.recipe.summarizer)
