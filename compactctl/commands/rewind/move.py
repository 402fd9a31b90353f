"""Where a rewind leads."""

from dataclasses import dataclass

from compactctl.model.operation import OperationId
from compactctl.store.archive.deposit import Deposit
from compactctl.store.files.content import Content


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """The state to go to, what is in effect there, and the archives that record the way.

    ``block`` is what leads there when it is appended to the transcript as it is; None where the
    state takes its place. ``insists`` tells whether the way back has to be insisted on.
    """

    content: Content
    chain: tuple[OperationId, ...]
    carried: int
    archives: tuple[Deposit, ...] = ()
    block: bytes | None = None
    insists: bool = False
