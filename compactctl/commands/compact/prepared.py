"""Writes a compaction that is laid out to where it belongs."""

from collections.abc import Sequence
from functools import partial

from compactctl.clients.fork import Fork
from compactctl.clients.format import Format
from compactctl.clients.session import Session
from compactctl.commands.client_sessions.native import CarriedBlock
from compactctl.commands.client_sessions.new_session import complete_session
from compactctl.commands.client_sessions.write import (
    Destination,
    OutputOptions,
    Written,
    append_to,
    earlier_deposits,
    write,
)
from compactctl.commands.compact.draft import operation_id
from compactctl.commands.compact.place import target_of
from compactctl.commands.compact.result import CompactOptions, CompactResult
from compactctl.commands.copies import copies_of
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.steps import ArchivedStep
from compactctl.commands.reading.proof import ExpectedMessage
from compactctl.history.faults import Fault
from compactctl.records import Record, replace
from compactctl.store.archive.archive import archive_folder
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.files.content import Content, last_byte_and_rest
from compactctl.store.files.source import STANDARD_STREAM, Source, open_input, split_lines
from compactctl.store.publish.publish import resolve_output


class Prepared(Record):
    """A compaction that is laid out; it holds no messages.

    Attributes:
        result: the result so far, without ``written`` and ``data``.
        source: the input file.
        history: the operations behind it.
        format: its format.
        content: the new file; if nothing changed, the old one.
        expected: the messages that the new file must hold; () if it is the old one.
        unrepaired: what the error that it recovers from is about, where that is still as it was.
        identity: the text whose hash is the id of the operation, "" if nothing changed.
        deposits: the archives to write: of the client's compactions undone first, of the operation.
        undo_option: the option that undoing it takes, or "".
    """

    result: CompactResult
    source: Source
    history: OperationHistory
    format: Format
    content: Content
    expected: tuple[ExpectedMessage, ...] = ()
    unrepaired: tuple[Fault, ...] = ()
    identity: str = ""
    deposits: tuple[ArchiveDraft, ...] = ()
    undo_option: str = ""

    @property
    def is_changed(self) -> bool:
        """Whether the stages changed anything."""
        return self.result.change.operation is not None

    def publish(self) -> CompactResult:
        """Write the new transcript; if nothing changed, only to an output that was named."""
        output = self.result.options.output
        if self._is_idle:
            return self.result
        earlier = None if output.force else self._earlier()
        if earlier is not None:
            return replace(self.result, earlier=earlier)
        if output.path == STANDARD_STREAM:
            warnings = (*self.result.warnings, *_left_behind(self.source, self.history))
            return replace(self.result, data=self.content.chunks, warnings=warnings)
        place = self._place
        deposits = self._deposits(place)
        if output.layout == "native":
            _, block = last_byte_and_rest(self.content.chunks, self.source.digest.n_bytes)
            written = append_to(place, self.source, block, deposits, self._carry(block, deposits))
        else:
            written = write(place, self.source, self.content, deposits)
        written = replace(written, undo_option=self.undo_option)
        warnings = (*self.result.warnings, *written.warnings)
        return replace(self.result, written=written, warnings=warnings)

    def check_place(self) -> None:
        """Raise what ``publish`` would raise about the output path."""
        output = self.result.options.output
        is_new = output.path == STANDARD_STREAM or output.fork
        if self._is_idle or is_new or output.layout == "native":
            return
        place = self._place
        resolve_output(
            source=self.source,
            target=place.target,
            content=self.content,
            is_archived=bool(self._deposits(place)),
            force=output.force,
        )

    @property
    def _is_idle(self) -> bool:
        """Whether there is nothing to write: no change, and no output named, or one in vain."""
        options = self.result.options
        if options.only_accepted and self.result.misses_error and not self.is_changed:
            return True
        is_vain = options.only_accepted and self.result.judgment.is_refused
        return not self.deposits and (options.output.path is None or is_vain)

    def _earlier(self) -> Written | None:
        """Return the new session that this compaction wrote before, if it is as it was then."""
        fork, path = self.result.options.output.fork, self.source.path
        if (
            fork is None
            or path is None
            or self.source.identity is None
            or not self.deposits
            or self.result.undone
        ):
            return None
        since = self.source.identity.mtime_ns / 1e9
        is_ended = self.result.end is not None
        accepts = self._is_ended_alike if is_ended else partial(self._is_made_by, fork)
        copies = copies_of(str(path), self.source, 0 if is_ended else -1, accepts, since=since)
        copy = next(copies, None)
        return self._written_before(copy, fork) if copy else None

    def _is_ended_alike(self, copy: Session, step: ArchivedStep) -> bool:
        """Return whether a session is the same up to the same line, and otherwise unchanged."""
        first = self.deposits[0].operation
        is_alike = (step.operation.kind, step.operation.detail) == (first.kind, first.detail)
        return is_alike and not self.is_changed and self._is_outcome(copy, step)

    def _is_outcome(self, copy: Session, step: ArchivedStep) -> bool:
        return open_input(str(copy.entry.path), self.source.limits).digest == step.operation.after

    def _is_made_by(self, fork: Fork, copy: Session, step: ArchivedStep) -> bool:
        """Return whether a session is the outcome of this operation, but for names of the fork."""
        identity = self.identity
        for old, new in (
            (self.result.before.sha256, step.operation.before.sha256),
            (fork.path.name, copy.entry.path.name),
            (fork.id, copy.id),
        ):
            identity = identity.replace(old, new)
        return step.id == operation_id(identity) and self._is_outcome(copy, step)

    def _written_before(self, copy: Session, fork: Fork) -> Written:
        """Write the other files of the session if the earlier run was killed before it did."""
        complete_session(fork, copy)
        place = replace(self._place, path=str(copy.entry.path), output=OutputOptions())
        return Written(
            output=str(copy.entry.path), forked_to=copy.id, continue_with=place.continue_with
        )

    def _carry(self, block: bytes, deposits: Sequence[ArchiveDraft]) -> CarriedBlock | None:
        rules = self.format.native_append()
        if rules is None or self.source.path is None or self.source.ends_mid_line:
            return None
        return CarriedBlock(
            path=self.source.path,
            rules=rules,
            lines=split_lines(block),
            operation=deposits[-1].operation.id,
        )

    @property
    def _place(self) -> Destination:
        options = self.result.options
        return Destination(
            path=options.input.path,
            target=target_of(options),
            output=options.output,
            model=self.result.measure.long_window_model,
        )

    def _deposits(self, place: Destination) -> list[ArchiveDraft]:
        if self.is_changed and not is_archived(self.result.options, self.history):
            return []
        return [*earlier_deposits(place, self.source, self.history), *self.deposits]


def is_archived(options: CompactOptions, history: OperationHistory) -> bool:
    """Return whether the operation gets an archive; once one has an archive, all later ones do."""
    output = options.output
    return output.layout != "inline" or output.in_place or bool(history.archived_chain)


def _left_behind(source: Source, history: OperationHistory) -> tuple[str, ...]:
    """Return a warning about archives that a pipe cannot carry."""
    if source.path is None or not history.archived_chain:
        return ()
    return (f"a pipe takes no archive: earlier operations stay in {archive_folder(source.path)}",)
