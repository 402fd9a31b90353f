"""A compaction that is laid out and waits to be written."""

from dataclasses import dataclass, replace
from pathlib import Path

from compactctl.commands.compact.result import CompactOptions, CompactResult
from compactctl.commands.compact.target import target_of
from compactctl.commands.compact.verify_output import Meant
from compactctl.commands.forking.new_session import (
    archives_under,
    continued_with,
    make_room,
    rewound_as,
    settle,
)
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.steps import Archived
from compactctl.formats.format import Format
from compactctl.store.archive.archive import archive_folder
from compactctl.store.archive.deposit import Deposit
from compactctl.store.files.content import Content
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.files.lines import STANDARD_INPUT, Source
from compactctl.store.publish.overwrite import is_same_place
from compactctl.store.publish.publish import check_place, publish


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyCompaction:
    """A compaction that is laid out; of the transcript it holds no message.

    ``expected`` is what the new file is to say, None when it is the old one; ``archived`` are the
    operation and the rows that lead back, and ``redone`` those of what the client had done and was
    undone first.
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

    def write(self) -> CompactResult:
        """Publish the new transcript where it belongs; one without changes only if asked to."""
        if self._is_idle:
            return self.result
        if self.options.output == STANDARD_INPUT:
            warnings = (*self.result.warnings, *_left_behind(self.source, self.history))
            return replace(self.result, data=self.content.pieces, warnings=warnings)
        target = target_of(self.options)
        archives = self._archives(target)
        if self.options.fork is not None:
            make_room(self.options.fork)
        is_session = self.options.in_place or self.options.fork is not None
        published = publish(
            FileSystem(),
            source=self.source,
            target=target,
            archives=archives,
            content=self.content,
            force=self.options.force,
        )
        settled = settle(self.options.fork) if self.options.fork else ()
        return replace(
            self.result,
            output=str(target),
            archive=str(archive_folder(target)) if archives else None,
            carried_lines=published.growth.lines,
            left_out_from=published.growth.left_out_from,
            forked_from=self.options.fork.original.id if self.options.fork else None,
            rewound_as=rewound_as(target, self.options.fork),
            forked_to=self.options.fork.id if self.options.fork else None,
            continue_with=continued_with(self.options.path, self.options.fork)
            if is_session
            else None,
            warnings=(*self.result.warnings, *published.warnings, *settled),
        )

    def check_target(self) -> None:
        """Raise what ``write`` would of where the new transcript belongs."""
        if self._is_idle or self.options.output == STANDARD_INPUT or self.options.fork:
            return
        target = target_of(self.options)
        check_place(
            source=self.source,
            target=target,
            content=self.content,
            is_archived=bool(self._archives(target)),
            force=self.options.force,
        )

    @property
    def _is_idle(self) -> bool:
        return self.options.output is None and self.expected is None and self.redone is None

    def _archives(self, target: Path) -> list[Deposit]:
        if not is_archived(self.options, self.history) and self.archived is not None:
            return []
        own = filter(None, (self.redone, self.archived))
        return [*self._earlier_archives(target), *own]

    def _earlier_archives(self, target: Path) -> list[Deposit]:
        """Return the operations behind the input, so that the new archive holds all of them."""
        path = self.source.path
        if path is None or is_same_place(path, target):
            return []
        if self.options.fork is not None:
            return archives_under(self.options.fork, self.history)
        return [(step.operation, step.rows()) for step in _archived(self.history)]


def is_archived(options: CompactOptions, history: OperationHistory) -> bool:
    """Tell whether the operation gets an archive; all get one behind one that has one."""
    return options.layout == "split" or options.in_place or bool(_archived(history))


def _archived(history: OperationHistory) -> list[Archived]:
    return [step for step in history.chain if isinstance(step, Archived)]


def _left_behind(source: Source, history: OperationHistory) -> tuple[str, ...]:
    """Return the warning for what a pipe cannot take along."""
    if source.path is None or not _archived(history):
        return ()
    return (
        f"a pipe takes no archive: the operations before stay in {archive_folder(source.path)}",
    )
