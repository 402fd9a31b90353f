"""Undoes compactions by a client: the transcript as it would be without them."""

import hashlib
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from compactctl import __version__
from compactctl.clients.format import Format
from compactctl.commands.client_sessions.compactions import (
    compactions_of,
    without_copies,
    without_tags,
)
from compactctl.commands.client_sessions.places import PastState, current_state
from compactctl.commands.reading.transcript import TranscriptFile, parse
from compactctl.errors import IntegrityError, OutputFaultError
from compactctl.model.client_compaction import ClientCompaction
from compactctl.model.message import Message, MessageId, RecordLocation
from compactctl.model.operation import Operation, OperationId, OperationKind
from compactctl.model.transcript import Link, Transcript
from compactctl.pipeline.archive_rows import removal_rows, rewind_rows
from compactctl.pipeline.document_records import array_path, read_records
from compactctl.pipeline.layout import NewFile, NewLine
from compactctl.pipeline.without_records import without_records
from compactctl.records import Record, replace
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.files.content import Content


class ClientUndo(Record):
    """A transcript without some compactions of its client, and the archive that restores them.

    ``loaded`` is the transcript as if it had been read from ``content``.
    """

    compactions: tuple[ClientCompaction, ...]
    content: Content
    loaded: TranscriptFile
    undo_deposit: ArchiveDraft


def undo_compactions(
    loaded: TranscriptFile,
    compactions: Iterable[ClientCompaction],
    parent: OperationId | None,
    lines: Sequence[bytes],
    *,
    leaves_out_refused: bool = False,
) -> ClientUndo:
    """Remove compactions from ``loaded``; ``parent`` is compactctl's own operation in effect there.

    ``lines`` are those that were read, also those that ``loaded`` leaves out because the client
    repeats in them what it has said. For ``leaves_out_refused`` see ``LayoutOptions``.

    Raises IntegrityError if a message that they hid would still not be sent because the file is
    damaged, and OutputFaultError if it would not be although the file is intact.
    """
    compactions = tuple(compactions)
    state = current_state(loaded)
    _check_removable(state, compactions, _name(loaded))
    left_out = [
        (record.line, ())
        for record in loaded.transcript.refused
        if leaves_out_refused and record.is_fatal and not record.is_sent
    ]
    new = NewFile(loaded.lines, _lines_without(state, loaded.lines, compactions, left_out))
    content = Content.from_chunks(new)
    transcript = parse(content.chunks, loaded.format)
    _prove(loaded, compactions, new, transcript)
    places = ", ".join(f"{compaction.line:,}" for compaction in compactions)
    detail = f"by its client on line {places}"
    operation = removal_operation("undo", loaded, content, parent, detail)
    rows = removal_rows(lines, new) if lines is loaded.lines else rewind_rows(lines)
    return ClientUndo(
        compactions=compactions,
        content=content,
        loaded=replace(
            loaded,
            source=replace(loaded.source, lines=tuple(new), digest=content.digest),
            transcript=transcript,
        ),
        undo_deposit=ArchiveDraft(operation, rows),
    )


def with_cleared_content(state: PastState, lines: Sequence[bytes]) -> Mapping[MessageId, Message]:
    """Return, by id, the messages whose content the client cleared in place, with that content."""
    cleared = [compaction for compaction in compactions_of(state) if compaction.values]
    if not cleared:
        return {}
    restored = parse(
        (line.data for line in _lines_without(state, lines, cleared)), state.format
    ).messages
    pairs = zip(state.transcript.messages, restored, strict=True)
    hidden_ids = {name for compaction in cleared for name in compaction.hidden}
    return {old.id: new for old, new in pairs if old.id in hidden_ids}


def _lines_without(
    state: PastState,
    lines: Sequence[bytes],
    compactions: Sequence[ClientCompaction],
    left_out: Iterable[RecordLocation] = (),
) -> Iterator[NewLine]:
    dropped = {place for compaction in compactions for place in compaction.records}
    dropped.update(left_out)
    values: dict[int, dict[Any, Any]] = defaultdict(dict)
    for compaction in compactions:
        for (line, path), value in compaction.values.items():
            values[line][path] = value
    chain = replace(state.transcript.chain, links=tuple(_links(state, dropped)))
    transcript = replace(state.transcript, chain=chain)
    bare = without_tags(
        lines, transcript, {name for compaction in compactions for name in compaction.groups}
    )
    dropped_lines = {line for line, path in dropped if not path}
    own_lines = state.transcript.compactions.own_history_lines
    repeated = set(own_lines) - state.transcript.damaged_lines
    changed = {**bare, **state.format.without_compactions(lines, dropped_lines, repeated)}
    source_lines = [changed.get(index, line) for index, line in enumerate(lines)]
    summaries = deque(sorted(_summaries_inside(state.format, lines, compactions)))
    for new in without_records(source_lines, transcript, state.format, dropped, values):
        while summaries and summaries[0][0] < (new.source_index or 0):
            yield NewLine(summaries.popleft()[1], None)
        yield replace(new, is_unchanged=False) if new.source_index in changed else new
    for _, record in summaries:
        yield NewLine(record, None)


def _summaries_inside(
    transcript_format: Format, lines: Sequence[bytes], compactions: Iterable[ClientCompaction]
) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of what compactctl added inside of records, as records of their own."""
    stand_ins = (message for compaction in compactions for message in compaction.stand_ins)
    for message in stand_ins:
        if message.origin.is_synthetic and message.record_path:
            record = transcript_format.moved_out(lines[message.line], message.record_path)
            if record is not None:
                yield message.line, record


def _links(state: PastState, dropped: set[RecordLocation]) -> Iterator[Link]:
    """Yield the links, with roots made by a removed boundary linked to the record before it."""
    link_ids = {link.id for link in state.transcript.chain.links}
    for link in state.transcript.chain.links:
        is_root = link.parent is None or link.parent not in link_ids
        if (link.line, ()) in dropped and is_root:
            yield replace(link, parent=_newest_before(state, link.line))
        else:
            yield link


def _newest_before(state: PastState, line: int) -> str | None:
    """Return the record that a record on this line would have followed."""
    before = state.format.read(state.decoded[:line])
    ends = {message.line for message in before.effective[-1:]}
    return next((link.id for link in before.chain.links if link.line in ends), None)


def _check_removable(state: PastState, compactions: Sequence[ClientCompaction], name: str) -> None:
    """Raise IntegrityError if a damaged line would lose more than a record of a compaction."""
    damaged_lines = state.transcript.damaged_lines
    damages = {o.line: o.damage for o in state.transcript.opaque if o.line in damaged_lines}
    for compaction in compactions:
        for line, element in compaction.records:
            if line in damages and (element or _has_other_messages(state, line, compaction)):
                number, damage = line + 1, damages[line]
                raise IntegrityError(
                    f"{name}: line {number}: {damage}; the client's compaction cannot be removed "
                    "without the rest of that line; nothing was written; restore the file from a "
                    "backup"
                )


def _has_other_messages(state: PastState, line: int, compaction: ClientCompaction) -> bool:
    """Whether a line with a record of a compaction also holds a message that does not belong to it.

    A summary glued to the next prompt, for example: {"condenseId": "g", ...}{"role": "user", ...}
    """
    return len(state.decoded[line].values) > 1 and any(
        message.line == line
        and not message.record_path
        and not message.origin.is_summary
        and compaction.groups.isdisjoint(message.tags.hiding_ids)
        for message in state.transcript.messages
    )


def _prove(
    loaded: TranscriptFile,
    compactions: Sequence[ClientCompaction],
    new: NewFile,
    transcript: Transcript,
) -> None:
    """Raise IntegrityError unless all hidden messages, and all sent before, are sent now."""
    removed = {place for compaction in compactions for place in compaction.records}
    expected_ids = {name for compaction in compactions for name in compaction.hidden}
    expected_ids |= {message.id for message in loaded.transcript.history}
    expected = [
        m
        for m in loaded.transcript.messages
        if m.id in expected_ids
        and m.parts
        and not m.is_only_reasoning
        and not {(m.line, ()), (m.line, m.record_path)} & removed
    ]
    # What our own records repeat may be in another of them, or in the client's record.
    repeating = set(loaded.transcript.compactions.own_history_lines)
    by_place = {_moved(m, removed, new): m for m in expected if m.line not in repeating}
    repeating_now = {new.new_indices[line] for line in repeating & new.new_indices.keys()}
    sent_by_place = {
        (m.line, m.record_path): m for m in transcript.history if m.line not in repeating_now
    }
    stand_ins = [message for compaction in compactions for message in compaction.stand_ins]
    missing, _ = without_copies(
        (
            *(m for place, m in by_place.items() if place not in sent_by_place),
            *without_copies((m for m in expected if m.line in repeating), stand_ins)[0],
        ),
        (m for m in transcript.history if (m.line, m.record_path) not in by_place),
    )
    if not missing:
        return
    name, damage = _name(loaded), loaded.transcript.damage
    if damage:
        raise IntegrityError(
            f"{name}: {damage}; after undoing the client's compaction, {len(missing):,} of "
            f"{len(expected):,} messages would still not be sent; nothing was written; restore the "
            "file from a backup"
        )
    raise OutputFaultError(
        f"{name}: compactctl made a mistake: after undoing the client's compaction, "
        f"{len(missing):,} of {len(expected):,} messages would still not be sent; nothing was "
        "written, and this file is not at fault; please report this"
    )


def _name(loaded: TranscriptFile) -> str:
    return str(loaded.source.path or "standard input")


def _moved(message: Message, removed: Collection[RecordLocation], new: NewFile) -> RecordLocation:
    """Return the location of a message once the records at ``removed`` are gone."""
    *holders, index = message.record_path or (0,)
    line, holder = message.line, tuple(holders)
    if not message.record_path or not isinstance(index, int):
        return new.new_indices[line], message.record_path
    before = sum((line, (*holder, i)) in removed for i in range(index))
    return new.new_indices[line], (*holder, index - before)


def removal_operation(
    kind: OperationKind,
    loaded: TranscriptFile,
    after: Content,
    parent: OperationId | None,
    detail: str,
) -> Operation:
    """Return the record of a change that removed records of ``loaded`` without a stage."""
    before = loaded.source.digest
    content = f"{kind}\n{before.sha256}\n{after.digest.sha256}\n{detail}"
    operation_id = OperationId(hashlib.sha256(content.encode()).hexdigest()[:12])
    return Operation(
        id=operation_id,
        parent=parent,
        head=operation_id,
        kind=kind,
        before=before,
        after=after.digest,
        records=read_records(after.chunks, array_path(loaded.lines, loaded.transcript)),
        format=loaded.format.name,
        counter="",
        detail=detail,
        tool_version=__version__,
        recorded_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
