"""A transcript without compactions by its client, as it would have been without them."""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from compactctl import __version__
from compactctl.commands.client_sessions.compactions import (
    ClientCompaction,
    compactions_of,
    without_tags,
)
from compactctl.commands.client_sessions.places import PastState, current_state
from compactctl.commands.reading.transcript import TranscriptFile, parse
from compactctl.errors import IntegrityError
from compactctl.model.message import Message, MessageId, RecordLocation
from compactctl.model.operation import Digest, Operation, OperationId
from compactctl.model.transcript import Link, Transcript
from compactctl.pipeline.archive_rows import removal_rows
from compactctl.pipeline.layout import NewFile, NewLine
from compactctl.pipeline.without_records import without_records
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.files.content import Content


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientUndo:
    """A transcript without some compactions of its client, and the operation that leads back.

    ``loaded`` is the transcript as if it had been read so.
    """

    compactions: tuple[ClientCompaction, ...]
    content: Content
    loaded: TranscriptFile
    undo_deposit: ArchiveDraft


def undo_compactions(
    loaded: TranscriptFile, wanted: Iterable[ClientCompaction], parent: OperationId | None
) -> ClientUndo:
    """Take out compactions of ``loaded``; ``parent`` is the one by compactctl in effect there.

    IntegrityError when what they hid would still not be sent.
    """
    wanted = tuple(wanted)
    state = current_state(loaded)
    new = NewFile(loaded.lines, _lines(state, loaded.lines, wanted))
    content = Content.from_chunks(new)
    transcript = parse(content.chunks, loaded.format)
    _prove(loaded, wanted, new, transcript)
    operation = _operation(loaded, wanted, content.digest, parent)
    return ClientUndo(
        compactions=wanted,
        content=content,
        loaded=replace(
            loaded,
            source=replace(loaded.source, lines=tuple(new), digest=content.digest),
            transcript=transcript,
        ),
        undo_deposit=ArchiveDraft(operation, removal_rows(loaded.lines, new)),
    )


def with_cleared_content(state: PastState, lines: Sequence[bytes]) -> Mapping[MessageId, Message]:
    """Return, by id, the messages of a state with what its client cleared where it stands."""
    cleared = [each for each in compactions_of(state) if each.values]
    if not cleared:
        return {}
    said = parse((line.data for line in _lines(state, lines, cleared)), state.format).messages
    pairs = zip(state.transcript.messages, said, strict=True)
    names = {name for each in cleared for name in each.hidden}
    return {old.id: new for old, new in pairs if old.id in names}


def _lines(
    state: PastState, lines: Sequence[bytes], wanted: Sequence[ClientCompaction]
) -> Iterator[NewLine]:
    dropped = {place for each in wanted for place in each.places}
    values: dict[int, dict[Any, Any]] = defaultdict(dict)
    for each in wanted:
        for (line, path), value in each.values.items():
            values[line][path] = value
    chain = replace(state.transcript.chain, links=tuple(_links(state, dropped)))
    transcript = replace(state.transcript, chain=chain)
    bare = without_tags(lines, transcript, {name for each in wanted for name in each.groups})
    there = [bare.get(index, line) for index, line in enumerate(lines)] if bare else lines
    for new in without_records(there, transcript, state.format, dropped, values):
        yield replace(new, is_unchanged=False) if new.source_index in bare else new


def _links(state: PastState, dropped: set[RecordLocation]) -> Iterator[Link]:
    """Yield the links; a boundary begins anew, and here follows what was newest before it."""
    known = {link.id for link in state.transcript.chain.links}
    for link in state.transcript.chain.links:
        is_root = link.parent is None or link.parent not in known
        if (link.line, ()) in dropped and is_root:
            yield replace(link, parent=_newest_before(state, link.line))
        else:
            yield link


def _newest_before(state: PastState, line: int) -> str | None:
    """Return the record that would have been followed at a line."""
    before = state.format.read(state.decoded[:line])
    ends = {message.line for message in before.effective[-1:]}
    return next((link.id for link in before.chain.links if link.line in ends), None)


def _prove(
    loaded: TranscriptFile, wanted: Sequence[ClientCompaction], new: NewFile, transcript: Transcript
) -> None:
    """Raise IntegrityError unless everything hidden is sent, beside all that is sent now."""
    gone = {place for each in wanted for place in each.places}
    names = {name for each in wanted for name in each.hidden}
    names |= {message.id for message in loaded.transcript.effective}
    due = [m for m in loaded.transcript.messages if m.id in names and not m.is_only_reasoning]
    places = {
        _moved(m, gone, new) for m in due if not {(m.line, ()), (m.line, m.record_path)} & gone
    }
    lost = places - {(message.line, message.record_path) for message in transcript.effective}
    if lost:
        raise IntegrityError(
            f"{loaded.source.path or 'standard input'}: without its client's compaction "
            f"{len(lost):,} of {len(places):,} messages would still not be sent; nothing was "
            "written, please report this"
        )


def _moved(message: Message, gone: Collection[RecordLocation], new: NewFile) -> RecordLocation:
    """Return where a message stands once the records at ``gone`` are not there any more."""
    *holders, at = message.record_path or (0,)
    line, holder = message.line, tuple(holders)
    if not message.record_path or not isinstance(at, int):
        return new.new_indices[line], message.record_path
    before = sum((line, (*holder, place)) in gone for place in range(at))
    return new.new_indices[line], (*holder, at - before)


def _operation(
    loaded: TranscriptFile,
    wanted: Sequence[ClientCompaction],
    after: Digest,
    parent: OperationId | None,
) -> Operation:
    before = loaded.source.digest
    content = "\n".join(("undo", before.sha256, after.sha256, *(each.id for each in wanted)))
    name = OperationId(hashlib.sha256(content.encode()).hexdigest()[:12])
    lines = ", ".join(f"{each.line:,}" for each in wanted)
    return Operation(
        id=name,
        parent=parent,
        head=name,
        kind="undo",
        before=before,
        after=after,
        format=loaded.format.name,
        counter="",
        detail=f"by its client on line {lines}",
        tool_version=__version__,
        recorded_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
