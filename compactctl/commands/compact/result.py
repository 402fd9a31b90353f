"""What a compaction is asked for, and what it did."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from compactctl.commands.client_sessions.compactions import ClientCompaction
from compactctl.commands.client_sessions.write import OutputOptions, Written
from compactctl.commands.compact.audits import SummaryAudit
from compactctl.commands.measuring.figures import NO_DETAILS, DetailChoice, Figures, FileDetails
from compactctl.commands.measuring.measure import Measure
from compactctl.commands.measuring.next_request import CacheUse
from compactctl.commands.planning.fates import Comparison, Explained
from compactctl.commands.planning.plan import Recipe
from compactctl.commands.planning.plan_file import PlanFile
from compactctl.commands.reading.transcript import InputOptions
from compactctl.history.protection import pinned_by
from compactctl.model.counts import Restated
from compactctl.model.operation import Digest, StageRecord
from compactctl.model.summary import NO_TEXTS
from compactctl.model.transcript import Opaque
from compactctl.profiles.profile import Profile
from compactctl.stages.aliases import own_name
from compactctl.stages.summarizing.summarize import NAME as SUMMARIZE
from compactctl.tokens.fit import size_limit
from compactctl.tokens.models.prices import Prices
from compactctl.tokens.trigger import Situation


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactOptions:
    """One compaction, as it is asked for; see the command's help for the meaning.

    With ``redo`` what the client compacted is undone first. ``figures`` asks for those of what is
    read, ``details`` for rows about it, ``compare`` for what the messages say before and after,
    with an audit of every summary, ``as_plan`` for a plan that can be written to a file.
    ``plan_file`` is such a plan, which is carried out instead of any stage.
    """

    input: InputOptions
    recipe: Recipe = field(default_factory=Recipe)
    output: OutputOptions = field(default_factory=OutputOptions)
    redo: bool = False
    plan_file: PlanFile | None = None
    as_plan: bool = False
    prices: Prices | None = None
    explain: bool = False
    compare: bool = False
    require_fit: bool = False
    require_audit: bool = False
    figures: bool = False
    details: DetailChoice = NO_DETAILS


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactResult:
    """What a compaction did, or would do with ``dry_run``.

    ``written`` is None where nothing was; ``data`` are the pieces of the new transcript when it
    goes to standard output, ``archived_out`` is the file of tagged originals that was asked for,
    and ``plan_out`` that of the ``plan``, which is None unless asked for. ``before`` is the
    transcript that was read: as it was ahead of what was ``redone``, the compactions by the client
    that were undone first, and under its new id where a new session was made of it. ``restated``
    are the recorded counts that a client takes for the size of its context, None where they stay
    as they are.

    Tokens before and after are counted over the effective history; ``unseen`` are those that every
    request has beside it. ``largest_before`` is the largest next request with them, ``situation``
    that of the largest one after, which has to fit. ``unreported`` names the client that sends
    more, which nothing tells, "" for none.
    ``cache`` is what a prompt cache loses, and ``pays_after`` the number of requests after which
    the compaction has paid by the prices asked for.

    ``summaries`` are the texts of the summaries that were written, by group, and ``audits`` what
    is wrong with those that were audited; ``profile`` is the one in effect, ``keep_turns`` what was
    asked for. ``not_due`` says why no stage ran because compaction was not due, "" where they ran.
    ``figures`` are those of what was read, and ``details`` rows about it, None unless asked for;
    ``explained`` is empty where no option names messages, and ``explain`` tells whether it is to be
    shown; ``compared`` is None unless asked for.
    """

    path: str
    format: str
    measure: Measure
    target: int | None
    stages: tuple[StageRecord, ...]
    summaries: Mapping[str, str]
    profile: Profile
    tokens_before: int
    tokens_after: int
    unseen: int
    unseen_source: str
    unreported: str
    largest_before: int
    situation: Situation
    messages_before: int
    messages_after: int
    before: Digest
    after: Digest
    operation: str | None
    dry_run: bool
    explained: tuple[Explained, ...]
    warnings: tuple[str, ...]
    opaque: tuple[Opaque, ...]
    audits: tuple[SummaryAudit, ...] = ()
    explain: bool = False
    compared: Comparison | None = None
    figures: Figures | None = None
    details: FileDetails | None = None
    keep_turns: int | None = None
    restated: Restated | None = None
    cache: CacheUse | None = None
    pays_after: int | None = None
    redone: tuple[ClientCompaction, ...] = ()
    not_due: str = ""
    written: Written | None = None
    archived_out: str | None = None
    plan: PlanFile | None = None
    plan_out: str | None = None
    data: Iterable[bytes] | None = None

    @property
    def compacted(self) -> bool:
        """Whether any stage changed anything."""
        return any(record.outcome == "applied" for record in self.stages)

    @property
    def largest_after(self) -> int:
        """The tokens of the largest next request that is left."""
        return self.situation.tokens

    @property
    def limit(self) -> int:
        """The size to reach in tokens: the target within the window, or what gates refer to."""
        return size_limit(self.target, self.measure.limits)

    @property
    def fits(self) -> bool:
        """Whether every conversation is within the limit."""
        return self.largest_after <= self.limit


def with_idle_options(result: CompactResult, options: CompactOptions) -> CompactResult:
    """Return the result with a warning for every option that had no effect."""
    return replace(result, warnings=(*result.warnings, *_warnings(result, options)))


def _warnings(result: CompactResult, options: CompactOptions) -> Iterator[str]:
    yield from _pins(result, options)
    yield from _tools(result, options)
    yield from _settings(result, options)
    yield from _summarizer(result, options)
    yield from _instructions(options)


def _pins(result: CompactResult, options: CompactOptions) -> Iterator[str]:
    ids = {row.id for row in result.explained}
    reasons = {row.reason for row in result.explained}
    for pin in options.recipe.protect.pins:
        if pin not in ids and pinned_by(pin) not in reasons:
            yield f"--pin {pin}: no message stays because of it; check the id or the pattern"


def _tools(result: CompactResult, options: CompactOptions) -> Iterator[str]:
    names = dict.fromkeys(tool for row in result.explained for tool in row.tools)
    known = {name.casefold() for name in names}
    for tool in options.recipe.protect.tools:
        if tool.casefold() not in known:
            there = f"there are {', '.join(names)}" if names else "there are no tool calls"
            yield f"--protect-tool {tool}: no message calls this tool; {there}"


def _settings(result: CompactResult, options: CompactOptions) -> Iterator[str]:
    ran = [own_name(record.name) for record in result.stages]
    of_summaries = (SUMMARIZE,) if options.recipe.plan.texts != NO_TEXTS else ()
    for stage in dict.fromkeys((*options.recipe.plan.settings, *of_summaries)):
        if stage not in ran:
            yield f"options of {stage} have no effect: the stages are {', '.join(ran)}"


def _instructions(options: CompactOptions) -> Iterator[str]:
    given = options.recipe.plan.settings.get(SUMMARIZE, {}).get("instructions")
    if given and options.recipe.summarizer.kind == "offline":
        yield "--summarize-instructions has no effect on the built-in summary; see --summarizer"


def _summarizer(result: CompactResult, options: CompactOptions) -> Iterator[str]:
    wanted = result.profile.summarizer
    if wanted and wanted != options.recipe.summarizer.kind and result.summaries:
        yield (
            f"profile {result.profile.name}: a summary by {wanted} was not asked for; the "
            f"{options.recipe.summarizer.kind} summarizer wrote, see --summarizer"
        )
