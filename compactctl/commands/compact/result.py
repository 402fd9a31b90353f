"""The options and the result of a compaction, and warnings about options without effect."""

from collections.abc import Iterable, Iterator

from compactctl.asks import (
    GATES,
    MAY,
    ONE_RUN,
    OUTPUT,
    PLAN_FILES,
    POLICY,
    SHOWN,
    SUMMARIES,
    WRITES,
    ask,
    flag,
)
from compactctl.commands.client_sessions.write import OutputOptions, Written
from compactctl.commands.compact.audits import WrittenSummary
from compactctl.commands.measuring.figures import Figures, FileDetails
from compactctl.commands.measuring.measure import NO_DETAILS, DetailChoice, Measurement
from compactctl.commands.measuring.user_tables import asked_prices
from compactctl.commands.planning.fates import Comparison, MessageFate
from compactctl.commands.planning.plan import Plan, Recipe
from compactctl.commands.planning.plan_file import PlanFile
from compactctl.commands.planning.run_stages import Outcome
from compactctl.commands.reading.transcript import InputOptions
from compactctl.history.error_subject import ErrorSubject
from compactctl.history.faults import Fault, refused_among
from compactctl.history.protection import pin_reason
from compactctl.model.client_compaction import ClientCompaction
from compactctl.model.operation import Digest, StageRecord, StateChange
from compactctl.model.summary import NO_SUMMARY_INPUTS
from compactctl.model.transcript import Opaque
from compactctl.model.usage_fields import UsageRestatement
from compactctl.records import Record, field
from compactctl.stages.aliases import canonical_name
from compactctl.stages.summarize import NAME as SUMMARIZE
from compactctl.tokens.fit import size_limit
from compactctl.tokens.models.prices import PriceTable
from compactctl.tokens.verdict import Judgment


class CompactOptions(Record):
    """One compaction.

    Attributes:
        plan_file: a plan to apply instead of running stages.
        only_accepted: write nothing if nothing changed and the next request will be refused.
        compare: return every message before and after, and audit every summary.
        figures: return figures about the input.
        details: the rows about the input to return.
    """

    input: InputOptions
    recipe: Recipe = field(default_factory=Recipe)
    output: OutputOptions = field(default_factory=OutputOptions)
    plan_file: PlanFile | None = None
    plan_out: str | None = ask(
        None,
        "Write a plan for each message to this file, to edit and apply with --plan.",
        PLAN_FILES,
        WRITES,
        path="here",
        metavar="FILE",
    )
    redo: bool = flag(
        "Start from the original messages instead of the client's own summaries.",
        SUMMARIES,
        ONE_RUN,
    )
    end: str | None = ask(
        None,
        "Continue from this message (a line, a reference or an id), without what was written after "
        "it: compactctl view --archived lists branches and history that was cut off.",
        POLICY,
        ONE_RUN,
        flag="--from",
        metavar="LINE",
    )
    archived_out: str | None = ask(
        None,
        "Also write the hidden messages to this file, as compactctl view --archived --jsonl "
        "prints them.",
        OUTPUT,
        WRITES,
        path="here",
        metavar="FILE",
    )
    explain: bool = flag("List what happened to each message, and why.", SHOWN, ONE_RUN)
    prices: PriceTable | None = asked_prices(
        "Estimate after how many requests the compaction pays for the lost prompt cache"
    )
    require_fit: bool = flag("Exit 5 if the result still does not fit.", GATES, MAY)
    require_audit: bool = flag("Exit 1 if a summary lost a rule or made something up.", GATES, MAY)
    only_accepted: bool = False
    compare: bool = False
    figures: bool = False
    details: DetailChoice = NO_DETAILS


class Requested(Record):
    """The parts of a result that are computed on request only, else None or ().

    ``fates`` is also computed if options name messages (pins, protected tools). ``title`` is the
    session's title or first prompt. ``figures`` and ``details`` describe the input. ``pays_after``
    is the number of requests after which the compaction has paid for the lost prompt cache.
    """

    fates: tuple[MessageFate, ...] = ()
    comparison: Comparison | None = None
    title: str = ""
    figures: Figures | None = None
    details: FileDetails | None = None
    plan_file: PlanFile | None = None
    pays_after: int | None = None


class EarlierEnd(Record):
    """Where a transcript was ended: the index of its last line, and how many messages followed."""

    line: int
    left_out: int


class CompactResult(Record):
    """What a compaction did, or would do in a dry run.

    Attributes:
        options: the options in effect, with the output path, layout and new session resolved.
        format: the format of the transcript.
        measure: how tokens were counted, and against which limits.
        plan: the stages and the size to reach.
        outcome: what the stages did, in figures.
        change: the states before and after. The one before still has the compactions ``undone``,
            and the new session's id if one was made.
        summaries: the summaries written.
        restated: the usage from which the client reads its context size, None if unchanged.
        undone: the compactions by the client that were undone first.
        end: where ``--from`` ended the input, None if it was not.
        subject: what the error to recover from is about.
        faults: what will be refused of the input.
        remaining: what will still be refused afterwards.
        opaque: content that was copied without being understood.
        unread: where text is that was not read, "" if all was; every size is then too small.
        requested: the parts that options ask for.
        written: what was written to disk, None if nothing was.
        earlier: the new session that the same compaction wrote before, so that it wrote none now.
        data: the new transcript in chunks, if it goes to standard output.
        warnings: what the user should know.
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
    end: EarlierEnd | None = None
    subject: ErrorSubject | None = None
    faults: tuple[Fault, ...] = ()
    remaining: tuple[Fault, ...] = ()
    opaque: tuple[Opaque, ...] = ()
    unread: str = ""
    requested: Requested = field(default_factory=Requested)
    written: Written | None = None
    earlier: Written | None = None
    data: Iterable[bytes] | None = None
    warnings: tuple[str, ...] = ()

    @property
    def misses_error(self) -> bool:
        """Whether the transcript does not show what the error to recover from is about."""
        return self.subject is not None and not self.subject.faults

    @property
    def before(self) -> Digest:
        """The state that was compacted."""
        return self.change.before

    @property
    def stages(self) -> tuple[StageRecord, ...]:
        """The records of the stages, in the order they ran."""
        return self.outcome.stages

    @property
    def compacted(self) -> bool:
        """Whether any stage changed anything."""
        return self.outcome.is_changed

    @property
    def largest_after(self) -> int:
        """Tokens of the largest next request after the compaction."""
        return self.outcome.after.request_tokens

    @property
    def limit(self) -> int:
        """The target in tokens, capped by the window; without a target, the size gates compare."""
        return size_limit(self.outcome.target, self.measure.limits)

    @property
    def judgment(self) -> Judgment:
        """The largest next request, compared with its limits."""
        return self.outcome.judge(
            self.measure.limits,
            is_refused=bool(refused_among(self.remaining)),
            is_incomplete=bool(self.unread),
        )

    @property
    def fits(self) -> bool:
        """Whether the next request of every conversation is known to be within its limits."""
        return self.judgment.is_within


def unused_options(result: CompactResult) -> tuple[str, ...]:
    """Return a warning for every option that had no effect; most are typing errors."""
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
            yield f"--pin {pin}: matches no message; check the id or the pattern"


def _tools(result: CompactResult) -> Iterator[str]:
    names = dict.fromkeys(tool for row in result.requested.fates for tool in row.tools)
    lower_names = {name.casefold() for name in names}
    for tool in result.options.recipe.protect.tools:
        if tool.casefold() not in lower_names:
            available = f"there are {', '.join(names)}" if names else "there are no tool calls"
            yield f"--protect-tool {tool}: no message calls this tool; {available}"


def _settings(result: CompactResult) -> Iterator[str]:
    ran = [canonical_name(record.name) for record in result.stages]
    of_summaries = (SUMMARIZE,) if result.options.recipe.plan.texts != NO_SUMMARY_INPUTS else ()
    for stage in dict.fromkeys((*result.options.recipe.plan.settings, *of_summaries)):
        if stage not in ran:
            yield f"options of {stage} have no effect: the stages are {', '.join(ran)}"


def _instructions(result: CompactResult) -> Iterator[str]:
    instructions = result.options.recipe.plan.settings.get(SUMMARIZE, {}).get("instructions")
    if instructions and result.options.recipe.summarizer.kind == "offline":
        yield "--summarize-instructions has no effect on the built-in summary; see --summarizer"


def _summarizer(result: CompactResult) -> Iterator[str]:
    requested = result.plan.profile.summarizer.name
    if requested and requested != result.options.recipe.summarizer.kind and result.summaries:
        yield (
            f"profile {result.plan.profile.name}: the summary was not written by {requested} but "
            f"by the {result.options.recipe.summarizer.kind} summarizer; see --summarizer"
        )
