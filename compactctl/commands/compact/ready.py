"""A compaction that is laid out and waits to be written."""

from dataclasses import dataclass, replace

from compactctl.commands.compact.result import CompactOptions, CompactResult
from compactctl.commands.compact.target import target_of
from compactctl.commands.forking.written import Destination, append_to, earlier_archives, write
from compactctl.commands.loading.verify_output import Meant
from compactctl.commands.operations.history import OperationHistory
from compactctl.formats.format import Format
from compactctl.store.archive.archive import archive_folder
from compactctl.store.archive.deposit import Deposit
from compactctl.store.files.content import Content, parted
from compactctl.store.files.lines import STANDARD_INPUT, Source
from compactctl.store.publish.publish import check_place


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyCompaction:
    """A compaction that is laid out; of the transcript it holds no message.

    ``expected`` is what the new file is to say, None when it is the old one; ``archived`` are the
    operation and the rows that lead back, and ``redone`` those of what the client had done and was
    undone first. ``insists`` tells whether the way back has to be insisted on.
    """

    options: CompactOptions
    source: Source
    history: OperationHistory
    format: Format
    content: Content
    result: CompactResult
    expected: tuple[Meant, ...] | None = None
    redone: Deposit | None = None
    archived: Deposit | None = None
    insists: bool = False

    def write(self) -> CompactResult:
        """Publish the new transcript where it belongs; one without changes only if asked to."""
        if self._is_idle:
            return self.result
        if self.options.output.path == STANDARD_INPUT:
            warnings = (*self.result.warnings, *_left_behind(self.source, self.history))
            return replace(self.result, data=self.content.pieces, warnings=warnings)
        place = self._place
        archives = self._archives(place)
        if self.options.output.layout == "native":
            _, block = parted(self.content.pieces, self.source.digest.n_bytes)
            written = append_to(place, self.source, block, archives, insists=self.insists)
        else:
            written = write(place, self.source, self.content, archives)
        warnings = (*self.result.warnings, *written.warnings)
        return replace(self.result, written=written, warnings=warnings)

    def check_target(self) -> None:
        """Raise what ``write`` would of where the new transcript belongs."""
        is_new = self.options.output.path == STANDARD_INPUT or self.options.output.fork
        if self._is_idle or is_new or self.options.output.layout == "native":
            return
        place = self._place
        check_place(
            source=self.source,
            target=place.target,
            content=self.content,
            is_archived=bool(self._archives(place)),
            force=self.options.output.force,
        )

    @property
    def _is_idle(self) -> bool:
        return self.options.output.path is None and self.expected is None and self.redone is None

    @property
    def _place(self) -> Destination:
        return Destination(
            path=self.options.input.path,
            target=target_of(self.options),
            fork=self.options.output.fork,
            model=self.result.measure.long_window_model,
            in_place=self.options.output.in_place,
            force=self.options.output.force,
        )

    def _archives(self, place: Destination) -> list[Deposit]:
        if not is_archived(self.options, self.history) and self.archived is not None:
            return []
        own = filter(None, (self.redone, self.archived))
        return [*earlier_archives(place, self.source, self.history), *own]


def is_archived(options: CompactOptions, history: OperationHistory) -> bool:
    """Tell whether the operation gets an archive; all get one behind one that has one."""
    return (
        options.output.layout != "inline" or options.output.in_place or bool(history.archived_chain)
    )


def _left_behind(source: Source, history: OperationHistory) -> tuple[str, ...]:
    """Return the warning for what a pipe cannot take along."""
    if source.path is None or not history.archived_chain:
        return ()
    return (
        f"a pipe takes no archive: the operations before stay in {archive_folder(source.path)}",
    )
