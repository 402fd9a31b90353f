"""Messages that are to be shortened where they stand, and their originals."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import PartIndex, atomic_units
from compactctl.history.stand_ins import is_stand_in
from compactctl.model.edit import Proposal
from compactctl.model.message import (
    FilePart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    is_replaceable,
    media_of,
)
from compactctl.stages.support.condensation import in_order, originals
from compactctl.stages.support.replacement import Rewrite, can_rewrite, rewrite_proposal
from compactctl.stages.support.stage import StageOptions
from compactctl.summaries.digest.in_place import InPlaceResult

_REASON = "shortened to the lines that will be needed again"


@dataclass(frozen=True, slots=True, kw_only=True)
class InPlaceLayout:
    """Originals, and where each of them stands in a view.

    Attributes:
        messages: those of the view that they are the originals of.
        originals: what the messages were before any stage worked on them, oldest first.
        view_indices: the index in the view of the message that each stands for; -1 for those that
            are behind a stand-in, or are to be.
        units: the originals that stay or go together; those behind a stand-in are in none.
        uneditable: the parts of the originals that may not be changed.
        never_hidden: the originals that are never hidden.
    """

    messages: tuple[Message, ...]
    originals: tuple[Message, ...]
    view_indices: tuple[int, ...]
    units: tuple[tuple[int, ...], ...]
    uneditable: frozenset[PartIndex]
    never_hidden: frozenset[int]

    @classmethod
    def build(
        cls,
        view: ConversationView,
        older: Sequence[Message],
        newest: Sequence[Message] = (),
        *,
        are_older_gone: bool = False,
    ) -> "InPlaceLayout":
        """Look up what some messages of a view were.

        Of the ``newest``, which are protected, calls and results may be shortened nevertheless.
        """
        places = {message.id: index for index, message in enumerate(view.messages)}
        found: dict[str, tuple[Message, int]] = {}
        gone = {message.id for message in older} if are_older_gone else set()
        for message in (*older, *newest):
            is_gone = is_stand_in(message) or message.id in gone
            home = -1 if is_gone else places[message.id]
            for each in originals(view, [message]):
                found.setdefault(each.id, (each, home))
        standing = in_order(each for each, _ in found.values())
        homes = tuple(found[each.id][1] for each in standing)
        indices = {home: index for index, home in enumerate(homes) if home >= 0}
        before = tuple(
            _as_shown(each, view.messages[home]) if home >= 0 else each
            for each, home in zip(standing, homes, strict=True)
        )
        stays = {places[message.id] for message in newest}
        sealed = _signed_responses(view.messages)
        together = (
            tuple(indices[index] for index in unit if index in indices)
            for unit in atomic_units(view.messages)
        )
        return cls(
            messages=(*older, *newest),
            originals=before,
            view_indices=homes,
            units=tuple(filter(None, together)),
            uneditable=frozenset(
                PartIndex(index, at)
                for home, index in indices.items()
                for at, part in enumerate(view.messages[home].parts)
                if not is_replaceable(part)
                or (isinstance(part, ToolResultPart) and part.said)
                or not isinstance(part, _shortenable_parts(view, home, sealed=sealed, stays=stays))
            ),
            never_hidden=frozenset(index for home, index in indices.items() if home in stays),
        )

    def messages_to_hide(
        self, view: ConversationView, hidden: Sequence[int]
    ) -> tuple[Message, ...]:
        """Return the messages that go where the originals that go are ``hidden``."""
        left = self._visible_indices(hidden).values()
        stay = {view.messages[home].id for home in left}
        return tuple(message for message in self.messages if message.id not in stay)

    def _visible_indices(self, hidden: Sequence[int]) -> dict[int, int]:
        """Return where the originals stand that are neither ``hidden`` nor behind a stand-in."""
        gone = set(hidden)
        homes = enumerate(self.view_indices)
        return {index: home for index, home in homes if home >= 0 and index not in gone}

    def rewrite_proposal(
        self, view: ConversationView, found: InPlaceResult, stage: str, options: StageOptions
    ) -> Proposal:
        """Return the edits that give the messages that stay their new content."""
        rewrites = [
            Rewrite(part_index=PartIndex(home, at), text=text, tokens_saved=0, reason=_REASON)
            for index, home in self._visible_indices(found.hidden).items()
            for at, part in enumerate(self.originals[index].parts)
            for text in [found.changed.get(PartIndex(index, at), _text_of(part))]
            if text != _text_of(view.messages[home].parts[at])
        ]
        count = len({rewrite.part_index.message for rewrite in rewrites})
        note = f"messages shortened: {count:,}"
        return rewrite_proposal(view, rewrites, stage=stage, options=options, note=note)


def _as_shown(original: Message, shown: Message) -> Message:
    """Return an original without the media that are gone from its message in the view.

    Their data cannot be written back: the text that stands in their place is all there is.
    """
    parts = tuple(
        new if media_of(old) and not media_of(new) else old
        for old, new in zip(original.parts, shown.parts, strict=True)
    )
    return replace(original, parts=parts)


def _shortenable_parts(
    view: ConversationView, home: int, *, sealed: Collection[int], stays: Collection[int]
) -> tuple[type[Part], ...]:
    """Return the kinds of parts that may be shortened in a message of a view."""
    if home not in stays and not can_rewrite(view, view.messages[home]):
        return ()
    if home in sealed:
        return (ToolResultPart,)
    said = () if home in stays else (TextPart, FilePart)
    return (ToolCallPart, ToolResultPart, *said)


def _signed_responses(messages: Sequence[Message]) -> frozenset[int]:
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
