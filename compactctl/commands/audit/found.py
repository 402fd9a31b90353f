"""A compaction that was found in a transcript, before it is judged."""

from dataclasses import dataclass

from compactctl.commands.audit.result import AuditVerdict
from compactctl.model.message import Message, TextPart
from compactctl.summaries.extract.passages import Spot, spots_of

OWN = "compactctl"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCompaction:
    """What was sent before and after a compaction, and what is known of it.

    Attributes:
        writer: ``compactctl``, or the format whose client compacted.
        line: that of its summary or boundary, from 0.
        before, after: what was sent before it and after it.
        restored: what the client sent again by itself after it, before the agent went on.
        later: what followed, up to the next compaction.
        source: all that was said before it, sent or not.
        aside: texts that the file holds beside messages, where the client may have its facts from.
        verdict: what can be looked up.
        operation, stages: of a compaction by compactctl.
    """

    writer: str
    line: int
    before: tuple[Message, ...]
    after: tuple[Message, ...]
    restored: tuple[Message, ...] = ()
    later: tuple[Message, ...] = ()
    source: tuple[Message, ...] = ()
    aside: str = ""
    verdict: AuditVerdict = "audited"
    operation: str | None = None
    stages: tuple[str, ...] = ()

    @property
    def conversations(self) -> tuple[int, ...]:
        """The numbers of the conversations in which anything changed."""
        sent = {message.id: message for message in self.after}
        changed = {
            message.conversation
            for message in self.before
            if message.id not in sent or sent[message.id].parts != message.parts
        }
        return tuple(sorted(changed))

    def spot(self, conversation: int) -> Spot:
        """Return where the summary stands, or else the boundary."""
        written = {message.id for message in self.written(conversation)}
        spots = zip(self.after, spots_of(self.after), strict=True)
        found = (spot for message, spot in spots if message.id in written)
        return next(found, Spot(self.line + 1))

    def written(self, conversation: int) -> tuple[Message, ...]:
        """Return the summaries that were written for it."""
        known = {message.id for message in self.before}
        return tuple(
            message
            for message in self.after
            if message.summary and message.id not in known and message.conversation == conversation
        )


def text_of(messages: tuple[Message, ...]) -> str:
    """Return the texts of messages, one below the other."""
    parts = (part for message in messages for part in message.parts)
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))
