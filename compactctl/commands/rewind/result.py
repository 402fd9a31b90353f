"""What a rewind is asked for, and what it did."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from compactctl.commands.by_client.compactions import ClientCompaction
from compactctl.commands.forking.written import Written
from compactctl.model.operation import Digest
from compactctl.store.files.limits import READ_LIMITS, ReadLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class RewindOptions:
    """Where to go: one of ``to``, ``group`` and ``all``, or none for the last compaction.

    With ``client`` it is the client's own newest compaction that is undone, with ``all`` every one;
    ``in_place`` replaces the transcript then, ``native`` appends to it. That, and undoing what was
    appended, is done also ``while_open``. ``archive`` is the folder of its archive, where that is
    not in its place.
    """

    path: str
    to: str | None = None
    group: str | None = None
    all: bool = False
    client: bool = False
    in_place: bool = False
    native: bool = False
    while_open: bool = False
    check: bool = False
    output: str | None = None
    force: bool = False
    archive: Path | None = None
    limits: ReadLimits = READ_LIMITS


@dataclass(frozen=True, slots=True, kw_only=True)
class RewindResult:
    """What a rewind restored, or would restore with ``check``.

    ``undone`` are the compactions no longer in effect, newest first; ``carried`` counts the bytes
    that were appended since and are kept; ``late`` those of them that a program with the old file
    open went on writing there. ``way_back`` are the options that lead back to the state that was
    left, where it was replaced. ``moved`` is False when there was nothing to undo. ``by_client``
    are compactions by the client that were undone, oldest first. ``written`` is None where nothing
    was; the lines that it carried are behind what ``after`` describes.
    """

    path: str
    layout: str
    before: Digest
    after: Digest
    undone: tuple[str, ...]
    in_effect: tuple[str, ...]
    carried: int
    late: int
    checked: bool
    group: str | None = None
    way_back: str | None = None
    by_client: tuple[ClientCompaction, ...] = ()
    written: Written | None = None
    warnings: tuple[str, ...] = ()
    data: Iterable[bytes] | None = None

    @property
    def moved(self) -> bool:
        """Whether the state, or what is in effect in it, differs from the one before."""
        return self.before != self.after or bool(self.undone)
