"""Where a rewind leads."""

from dataclasses import dataclass

from compactctl.model.operation import OperationId
from compactctl.store.archive.deposit import Deposit
from compactctl.store.files.content import Content


@dataclass(frozen=True, slots=True, kw_only=True)
class RewindTarget:
    """The state to go to, what is in effect there, and the archives that record the way.

    ``block`` is what leads there when it is appended to the transcript as it is; None where the
    state takes its place. ``undo_while_open`` tells whether going back from there takes
    ``--while-open``.
    """

    content: Content
    chain: tuple[OperationId, ...]
    carried: int = 0
    archives: tuple[Deposit, ...] = ()
    block: bytes | None = None
    undo_while_open: bool = False
