"""A compaction in memory: its input, its operation id, its new file and its archive rows."""

import hashlib
import json
import shlex
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from compactctl import __version__
from compactctl.commands.client_sessions.native import with_block
from compactctl.commands.compact.audits import WrittenSummary
from compactctl.commands.compact.result import CompactOptions, EarlierEnd
from compactctl.commands.measuring.measure import Measurement
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.inline import inline_fields
from compactctl.commands.planning.plan import Plan
from compactctl.commands.planning.run_stages import StageRun
from compactctl.commands.reading.transcript import TranscriptFile, format_field
from compactctl.history.apply import net_edits
from compactctl.history.error_subject import ErrorSubject
from compactctl.history.stand_ins import newest_id
from compactctl.model.client_compaction import ClientCompaction
from compactctl.model.operation import Digest, Operation, OperationId
from compactctl.model.usage_fields import UsageRestatement
from compactctl.pipeline.archive_rows import archive_rows
from compactctl.pipeline.document_records import array_path, read_records
from compactctl.pipeline.edit_codec import canonical_text
from compactctl.pipeline.layout import LayoutOptions, NewFile, lay_out
from compactctl.records import Record
from compactctl.store.archive.archive import archive_folder
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.archive.names import SUFFIX
from compactctl.store.files.source import Source


class CompactInput(Record):
    """The input of a compaction: the file on disk, and the version of it that the stages see.

    Attributes:
        source: the file as it is on disk.
        history: the operations behind it.
        file: what the stages see: under the new id if a new session is written, without the
            client's compactions in ``undone``, up to its ``end``, without superseded records if it
            is appended to.
        end: where ``--from`` ended it, None if it was not.
        undone: the compactions by the client that were undone first.
        changes: the archives that restore what was left out and undone, in that order.
        appended_to: the whole session, if the output is appended to it.
    """

    source: Source
    history: OperationHistory
    file: TranscriptFile
    end: EarlierEnd | None = None
    undone: tuple[ClientCompaction, ...] = ()
    changes: tuple[ArchiveDraft, ...] = ()
    appended_to: TranscriptFile | None = None

    @property
    def before(self) -> Digest:
        """The state before the first change."""
        first = next(iter(self.changes), None)
        return self.file.source.digest if first is None else first.operation.before

    @property
    def parent(self) -> OperationId | None:
        """The operation before the compaction."""
        if self.changes:
            return self.changes[-1].operation.id
        chain = self.history.chain
        return chain[-1].id if chain else None


class Draft(Record):
    """A compaction in memory with all its messages, before it is laid out.

    ``subject`` is what the error to recover from is about. ``restated`` is the usage from which the
    client will read its context size. ``held`` is the reason why no stage may run, else "".
    """

    options: CompactOptions
    input: CompactInput
    measured: Measurement
    plan: Plan
    run: StageRun
    summaries: tuple[WrittenSummary, ...]
    subject: ErrorSubject | None = None
    restated: UsageRestatement | None = None
    held: str = ""

    @property
    def operation_metadata(self) -> dict[str, Any]:
        """The metadata by which later measurements know how large requests were at this point."""
        applied, file, measured = self.run.applied, self.input.file, self.measured
        newest, model = newest_id(applied.before), file.transcript.session.model
        is_named = any(message.model for message in applied.after)
        fields = {
            "through": newest,
            "unseen": self.run.outcome.after.unseen,
            "model": None if is_named else model,
            "answered": measured.answered,
        }
        present = {name: value for name, value in fields.items() if value}
        return present | format_field(file.format.name)


def operation_id(identity: str) -> OperationId:
    """Return the id of an operation: a hash of its ``identity``."""
    return OperationId(hashlib.sha256(identity.encode()).hexdigest()[:12])


def identity_of(draft: Draft) -> str:
    """Return what makes the operation the one it is, as text.

    Without the parent, counter, details and time, and without the state after, which follows from
    the rest. So a repeated compaction has the same id, and ``deposit`` reuses the newest archive if
    its id and both states match; it keeps the time and counts of the first run.
    """
    file, output = draft.input.file, draft.options.output
    content = {
        "before": file.source.digest.sha256,
        "stages": [(record.name, _plain(record.options)) for record in draft.run.outcome.stages],
        "edits": canonical_text(draft.run.applied.edits),
        "format": file.format.name,
        "tool": __version__,
        "layout": output.layout,
        "tags": output.tags,
        "own": draft.operation_metadata,
        "restated": draft.restated.tokens if draft.restated else None,
    }
    return json.dumps(content, sort_keys=True)


def new_file(draft: Draft, operation: OperationId) -> NewFile:
    """Lay out the new transcript: rewritten, with the operation inside (inline), or appended to."""
    file, output, metadata = draft.input.file, draft.options.output, draft.operation_metadata
    is_inline = output.layout == "inline"
    if is_inline:
        parent = draft.input.parent
        # Last, right before the operation id: removing a single group relies on this order.
        metadata |= inline_fields(file.lines, file.transcript, file.source.digest, parent)
    style = LayoutOptions(
        layout="inline" if is_inline else "split",
        operation=operation,
        tags=is_inline or (output.tags and not output.messages_only),
        extra_metadata=metadata,
        usage_restatement=draft.restated,
    )
    folded = net_edits(draft.run.applied.edits)
    lines = lay_out(file.lines, file.transcript, folded, file.format, style)
    if draft.input.appended_to is None:
        return NewFile(file.lines, lines)
    return with_block(draft.input.appended_to, [line.data for line in lines], operation)


def deposit_of(draft: Draft, operation: OperationId, new: NewFile, after: Digest) -> ArchiveDraft:
    """Return the archive of the operation: its record, and the rows that restore the input."""
    appended_to, applied = draft.input.appended_to, draft.run.applied
    file, meter = appended_to or draft.input.file, draft.measured.meter
    sizes = {message.id: meter.message(message) for message in applied.before}
    record = Operation(
        id=operation,
        parent=draft.input.parent,
        head=operation,
        kind="compact",
        before=file.source.digest,
        after=after,
        format=file.format.name,
        counter=draft.measured.counter.id,
        stages=draft.run.outcome.stages,
        appended=appended_to is not None,
        records=read_records(new, array_path(file.lines, file.transcript)),
        size=draft.run.outcome.sizes,
        tool_version=__version__,
        recorded_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    rows = archive_rows(file.lines, new, file.transcript, applied, sizes)
    return ArchiveDraft(record, rows)


def _plain(options: Mapping[str, object]) -> dict[str, object]:
    return {name: list(v) if isinstance(v, tuple) else v for name, v in options.items()}


def archive_hint(target: Path | str | None, *, is_archived: bool, lines: int) -> str:
    """Return the hint in a summary that says where the replaced messages are and how to see them.

    ``target`` is the output file, or its URL, None for standard output. Without ``is_archived`` the
    file itself holds the originals. ``lines`` is the line count of the transcript before. The
    content follows the hint of VS Code Copilot Chat.
    """
    holder, file = _holder_and_file(target, is_archived=is_archived)
    place = f'in "{holder}"' if holder else "in this transcript"
    command = f"compactctl view --archived {shlex.quote(file)}"
    return "\n".join(
        (
            f"The messages that this summary stands for are kept word for word {place}.",
            f"At the time this summary was created, the transcript had {lines:,} lines.",
            f"Example usage: {command}",
        )
    )


def _holder_and_file(target: Path | str | None, *, is_archived: bool) -> tuple[str, str]:
    """Return what holds the originals, "" for the file itself, and the file to name in a command.

    Objects are read with their archives once they were copied.
    """
    if target is None:
        return "", "FILE"
    if isinstance(target, str):
        return target + SUFFIX * is_archived, target.rpartition("/")[2]
    path = target.absolute()
    return str(archive_folder(path) if is_archived else path), str(path)
