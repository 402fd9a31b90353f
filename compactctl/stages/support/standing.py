"""Messages that are to be shortened where they stand, and their originals."""

from collections.abc import Sequence
from dataclasses import dataclass

from compactctl.history.pairs import Place, units
from compactctl.history.standins import is_stand_in
from compactctl.history.view import View
from compactctl.model.edit import Proposal
from compactctl.model.message import (
    FilePart,
    Message,
    MessageId,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.stages.support.condensation import originals
from compactctl.stages.support.replacement import Rewrite, may_change, rewriting
from compactctl.stages.support.stage import StageOptions
from compactctl.summaries.digest.in_place import InPlace

_REASON = "shortened to the lines that will be needed again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Originals, and where each of them stands in a view.

    Attributes:
        originals: what the messages were before any stage worked on them, oldest first.
        homes: the index in the view of the message that each stands for; -1 for those that are
            behind a stand-in.
        units: the originals that stay or go together; those behind a stand-in are in none.
        fixed: the originals whose message may not be changed.
    """

    originals: tuple[Message, ...]
    homes: tuple[int, ...]
    units: tuple[tuple[int, ...], ...]
    fixed: frozenset[int]

    @classmethod
    def of(cls, view: View, messages: Sequence[Message]) -> "Standing":
        """Look up what some messages of a view were."""
        places = {message.id: index for index, message in enumerate(view.messages)}
        found: dict[str, tuple[Message, int]] = {}
        for message in messages:
            home = -1 if is_stand_in(message) else places[message.id]
            for each in originals(view, [message]):
                found.setdefault(each.id, (each, home))
        homes = tuple(home for _, home in found.values())
        indices = {home: index for index, home in enumerate(homes) if home >= 0}
        sealed = _sealed(view.messages)
        together = (
            tuple(indices[index] for index in unit if index in indices)
            for unit in units(view.messages)
        )
        return cls(
            originals=tuple(each for each, _ in found.values()),
            homes=homes,
            units=tuple(filter(None, together)),
            fixed=frozenset(
                index
                for home, index in indices.items()
                if home in sealed or not may_change(view, view.messages[home])
            ),
        )

    def gone(self, view: View, hidden: Sequence[int]) -> frozenset[MessageId]:
        """Return the messages of a view whose originals are ``hidden``."""
        return frozenset(view.messages[self.homes[index]].id for index in hidden)

    def rewriting(self, view: View, found: InPlace, stage: str, options: StageOptions) -> Proposal:
        """Return the edits that give the messages that stay their new content."""
        hidden = set(found.hidden)
        rewrites = [
            Rewrite(place=Place(home, at), text=text, saved=0, reason=_REASON)
            for index, home in enumerate(self.homes)
            if home >= 0 and index not in hidden
            for at, part in enumerate(self.originals[index].parts)
            for text in [found.changed.get(Place(index, at), _text_of(part))]
            if text != _text_of(view.messages[home].parts[at])
        ]
        count = len({rewrite.place.message for rewrite in rewrites})
        note = f"messages shortened: {count:,}"
        return rewriting(view, rewrites, stage=stage, options=options, note=note)


def _sealed(messages: Sequence[Message]) -> frozenset[int]:
    """Return the messages of responses with signed thinking, which goes with all they say."""
    responses = {m.response_id for m in messages if _is_signed(m)} - {None}
    return frozenset(
        n for n, m in enumerate(messages) if m.response_id in responses or _is_signed(m)
    )


def _is_signed(message: Message) -> bool:
    parts = (part for part in message.parts if isinstance(part, ReasoningPart))
    return any(part.opaque or part.sealed for part in parts)


def _text_of(part: Part) -> str:
    """Return the content of a part that an edit replaces, "" for one of another kind."""
    match part:
        case TextPart(text=text) | FilePart(text=text) | ToolResultPart(text=text):
            return text
        case ToolCallPart(arguments=arguments):
            return arguments
        case _:
            return ""
