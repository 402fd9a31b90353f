"""A compaction between the stages' outcome and what is to be written."""

import hashlib
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from compactctl import __version__
from compactctl.commands.client_sessions.native import with_block
from compactctl.commands.client_sessions.undo import Undone
from compactctl.commands.client_sessions.write import (
    Destination,
    append_to,
    earlier_archives,
    write,
)
from compactctl.commands.compact.audits import SummaryAudit
from compactctl.commands.compact.place import target_of
from compactctl.commands.compact.result import CompactOptions, CompactResult
from compactctl.commands.measuring.measure import Measure, shown_by_requests, with_plausible_usage
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.inline import own_fields
from compactctl.commands.planning.plan import Plan
from compactctl.commands.planning.run_stages import StageRun
from compactctl.commands.reading.proof import Meant
from compactctl.commands.reading.transcript import Loaded, format_field
from compactctl.formats.format import Format
from compactctl.history.standins import newest_id
from compactctl.model.counts import Restated
from compactctl.model.operation import Digest, Operation, OperationId
from compactctl.pipeline.apply import fold
from compactctl.pipeline.archive_rows import archive_rows
from compactctl.pipeline.edit_codec import content_of
from compactctl.pipeline.layout import LayoutStyle, lay_out
from compactctl.pipeline.new_file import NewFile
from compactctl.store.archive.archive import archive_folder
from compactctl.store.archive.deposit import Deposit
from compactctl.store.files.content import Content, parted
from compactctl.store.files.lines import STANDARD_INPUT, Source
from compactctl.store.publish.publish import check_place


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionJob:
    """What was asked for, what was read, and what the stages came to.

    ``redone`` are the client's compactions that were undone first.
    ``restated`` are the counts by which a client is to measure its context from now on. ``whole``
    is the session as it was read where records are to be appended to it, ``loaded`` that without
    what does not count any more. ``held`` says why no stage ran, "" where they may.
    """

    options: CompactOptions
    loaded: Loaded
    history: OperationHistory
    measured: Measure
    plan: Plan
    run: StageRun
    audits: tuple[SummaryAudit, ...]
    restated: Restated | None
    redone: Undone | None = None
    whole: Loaded | None = None
    held: str = ""

    @property
    def parent(self) -> OperationId | None:
        """The operation before this one."""
        if self.redone is not None:
            return self.redone.archive[0].id
        chain = self.history.chain
        return chain[-1].id if chain else None

    @property
    def own_fields(self) -> dict[str, Any]:
        """What lets later measurements tell what requests held at this point."""
        applied = self.run.applied
        newest, model = newest_id(applied.before), self.loaded.transcript.model
        is_named = any(message.model for message in applied.after)
        measured = self.measured
        shown = with_plausible_usage(self.loaded.transcript, measured.model, measured.framed)
        told = {
            "through": newest,
            "unseen": self.run.outcome.after.unseen,
            "model": None if is_named else model,
            "answered": shown_by_requests(shown, measured.model),
        }
        known = {name: value for name, value in told.items() if value}
        return known | format_field(self.loaded.format.name)


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


def operation_id(job: CompactionJob) -> OperationId:
    """Return the id of the operation, which follows from its content."""
    content = {
        "before": job.loaded.source.digest.sha256,
        "stages": [(record.name, _plain(record.options)) for record in job.run.outcome.stages],
        "edits": content_of(job.run.applied.edits),
        "format": job.loaded.format.name,
        "tool": __version__,
        "layout": job.options.output.layout,
        "tags": job.options.output.tags,
        "own": job.own_fields,
        "restated": job.restated.tokens if job.restated else None,
    }
    text = json.dumps(content, sort_keys=True)
    return OperationId(hashlib.sha256(text.encode()).hexdigest()[:12])


def new_file(job: CompactionJob, operation: OperationId) -> NewFile:
    """Lay out the new transcript; inline it carries the operation itself.

    Where records are appended, these are laid out behind all that is there.
    """
    inline = job.options.output.layout == "inline"
    loaded, own = job.loaded, job.own_fields
    if inline:
        own |= own_fields(loaded.lines, loaded.transcript, loaded.source.digest, job.parent)
    style = LayoutStyle(
        layout="inline" if inline else "split",
        operation=operation,
        tags=inline or (job.options.output.tags and not job.options.output.messages_only),
        own=own,
        restated=job.restated,
    )
    folded = fold(job.run.applied.edits)
    lines = lay_out(loaded.lines, loaded.transcript, folded, loaded.format, style)
    if job.whole is None:
        return NewFile(loaded.lines, lines)
    return with_block(job.whole, [line.data for line in lines], operation)


def deposit_of(job: CompactionJob, operation: OperationId, new: NewFile, after: Digest) -> Deposit:
    """Return the operation and the rows that lead back, for the archive."""
    loaded, meter = job.whole or job.loaded, job.measured.meter
    sizes = {message.id: meter.message(message) for message in job.run.applied.before}
    record = Operation(
        id=operation,
        parent=job.parent,
        head=operation,
        kind="compact",
        before=loaded.source.digest,
        after=after,
        format=loaded.format.name,
        counter=job.measured.counter.id,
        stages=job.run.outcome.stages,
        appended=job.whole is not None,
        tool_version=__version__,
        recorded_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    return record, archive_rows(loaded.lines, new, loaded.transcript, job.run.applied, sizes)


def _plain(options: Mapping[str, object]) -> dict[str, object]:
    return {name: list(v) if isinstance(v, tuple) else v for name, v in options.items()}


def archive_hint(target: Path | None, *, is_archived: bool, lines: int) -> str:
    """Return where everything that a summary stands for still is, and how to see it.

    ``target`` is the file to be written, None for standard output; ``is_archived`` says whether an
    archive is written beside it, or the file carries its own originals; ``lines`` is how many lines
    the transcript had before. The content is that of VS Code Copilot Chat's.
    """
    path = target.absolute() if target else None
    holder = archive_folder(path) if path and is_archived else path
    place = f'in "{holder}"' if holder else "in this transcript"
    command = f"compactctl view --archived {shlex.quote(str(path)) if path else 'FILE'}"
    return "\n".join(
        (
            f"The messages that this summary stands for are kept word for word {place}.",
            f"At the time this summary was created, the transcript had {lines:,} lines.",
            f"Example usage: {command}",
        )
    )
