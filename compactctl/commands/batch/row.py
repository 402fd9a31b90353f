"""The row of a batch about one file."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Self

from compactctl.clients.registry import format_names
from compactctl.commands.batch.report_format import SOUND, Flag, GateOption, Status
from compactctl.commands.measuring.figures import FaultFigure, Figures
from compactctl.commands.measuring.measure import Measurement
from compactctl.commands.measuring.next_request import Totals
from compactctl.commands.planning.run_stages import Outcome, StagedConversation
from compactctl.errors import GATE_FAILED, INTERNAL_ERROR, DoesNotFitError
from compactctl.history.unread import describe_unread
from compactctl.records import Record, field, replace
from compactctl.tokens.budget import utilization
from compactctl.tokens.fit import LimitBase
from compactctl.tokens.verdict import Judgment, Verdict

MAX_FAULTS = 20
"""How many faults of a file a report lists."""


def severity(exit_code: int) -> tuple[int, int]:
    """Return a key that sorts exit codes, the one that a batch returns first.

    A failure of the program or the machine comes first, since then the result says little; then
    what a gate found, since gates are what the batch was asked about; then other failures; then 0.
    """
    if exit_code >= INTERNAL_ERROR:
        return 0, -exit_code
    if is_of_gate(exit_code):
        return 1, -exit_code
    return (2, -exit_code) if exit_code else (3, 0)


def is_of_gate(exit_code: int) -> bool:
    """Whether the code says that a gate found something."""
    return exit_code in (GATE_FAILED, DoesNotFitError.exit_code)


class RowMeasure(Record):
    """How a file was counted, and the sizes that its next request is compared with.

    ``exactness`` is how reliable the counts are, in the counter's words. ``window`` is the context
    window, ``available`` its share for input; ``base`` names the size that levels and
    ``--fail-over`` compare with, ``base_tokens`` is that size.
    """

    format: str
    model: str
    counter: str
    exactness: str
    window: int
    available: int
    base: LimitBase
    base_tokens: int

    @classmethod
    def of(cls, format_name: str, measured: Measurement) -> Self:
        """Return the measure of a transcript of this format."""
        return cls(
            format=format_name,
            model=measured.model.name,
            counter=measured.counter.id,
            exactness=measured.counter.exactness,
            window=measured.budget.window,
            available=measured.budget.available,
            base=measured.limits.base,
            base_tokens=measured.limits.base_tokens,
        )


class RowOutcome(Record):
    """The result of stages.

    ``after`` are the totals after them. ``stages`` names the stages that changed something,
    ``saved_by`` has the tokens that each of them saved. ``operation`` is the compaction's id,
    written or not, None if nothing changed. ``is_refused`` says whether the next request after them
    will be refused, ``is_unchanged`` whether they left the conversation as it was.
    """

    after: Totals
    stages: tuple[str, ...] = ()
    saved_by: Mapping[str, int] = field(default_factory=dict)
    operation: str | None = None
    is_refused: bool = False
    is_unchanged: bool = False

    @classmethod
    def of(
        cls,
        outcome: Outcome | StagedConversation,
        operation: str | None = None,
        *,
        is_refused: bool,
        is_unchanged: bool,
    ) -> Self:
        """Add up the records of each stage, which may run several times."""
        applied = [stage for stage in outcome.stages if stage.outcome == "applied"]
        saved_by: Counter[str] = Counter()
        for stage in applied:
            saved_by[stage.name] += stage.tokens_saved
        return cls(
            after=outcome.after,
            stages=tuple(stage.name for stage in applied),
            saved_by=dict(saved_by),
            operation=operation,
            is_refused=is_refused,
            is_unchanged=is_unchanged,
        )


class RowOutput(Record):
    """The written transcript, its digest, and its archive; ``etag`` is that of an object."""

    path: str
    sha256: str
    archive: str | None
    etag: str | None = None


class RowFailure(Record):
    """Why a file failed or is not a transcript, on one line, and its exit code."""

    error_class: str
    error: str
    exit_code: int


class BatchRow(Record):
    """One file and its results; parts that it does not have are None.

    Of a data set in Parquet or JSON lines, one conversation: ``path`` is then the file's with ``#``
    and the number of the row or line, and ``sha256`` is that of the conversation as read.

    Attributes:
        path: the path of the file.
        row: the number of a data set's row or line, from 1; None for a file.
        sha256: of the bytes on disk.
        measure, figures: None for a file that was not read, and for a conversation without
            messages.
        outcome: None if no stage ran.
        output: None if nothing was written.
        failure: None unless it failed or was skipped.
        is_skipped: it is not a transcript, and was not named as one.
        limit: the most tokens that ``--fail-over`` and ``--fail-over-tokens`` allow; None without
            these gates, see ``size_limit``.
        target: the tokens that stages were to reach, or that ``--require-fit`` allows.
        gates: the gates that it does not pass.
        milliseconds: the time it took.
    """

    path: str
    row: int | None = None
    sha256: str | None = None
    measure: RowMeasure | None = None
    figures: Figures | None = None
    outcome: RowOutcome | None = None
    output: RowOutput | None = None
    failure: RowFailure | None = None
    is_skipped: bool = False
    limit: int | None = None
    target: int | None = None
    gates: tuple[GateOption, ...] = ()
    milliseconds: int = 0

    def numbered(self, number: int, n_before: int) -> "BatchRow":
        """Return it as the row ``number`` of a data set with so many lines, or rows, before it."""
        if self.figures is None:
            return replace(self, row=number)
        faults = (replace(fault, line=fault.line + n_before) for fault in self.figures.faults)
        return replace(self, row=number, figures=replace(self.figures, faults=tuple(faults)))

    @property
    def is_read(self) -> bool:
        """Whether it did not fail and is a transcript."""
        return self.failure is None

    @property
    def is_empty(self) -> bool:
        """Whether it is a conversation without messages, some of whose figures are 0."""
        return self.is_read and self.figures is None

    @property
    def exit_code(self) -> int:
        """The exit code for this file alone."""
        if self.failure is not None:
            return 0 if self.is_skipped else self.failure.exit_code
        if "require-fit" in self.gates:
            return DoesNotFitError.exit_code
        return GATE_FAILED if self.gates else 0

    @property
    def is_bad(self) -> bool:
        """Whether a user should look at it: it fails the batch, or its status is not sound."""
        return self.exit_code != 0 or self.status not in SOUND

    @property
    def is_changed(self) -> bool:
        """Whether stages changed it."""
        return self.outcome is not None and not self.outcome.is_unchanged

    @property
    def size_limit(self) -> int | None:
        """The most tokens that its next request may have: that of the gates, or the window.

        Stages without a target were to reach what gates compare with, as those of ``compact``.
        """
        if self.limit is not None or self.measure is None:
            return self.limit
        is_aimed = self.outcome is None or self.target is not None
        return self.measure.window if is_aimed else self.measure.base_tokens

    @property
    def judgment(self) -> Judgment:
        """What is known about its largest next request, after stages if any ran."""
        outcome = self.outcome
        return Judgment(
            tokens=self.context,
            limit=self.size_limit,
            target=self.target,
            has_failed=not self.is_read,
            is_refused=bool(self.refused) if outcome is None else outcome.is_refused,
            is_incomplete=self.unread is not None,
            is_unchanged=outcome is not None and outcome.is_unchanged,
        )

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """All verdicts that are true, the worst first; none about what is not a transcript."""
        return () if self.is_skipped else self.judgment.verdicts

    @property
    def status(self) -> Status:
        """The worst verdict, or that it is flagged or not a transcript; see ``STATUSES``."""
        if self.is_skipped:
            return "skipped"
        judgment = self.judgment
        if judgment.fits and self.gates:
            return "flagged"
        return "ok" if judgment.verdict == "fits" else judgment.verdict

    @property
    def data_set(self) -> str | None:
        """The data set that the row is a conversation of, None for a file."""
        return None if self.row is None else self.path.removesuffix(f"#{self.row}")

    @property
    def counter(self) -> str | None:
        """The counter of its tokens."""
        return None if self.measure is None else self.measure.counter

    @property
    def tokens(self) -> int | None:
        """The tokens of the effective history before stages."""
        if self.figures is None:
            return 0 if self.is_empty else None
        return self.figures.totals.tokens

    @property
    def saved(self) -> int | None:
        """The tokens that stages saved."""
        if self.tokens is None or self.outcome is None:
            return None
        return self.tokens - self.outcome.after.tokens

    @property
    def context(self) -> int | None:
        """The tokens of the largest next request, after stages if any ran."""
        if self.figures is None:
            return None
        return (self.figures.totals if self.outcome is None else self.outcome.after).request_tokens

    @property
    def used(self) -> float | None:
        """``context`` as a share of ``base_tokens``."""
        if self.context is None or self.measure is None:
            return None
        return utilization(self.context, self.measure.base_tokens).ratio

    @property
    def level(self) -> str | None:
        """The level of ``used``."""
        if self.context is None or self.measure is None:
            return None
        return utilization(self.context, self.measure.base_tokens).level

    @property
    def ratio_before(self) -> float | None:
        """The largest next request before stages as a share of ``available``."""
        if self.figures is None or self.measure is None:
            return None
        return utilization(self.figures.totals.request_tokens, self.measure.available).ratio

    @property
    def ratio_after(self) -> float | None:
        """The largest next request after stages as a share of ``available``."""
        if self.outcome is None or self.measure is None:
            return None
        return utilization(self.outcome.after.request_tokens, self.measure.available).ratio

    @property
    def flags(self) -> tuple[Flag, ...]:
        """The flags of ``--fail-on`` that apply."""
        if self.figures is None or self.measure is None:
            return ()
        return tuple(_flags(self.figures, self.measure.window))

    @property
    def refused(self) -> tuple[FaultFigure, ...]:
        """What will be refused, line by line."""
        faults = () if self.figures is None else self.figures.faults
        return tuple(fault for fault in faults if fault.is_refused)

    @property
    def faults(self) -> tuple[str, ...]:
        """What will be refused: the rule and the line of each fault, at most ``MAX_FAULTS``."""
        return tuple(f"{fault.rule}:{fault.line}" for fault in self.refused[:MAX_FAULTS])

    @property
    def unread(self) -> str | None:
        """Where unread text is, if there is so much that the figures are too small."""
        return None if self.figures is None else describe_unread(self.figures.file.unread) or None


def _flags(figures: Figures, window: int) -> Iterator[Flag]:
    if figures.file.opaque_lines or figures.file.unread.is_significant:
        yield "opaque"
    if any(fault.is_refused for fault in figures.faults):
        yield "refused"
    if figures.orphans:
        yield "orphans"
    if figures.tool_errors:
        yield "errors"
    if figures.totals.request_tokens > window:
        yield "over-window"
    if figures.is_doubted:
        yield "usage"


def failed_row(path: str, error_class: str, message: str, exit_code: int) -> BatchRow:
    """Return the row of a file that could not be processed; the message becomes one line.

    It names no formats: that list would be the same for each file.
    """
    names = format_names()
    for listed, instead in ((f" ({names})", ""), (f" one of {names}", " one")):
        message = message.replace(listed, instead)
    failure = RowFailure(
        error_class=error_class, error=" ".join(message.split()), exit_code=exit_code
    )
    return BatchRow(path=path, failure=failure)
