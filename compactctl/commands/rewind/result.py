"""The options and the result of a rewind, and the state it leads to."""

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from compactctl import __version__
from compactctl.asks import ONE_RUN, OUTPUT, STATE, WRITES, ask, flag
from compactctl.commands.client_sessions.write import OutputOptions, Written
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.reading.transcript import InputOptions
from compactctl.model.client_compaction import ClientCompaction
from compactctl.model.operation import Digest, Operation, OperationId, StateChange
from compactctl.records import Record, field
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.files.content import Content


class RewindOptions(Record):
    """Where to go: one of ``to``, ``group`` and ``all``; by default before the last compaction.

    With ``client``, ``output`` may be in place, or in the layout ``native``, which appends to the
    transcript. ``archive`` is the archive folder if it is not at the default location.
    """

    input: InputOptions
    to: str | None = ask(
        None,
        "Restore the state after this operation (compactctl log).",
        STATE,
        WRITES,
        metavar="OPERATION",
    )
    group: str | None = ask(
        None,
        "Restore the messages of one group only. A group that a client tagged (NeuroLink, Roo "
        "Code) is undone like --client.",
        STATE,
        WRITES,
        metavar="ID",
    )
    all: bool = flag("Restore the first state.", STATE, ONE_RUN)
    client: bool = flag(
        "Undo the last compaction by FILE's own client, or with --all every one.", STATE, ONE_RUN
    )
    check: bool = flag("Check that it can be restored; write nothing.", OUTPUT, WRITES)
    output: OutputOptions = field(default_factory=OutputOptions)
    archive: Path | None = None


class KeptBytes(Record):
    """Bytes that were appended after what is undone, and are kept.

    ``late`` are those that a program with the old file open wrote to it after it was replaced.
    """

    carried: int = 0
    late: int = 0


class RewindResult(Record):
    """What a rewind restored, or would restore with ``check``.

    Attributes:
        options: the options.
        layout: where the undone operations were recorded: split, inline or native.
        change: the states before and after.
        undone: the compactions no longer in effect, newest first.
        in_effect: the compactions in effect now.
        is_redone: whether some of them were not in effect before.
        appended: the bytes kept behind the restored state.
        by_client: those of ``undone`` that the client made, oldest first.
        redo_options: the options that lead back to the state before, if it was replaced.
        written: what was written, None if nothing was; its carried lines are not in ``after``.
        data: the restored state in chunks, if it goes to standard output.
        same_as: the id of the session that this one was copied from, if that is as it was then.
        was_compacted: whether compactctl ever compacted it.
        compacted_by: the client that compacted it, if nothing was to undo; "" for none.
        warnings: what the user should know.
    """

    options: RewindOptions
    layout: str
    change: StateChange
    undone: tuple[str, ...]
    in_effect: tuple[str, ...]
    is_redone: bool = False
    appended: KeptBytes = KeptBytes()
    by_client: tuple[ClientCompaction, ...] = ()
    redo_options: str | None = None
    written: Written | None = None
    data: Iterable[bytes] | None = None
    same_as: str | None = None
    was_compacted: bool = True
    compacted_by: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def after(self) -> Digest:
        """The state that was restored."""
        return self.change.after

    @property
    def moved(self) -> bool:
        """Whether the state, or what is in effect in it, has changed."""
        return self.change.before != self.change.after or bool(self.undone) or self.is_redone


class RewindTarget(Record):
    """The state to go to, the operations in effect there, and the archives that record the way.

    ``block`` is appended to the transcript to get there; None if the state replaces it.
    ``undo_option`` is the option that undoing this takes, or "". ``notes`` are warnings.
    ``other`` is the history of the state if that belongs to another first state.
    """

    content: Content
    chain: tuple[OperationId, ...]
    carried: int = 0
    deposits: tuple[ArchiveDraft, ...] = ()
    block: bytes | None = None
    undo_option: str = ""
    notes: tuple[str, ...] = ()
    other: OperationHistory | None = None


def rewind_operation(
    history: OperationHistory,
    before: Digest,
    after: Content,
    head: OperationId | None,
    appended_as: OperationId | None = None,
) -> Operation:
    """Return the operation that records a rewind; ``head`` is in effect afterwards.

    ``appended_as`` is its id if appended records are marked with it.
    """
    chain = history.chain
    content = f"rewind\n{before.sha256}\n{after.digest.sha256}\n{head}"
    return Operation(
        id=appended_as or OperationId(hashlib.sha256(content.encode()).hexdigest()[:12]),
        parent=chain[-1].id if chain else None,
        head=head,
        kind="rewind",
        before=before,
        after=after.digest,
        records=history.timeline.records_in(after.chunks),
        format=chain[-1].format if chain else "",
        counter=chain[-1].counter if chain else "",
        appended=appended_as is not None,
        tool_version=__version__,
        recorded_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
