"""Writes a compaction that is laid out to where it belongs."""

from dataclasses import dataclass, replace

from compactctl.commands.client_sessions.write import (
    Destination,
    append_to,
    earlier_deposits,
    write,
)
from compactctl.commands.compact.place import target_of
from compactctl.commands.compact.result import CompactOptions, CompactResult
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.reading.proof import ExpectedMessage
from compactctl.formats.format import Format
from compactctl.store.archive.archive import archive_folder
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.files.content import Content, last_byte_and_rest
from compactctl.store.files.source import STANDARD_STREAM, Source
from compactctl.store.publish.publish import resolve_output


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A compaction that is laid out; it holds no messages.

    Attributes:
        result: the result so far, without ``written`` and ``data``.
        source: the input file.
        history: the operations behind it.
        format: its format.
        content: the new file; if nothing changed, the old one.
        expected: the messages that the new file must hold; () if it is the old one.
        deposits: the archives to write: of the client's compactions undone first, of the operation.
        undo_option: the option that undoing it takes, or "".
    """

    result: CompactResult
    source: Source
    history: OperationHistory
    format: Format
    content: Content
    expected: tuple[ExpectedMessage, ...] = ()
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
        if output.path == STANDARD_STREAM:
            warnings = (*self.result.warnings, *_left_behind(self.source, self.history))
            return replace(self.result, data=self.content.chunks, warnings=warnings)
        place = self._place
        deposits = self._deposits(place)
        if output.layout == "native":
            _, block = last_byte_and_rest(self.content.chunks, self.source.digest.n_bytes)
            written = append_to(place, self.source, block, deposits, undo_option=self.undo_option)
        else:
            written = write(place, self.source, self.content, deposits)
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
        """Whether there is nothing to write: no change, and no output named."""
        return self.result.options.output.path is None and not self.deposits

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
