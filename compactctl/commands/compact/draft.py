"""A compaction in memory: what was read, its operation, its new file, and what leads back."""

import hashlib
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from compactctl import __version__
from compactctl.commands.client_sessions.compactions import ClientCompaction
from compactctl.commands.client_sessions.native import with_block
from compactctl.commands.compact.audits import WrittenSummary
from compactctl.commands.compact.result import CompactOptions
from compactctl.commands.measuring.measure import (
    Measurement,
    largest_answered_request,
    with_plausible_usage,
)
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.inline import inline_fields
from compactctl.commands.planning.plan import Plan
from compactctl.commands.planning.run_stages import StageRun
from compactctl.commands.reading.transcript import TranscriptFile, format_field
from compactctl.history.stand_ins import newest_id
from compactctl.model.operation import Digest, Operation, OperationId
from compactctl.model.usage_fields import UsageRestatement
from compactctl.pipeline.apply import net_edits
from compactctl.pipeline.archive_rows import archive_rows
from compactctl.pipeline.edit_codec import canonical_text
from compactctl.pipeline.layout import LayoutOptions, NewFile, lay_out
from compactctl.store.archive.archive import archive_folder
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.files.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactInput:
    """What was read, and what of it the stages see.

    ``source`` is the file as it is on disk. ``file`` is that under a new id where a new session is
    made of it, and without the compactions of its client that were ``undone`` first, which
    ``undo_deposit`` leads back to. Where records are appended, ``appended_to`` is the whole
    session, and ``file`` has no record that does not count any more.
    """

    source: Source
    history: OperationHistory
    file: TranscriptFile
    undone: tuple[ClientCompaction, ...] = ()
    undo_deposit: ArchiveDraft | None = None
    appended_to: TranscriptFile | None = None

    @property
    def before(self) -> Digest:
        """The state before everything that is done to the file."""
        undo = self.undo_deposit
        return self.file.source.digest if undo is None else undo.operation.before

    @property
    def parent(self) -> OperationId | None:
        """The operation before the compaction."""
        if self.undo_deposit is not None:
            return self.undo_deposit.operation.id
        chain = self.history.chain
        return chain[-1].id if chain else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A compaction in memory with all its messages, before it is laid out.

    ``restated`` are the counts by which a client is to measure its context from now on, and
    ``held`` says why no stage ran, "" where they may.
    """

    options: CompactOptions
    input: CompactInput
    measured: Measurement
    plan: Plan
    run: StageRun
    summaries: tuple[WrittenSummary, ...]
    restated: UsageRestatement | None = None
    held: str = ""

    @property
    def own_fields(self) -> dict[str, Any]:
        """What lets later measurements tell what requests held at this point."""
        applied, file, measured = self.run.applied, self.input.file, self.measured
        newest, model = newest_id(applied.before), file.transcript.session.model
        is_named = any(message.model for message in applied.after)
        shown = with_plausible_usage(file.transcript, measured.model, measured.framed)
        fields = {
            "through": newest,
            "unseen": self.run.outcome.after.unseen,
            "model": None if is_named else model,
            "answered": largest_answered_request(shown, measured.model),
        }
        known = {name: value for name, value in fields.items() if value}
        return known | format_field(file.format.name)


def operation_id(draft: Draft) -> OperationId:
    """Return the id of the operation, which follows from its content.

    Its parent, counter, detail and time are not part of that, and neither is the state after, which
    follows from the rest. A compaction that is run again has the same id, and an archive that is
    the newest, with that id and the same two states, is used as it is (``deposit``): it keeps the
    time, and the counts, of the run that wrote it.
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
        "own": draft.own_fields,
        "restated": draft.restated.tokens if draft.restated else None,
    }
    text = json.dumps(content, sort_keys=True)
    return OperationId(hashlib.sha256(text.encode()).hexdigest()[:12])


def new_file(draft: Draft, operation: OperationId) -> NewFile:
    """Lay out the new transcript; inline it carries the operation itself.

    Where records are appended, these are laid out behind all that is there.
    """
    file, output, own = draft.input.file, draft.options.output, draft.own_fields
    inline = output.layout == "inline"
    if inline:
        parent = draft.input.parent
        # At the end, where the name of the operation follows: a group is taken out by that order.
        own |= inline_fields(file.lines, file.transcript, file.source.digest, parent)
    style = LayoutOptions(
        layout="inline" if inline else "split",
        operation=operation,
        tags=inline or (output.tags and not output.messages_only),
        extra_metadata=own,
        usage_restatement=draft.restated,
    )
    folded = net_edits(draft.run.applied.edits)
    lines = lay_out(file.lines, file.transcript, folded, file.format, style)
    if draft.input.appended_to is None:
        return NewFile(file.lines, lines)
    return with_block(draft.input.appended_to, [line.data for line in lines], operation)


def deposit_of(draft: Draft, operation: OperationId, new: NewFile, after: Digest) -> ArchiveDraft:
    """Return the operation and the rows that lead back, for the archive."""
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
        tool_version=__version__,
        recorded_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    rows = archive_rows(file.lines, new, file.transcript, applied, sizes)
    return ArchiveDraft(record, rows)


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
