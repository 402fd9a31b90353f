"""What a compaction is asked for, and what it did."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from compactctl.commands.by_client.compactions import ClientCompaction
from compactctl.commands.compact.audits import SummaryAudit
from compactctl.commands.compact.compared import Comparison
from compactctl.commands.forking.written import OutputOptions, Written
from compactctl.commands.loading.load import InputOptions
from compactctl.commands.planning.explain import Explained
from compactctl.commands.planning.plan import Recipe
from compactctl.commands.planning.plan_file import PlanFile
from compactctl.commands.sizing.details import NO_DETAILS, DetailChoice, FileDetails
from compactctl.commands.sizing.figures import Figures
from compactctl.commands.sizing.measure import Measure
from compactctl.commands.sizing.prompt_cache import CacheUse
from compactctl.model.counts import Restated
from compactctl.model.operation import Digest, StageRecord
from compactctl.model.transcript import Opaque
from compactctl.profiles.profile import Profile
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
    notes: tuple[str, ...]
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
