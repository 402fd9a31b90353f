"""What a compaction is asked for, and what it did."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from compactctl.commands.client_sessions.compactions import ClientCompaction
from compactctl.commands.client_sessions.write import OutputOptions, Written
from compactctl.commands.compact.audits import WrittenSummary
from compactctl.commands.measuring.figures import NO_DETAILS, DetailChoice, Figures, FileDetails
from compactctl.commands.measuring.measure import Measurement
from compactctl.commands.planning.fates import Comparison, MessageFate
from compactctl.commands.planning.plan import Plan, Recipe
from compactctl.commands.planning.plan_file import PlanFile
from compactctl.commands.planning.run_stages import Outcome
from compactctl.commands.reading.transcript import InputOptions
from compactctl.history.protection import pin_reason
from compactctl.model.operation import Digest, StageRecord, StateChange
from compactctl.model.summary import NO_SUMMARY_INPUTS
from compactctl.model.transcript import Opaque
from compactctl.model.usage_fields import UsageRestatement
from compactctl.stages.aliases import canonical_name
from compactctl.stages.summarize import NAME as SUMMARIZE
from compactctl.tokens.fit import size_limit
from compactctl.tokens.models.prices import PriceTable


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactOptions:
    """One compaction, as it is asked for; see the command's help for the meaning.

    With ``redo`` what the client compacted is undone first. ``figures`` asks for those of what is
    read, ``details`` for rows about it, ``compare`` for what the messages say before and after,
    with an audit of every summary. ``plan_file`` is a plan that is carried out instead of any
    stage; ``plan_out`` is where one is written to, and ``archived_out`` where the lines are that
    are hidden then.
    """

    input: InputOptions
    recipe: Recipe = field(default_factory=Recipe)
    output: OutputOptions = field(default_factory=OutputOptions)
    redo: bool = False
    plan_file: PlanFile | None = None
    plan_out: str | None = None
    archived_out: str | None = None
    prices: PriceTable | None = None
    explain: bool = False
    compare: bool = False
    require_fit: bool = False
    require_audit: bool = False
    figures: bool = False
    details: DetailChoice = NO_DETAILS


@dataclass(frozen=True, slots=True, kw_only=True)
class Requested:
    """What a result has only where it was asked for, else None or ().

    ``fates`` has every message, also where options name messages; ``figures`` are those of what was
    read, and ``details`` rows about it. ``pays_after`` is the number of requests after which the
    compaction has paid, by the prices asked for, what a prompt cache loses.
    """

    fates: tuple[MessageFate, ...] = ()
    comparison: Comparison | None = None
    figures: Figures | None = None
    details: FileDetails | None = None
    plan_file: PlanFile | None = None
    pays_after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactResult:
    """What a compaction did, or would do in a dry run.

    ``options`` are those in effect: with the place, the layout and the new session that were
    decided on. ``change`` begins with the transcript that was read: as it was ahead of what was
    ``undone``, the compactions by its client, and under its new id where a new session was made of
    it. ``restated`` are the recorded counts that a client takes for the size of its context, None
    where they stay as they are. ``written`` is None where nothing was; ``data`` are the pieces of
    the new transcript when it goes to standard output.
    """

    options: CompactOptions
    format: str
    measure: Measurement
    plan: Plan
    outcome: Outcome
    change: StateChange
    summaries: tuple[WrittenSummary, ...] = ()
    restated: UsageRestatement | None = None
    undone: tuple[ClientCompaction, ...] = ()
    opaque: tuple[Opaque, ...] = ()
    requested: Requested = field(default_factory=Requested)
    written: Written | None = None
    data: Iterable[bytes] | None = None
    warnings: tuple[str, ...] = ()

    @property
    def before(self) -> Digest:
        """The state that was compacted."""
        return self.change.before

    @property
    def stages(self) -> tuple[StageRecord, ...]:
        """What each stage did, in order."""
        return self.outcome.stages

    @property
    def compacted(self) -> bool:
        """Whether any stage changed anything."""
        return any(record.outcome == "applied" for record in self.stages)

    @property
    def largest_after(self) -> int:
        """The tokens of the largest next request that is left."""
        return self.outcome.after.request_tokens

    @property
    def limit(self) -> int:
        """The size to reach in tokens: the target within the window, or what gates refer to."""
        return size_limit(self.outcome.target, self.measure.limits)

    @property
    def fits(self) -> bool:
        """Whether every conversation is within the limit."""
        return self.largest_after <= self.limit


def unused_options(result: CompactResult) -> tuple[str, ...]:
    """Return a warning for every option that had no effect, most often a slip of the pen."""
    return (
        *_pins(result),
        *_tools(result),
        *_settings(result),
        *_summarizer(result),
        *_instructions(result),
    )


def _pins(result: CompactResult) -> Iterator[str]:
    ids = {row.id for row in result.requested.fates}
    reasons = {row.reason for row in result.requested.fates}
    for pin in result.options.recipe.protect.pins:
        if pin not in ids and pin_reason(pin) not in reasons:
            yield f"--pin {pin}: no message stays because of it; check the id or the pattern"


def _tools(result: CompactResult) -> Iterator[str]:
    names = dict.fromkeys(tool for row in result.requested.fates for tool in row.tools)
    known = {name.casefold() for name in names}
    for tool in result.options.recipe.protect.tools:
        if tool.casefold() not in known:
            there = f"there are {', '.join(names)}" if names else "there are no tool calls"
            yield f"--protect-tool {tool}: no message calls this tool; {there}"


def _settings(result: CompactResult) -> Iterator[str]:
    ran = [canonical_name(record.name) for record in result.stages]
    of_summaries = (SUMMARIZE,) if result.options.recipe.plan.texts != NO_SUMMARY_INPUTS else ()
    for stage in dict.fromkeys((*result.options.recipe.plan.settings, *of_summaries)):
        if stage not in ran:
            yield f"options of {stage} have no effect: the stages are {', '.join(ran)}"


def _instructions(result: CompactResult) -> Iterator[str]:
    given = result.options.recipe.plan.settings.get(SUMMARIZE, {}).get("instructions")
    if given and result.options.recipe.summarizer.kind == "offline":
        yield "--summarize-instructions has no effect on the built-in summary; see --summarizer"


def _summarizer(result: CompactResult) -> Iterator[str]:
    wanted = result.plan.profile.summarizer.name
    if wanted and wanted != result.options.recipe.summarizer.kind and result.summaries:
        yield (
            f"profile {result.plan.profile.name}: a summary by {wanted} was not asked for; the "
            f"{result.options.recipe.summarizer.kind} summarizer wrote, see --summarizer"
        )
