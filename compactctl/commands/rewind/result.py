"""What a rewind is asked for, where it leads, and what it did."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from compactctl import __version__
from compactctl.commands.client_sessions.compactions import ClientCompaction
from compactctl.commands.client_sessions.write import OutputOptions, Written
from compactctl.commands.operations.steps import OperationStep
from compactctl.commands.reading.transcript import InputOptions
from compactctl.model.operation import Digest, Operation, OperationId, StateChange
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.files.content import Content


@dataclass(frozen=True, slots=True, kw_only=True)
class RewindOptions:
    """Where to go: one of ``to``, ``group`` and ``all``, or none for the last compaction.

    With ``client`` it is the client's own newest compaction that is undone, with ``all`` every one;
    then ``output`` may be in place, or in the layout ``native`` which appends to the transcript.
    With ``check`` nothing is written. ``archive`` is the folder of its archive, where that is not
    in its place.
    """

    input: InputOptions
    to: str | None = None
    group: str | None = None
    all: bool = False
    client: bool = False
    check: bool = False
    output: OutputOptions = field(default_factory=OutputOptions)
    archive: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptBytes:
    """Bytes that were appended after what was undone, and are kept.

    ``late`` are those of them that a program with the old file open went on writing there.
    """

    carried: int = 0
    late: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RewindResult:
    """What a rewind restored, or would restore with ``check``.

    ``undone`` are the compactions no longer in effect, newest first, ``by_client`` those of them
    that the client made, oldest first. ``redo_options`` lead back to the state that was left, where
    it was replaced. ``written`` is None where nothing was; the lines that it carried are behind
    what ``after`` describes.
    """

    options: RewindOptions
    layout: str
    change: StateChange
    undone: tuple[str, ...]
    in_effect: tuple[str, ...]
    appended: KeptBytes = KeptBytes()
    by_client: tuple[ClientCompaction, ...] = ()
    redo_options: str | None = None
    written: Written | None = None
    data: Iterable[bytes] | None = None
    warnings: tuple[str, ...] = ()

    @property
    def after(self) -> Digest:
        """The state that was restored."""
        return self.change.after

    @property
    def moved(self) -> bool:
        """Whether the state, or what is in effect in it, differs from the one before."""
        return self.change.before != self.change.after or bool(self.undone)


@dataclass(frozen=True, slots=True, kw_only=True)
class RewindTarget:
    """The state to go to, what is in effect there, and the deposits that record the way.

    ``block`` is what leads there when it is appended to the transcript as it is; None where the
    state takes its place. ``undo_while_open`` tells whether going back from there takes
    ``--while-open``.
    """

    content: Content
    chain: tuple[OperationId, ...]
    carried: int = 0
    deposits: tuple[ArchiveDraft, ...] = ()
    block: bytes | None = None
    undo_while_open: bool = False


def rewind_operation(
    before: Digest,
    after: Digest,
    chain: Sequence[OperationStep],
    head: OperationId | None,
    appended_as: OperationId | None = None,
) -> Operation:
    """Return the operation that records a rewind from ``chain``; ``head`` is in effect then.

    ``appended_as`` is its id where records that were appended are marked with it.
    """
    content = f"rewind\n{before.sha256}\n{after.sha256}\n{head}"
    return Operation(
        id=appended_as or OperationId(hashlib.sha256(content.encode()).hexdigest()[:12]),
        parent=chain[-1].id if chain else None,
        head=head,
        kind="rewind",
        before=before,
        after=after,
        format=chain[-1].format if chain else "",
        counter=chain[-1].counter if chain else "",
        appended=appended_as is not None,
        tool_version=__version__,
        recorded_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
