"""The stretches of a history between its operations, in which others only added to the transcript.

Every state is in one of them, whatever the layout of the operations around it:

    first state, more turns | compact A | outcome, more turns | rewind | outcome, more turns
    `----- period () -----'             `--- period (A) ----'          `---- period () ----'
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cached_property

from compactctl.clients.registry import format_named
from compactctl.commands.operations.steps import ArchivedStep, OperationStep
from compactctl.errors import ArchiveError, ChangedError, CompactctlError
from compactctl.model.operation import OperationId
from compactctl.model.tags import APPENDED_BYTES
from compactctl.pipeline.document_records import read_records
from compactctl.records import Record, replace
from compactctl.store.archive.growth import (
    Growth,
    KnownState,
    find_growth,
    grown,
    joined,
    operation_of_line,
)
from compactctl.store.files.content import ChunksAndTail, Content, canonical_suffix, suffix_after
from compactctl.store.files.source import split_lines


class PeriodStart(Record):
    """What may have led to a period: a step, or the earlier period that it continues."""

    origin: "OperationStep | Period"
    state: Callable[[], KnownState]

    @property
    def step(self) -> OperationStep | None:
        """The step, None for an earlier period."""
        return None if isinstance(self.origin, Period) else self.origin

    @property
    def appended_by(self) -> OperationStep | None:
        """The rewind that it is, or that the earlier period began with, if it only appended."""
        if isinstance(self.origin, Period):
            return self.origin.appended_by
        is_appended = self.origin.is_rewind and self.origin.is_appended
        return self.origin if is_appended else None


class Period(Record, dict=True, gc=True):
    """A stretch of a history without an operation.

    Attributes:
        chain: the compactions in effect, oldest first.
        end: the chunks of the state that it ends with; can be iterated more than once.
        starts: what may have led to it, oldest first; empty for the oldest period, and if what led
            to it is lost.
        is_oldest: whether no period is known before it.
        where: the transcript named in errors.
    """

    chain: tuple[OperationId, ...]
    end: Iterable[bytes]
    starts: tuple[PeriodStart, ...]
    is_oldest: bool
    where: str

    @property
    def appended_by(self) -> OperationStep | None:
        """The rewind that it began with, if that only appended records."""
        if not any(start.appended_by for start in self.starts):
            return None
        match = self._match
        return None if match is None else self.starts[match[0]].appended_by

    @property
    def growth(self) -> Growth:
        """What others added in it.

        Raises ArchiveError if what led to its start is lost, ChangedError if it does not follow.
        """
        if self.is_oldest:
            return Growth()
        if not self.starts:
            raise ArchiveError(
                f"{self.where}: what was added before a later operation is in an archive that is "
                "lost; put it back (compactctl log names it)"
            )
        if self._match is None:
            raise ChangedError(
                f"{self.where}: text was appended to an unterminated last line, or edited, and "
                "would be cut off; remove it first, or choose another operation"
            )
        return self._match[1]

    @cached_property
    def _match(self) -> tuple[int, Growth] | None:
        match = find_growth(self.end, [start.state() for start in self.starts])
        if match is None:
            return None
        index, growth = match
        return index, self._said_in(self.starts[index], _by_others(growth))

    def _said_in(self, start: PeriodStart, growth: Growth) -> Growth:
        """Leave out what was said before, where the client appends a session once more."""
        format_name = start.step.format if start.step else ""
        if not (growth.suffix and format_name and format_named(format_name).repeats_session):
            return growth
        earlier = split_lines(b"".join(self.end)[: start.state().digest.n_bytes])
        added = split_lines(suffix_after(growth.suffix, is_mid_line=False))
        said = b"".join(format_named(format_name).said_since(earlier, added))
        return replace(growth, suffix=canonical_suffix(said, is_mid_line=False))


class Reached(Record, dict=True, gc=True):
    """A past state, and the periods since then, in which others added to the transcript."""

    base: Iterable[bytes]
    later: Sequence[Period]

    @property
    def growths(self) -> tuple[Growth, ...]:
        """What was added since, as far as it is known."""
        return tuple(added for added in self._added if isinstance(added, Growth))

    @property
    def losses(self) -> tuple[CompactctlError, ...]:
        """Why more may have been added since that is lost."""
        return tuple(added for added in self._added if isinstance(added, CompactctlError))

    @cached_property
    def _added(self) -> tuple[Growth | CompactctlError, ...]:
        return tuple(map(_growth_or_error, self.later))

    @property
    def n_added(self) -> int:
        """The bytes that were added since."""
        return sum(growth.n_bytes for growth in self.growths)

    @property
    def content(self) -> Content:
        """The past state with what was added since."""
        if any(growth.records for growth in self.growths):
            return Content.from_chunks((grown(b"".join(self.base), self.growths),))
        base = Content.from_chunks(self.base)
        suffix = suffix_after(joined(self.growths), is_mid_line=base.ends_mid_line)
        return Content.from_chunks(ChunksAndTail(lambda: self.base, suffix)) if suffix else base


def _growth_or_error(period: Period) -> Growth | CompactctlError:
    try:
        return period.growth
    except CompactctlError as error:
        return error


def state_after(step: OperationStep) -> KnownState:
    """Return the outcome of a step; IntegrityError if its originals were edited."""
    if isinstance(step, ArchivedStep):
        return KnownState.after(step.operation)
    return KnownState(digest=step.after, records=step.records)


def state_before(step: OperationStep) -> KnownState:
    """Return the state before a step; its records only if it can be restored."""
    path = step.records.path if step.records else None
    with suppress(CompactctlError):
        records = None if path is None else read_records(step.before(), path)
        return KnownState(digest=step.before_digest, records=records)
    return KnownState(digest=step.before_digest)


def _by_others(growth: Growth) -> Growth:
    """Leave out lines that compactctl appended: they belong to an operation, not to others."""
    if APPENDED_BYTES not in growth.suffix:
        return growth
    lines = split_lines(suffix_after(growth.suffix, is_mid_line=False))
    by_others = b"".join(line for line in lines if operation_of_line(line) is None)
    return replace(growth, suffix=canonical_suffix(by_others, is_mid_line=False))
