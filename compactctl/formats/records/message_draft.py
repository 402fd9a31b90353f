"""What a format makes of one record, before it takes its place in the transcript."""

from dataclasses import dataclass

from compactctl.model.message import Part, ReportedUsage, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDraft:
    """The half of a message that a format decides; its fields mean what ``Message``'s mean.

    ``name`` is the record's own id, None when it has none; ``time`` is None where the record tells
    it under a name that every format uses.
    """

    role: Role
    parts: tuple[Part, ...]
    name: str | None = None
    response_id: str | None = None
    model: str | None = None
    injected: bool = False
    summary: bool = False
    fixed: str | None = None
    anchored: str | None = None
    usage: ReportedUsage | None = None
    time: float | None = None
    aside: bool = False
    logged_answer: bool = False
