"""Map originals to the messages of a view that hold them, to shorten these in place."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import PartIndex, atomic_units
from compactctl.history.stand_ins import is_stand_in
from compactctl.model.edit import Proposal
from compactctl.model.message import (
    FilePart,
    MediaPart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    is_replaceable,
    media_of,
)
from compactctl.records import Record, replace
from compactctl.stages.support.condensation import in_order, originals_of
from compactctl.stages.support.replacement import Rewrite, can_rewrite, propose_rewrites

if TYPE_CHECKING:
    from compactctl.summaries.digest.in_place import InPlaceResult

_REASON = "shortened to the lines likely to be needed again"


class InPlaceLayout(Record):
    """The originals of some messages of a view, and where the view holds them.

    Attributes:
        messages: the messages of the view.
        originals: what they were before any compaction, oldest first.
        view_indices: for each original, the index of the message that holds it in the view; -1 if
            it is, or will be, behind a stand-in.
        units: the originals that must be hidden together; none of those behind a stand-in.
        uneditable: the parts of the originals that must not change.
        newest: the originals of the newest work, which is not hidden.
        unmovable: other originals that must not be hidden.
    """

    messages: tuple[Message, ...]
    originals: tuple[Message, ...]
    view_indices: tuple[int, ...]
    units: tuple[tuple[int, ...], ...]
    uneditable: frozenset[PartIndex]
    newest: frozenset[int]
    unmovable: frozenset[int]

    @classmethod
    def build(
        cls,
        view: ConversationView,
        older: Sequence[Message],
        newest: Sequence[Message] = (),
        unmovable: Sequence[Message] = (),
        *,
        hide_older: bool = False,
    ) -> "InPlaceLayout":
        """Map the originals of some messages to the messages that hold them in the view.

        view:          0 system, 1 summary of o1, o2, o3, 2 user, 3 call, 4 result
        originals:     o1, o2, o3, user, call, result
        view_indices:  -1, -1, -1, 2, 3, 4        units: (3,), (4, 5)

        The ``newest`` are protected; still, their calls, results and what a client put between
        them may be shortened. The ``unmovable`` are shortened like others. With ``hide_older``, the
        ``older`` messages will be behind a stand-in as well.
        """
        # -1: behind a summary. Such an original can be quoted, but not shortened in place.
        index_by_id = {message.id: index for index, message in enumerate(view.messages)}
        by_id: dict[str, tuple[Message, int]] = {}
        hidden_ids = {message.id for message in older} if hide_older else set()
        for message in (*older, *unmovable, *newest):
            is_hidden = is_stand_in(message) or message.id in hidden_ids
            view_index = -1 if is_hidden else index_by_id[message.id]
            for original in originals_of(view, [message]):
                by_id.setdefault(original.id, (original, view_index))
        ordered = in_order(original for original, _ in by_id.values())
        view_indices = tuple(by_id[original.id][1] for original in ordered)
        by_view_index = {n: index for index, n in enumerate(view_indices) if n >= 0}
        shown_originals = tuple(
            _with_shown_media(original, view.messages[view_index]) if view_index >= 0 else original
            for original, view_index in zip(ordered, view_indices, strict=True)
        )
        newest_indices = {index_by_id[message.id] for message in newest}
        unmovable_indices = {index_by_id[message.id] for message in unmovable}
        signed = _signed_responses(view.messages)
        units = (
            tuple(by_view_index[index] for index in unit if index in by_view_index)
            for unit in atomic_units(view.messages)
        )
        return cls(
            messages=(*older, *unmovable, *newest),
            originals=shown_originals,
            view_indices=view_indices,
            units=tuple(filter(None, units)),
            uneditable=frozenset(
                PartIndex(index, part_number)
                for view_index, index in by_view_index.items()
                for types in [_shortenable_types(view, view_index, signed, newest_indices)]
                for part_number, part in enumerate(view.messages[view_index].parts)
                if not (isinstance(part, types) and is_replaceable(part))
                or (isinstance(part, ToolResultPart) and part.said)
            ),
            newest=frozenset(
                index for view_index, index in by_view_index.items() if view_index in newest_indices
            ),
            unmovable=frozenset(
                index
                for view_index, index in by_view_index.items()
                if view_index in unmovable_indices
            ),
        )

    def messages_to_hide(
        self, view: ConversationView, hidden: Sequence[int]
    ) -> tuple[Message, ...]:
        """Return the messages to hide so that the originals ``hidden`` are hidden."""
        visible = self._visible_indices(hidden).values()
        visible_ids = {view.messages[view_index].id for view_index in visible}
        return tuple(message for message in self.messages if message.id not in visible_ids)

    def _visible_indices(self, hidden: Sequence[int]) -> dict[int, int]:
        """Return the view index of each original that is not ``hidden`` or behind a stand-in."""
        hidden_indices = set(hidden)
        view_indices = enumerate(self.view_indices)
        return {
            index: view_index
            for index, view_index in view_indices
            if view_index >= 0 and index not in hidden_indices
        }

    def rewrite_proposal(
        self, view: ConversationView, result: "InPlaceResult", stage: str, options: Record
    ) -> Proposal:
        """Return the edits that give the visible messages their new content."""
        rewrites = [
            Rewrite(
                part_index=PartIndex(view_index, part_number),
                text=text,
                tokens_saved=0,
                reason=_REASON,
            )
            for index, view_index in self._visible_indices(result.hidden).items()
            for part_number, part in enumerate(self.originals[index].parts)
            for text in [result.changed.get(PartIndex(index, part_number), _text_of(part))]
            if text != _text_of(view.messages[view_index].parts[part_number])
        ]
        count = len({rewrite.part_index.message for rewrite in rewrites})
        note = f"messages shortened: {count:,}"
        return propose_rewrites(view, rewrites, stage=stage, options=options, note=note)


def _with_shown_media(original: Message, shown: Message) -> Message:
    """Return an original whose parts with media are replaced where the view no longer has them.

    The media cannot be restored by an edit; only the text that replaced them can be shortened.
    """
    parts = tuple(
        new if media_of(old) and not media_of(new) else old
        for old, new in zip(original.parts, shown.parts, strict=True)
    )
    if parts == original.parts:
        return original
    return replace(original, parts=parts)


def _shortenable_types(
    view: ConversationView, view_index: int, signed: Collection[int], newest_indices: set[int]
) -> tuple[type[Part], ...]:
    """Return the types of parts that may be shortened in a message of the view."""
    if view_index not in newest_indices and not can_rewrite(view, view.messages[view_index]):
        return ()
    if view_index in signed:
        return (ToolResultPart,)
    # What a client adds to the newest request beside its words may be shortened, except a command
    # or skill that the user called: it says what to do.
    origin = view.messages[view_index].origin
    is_extra = origin.is_injected and not origin.is_instruction
    text_kinds = (TextPart, FilePart) if is_extra or view_index not in newest_indices else ()
    media_kinds = () if view_index in newest_indices else (MediaPart,)
    return (ToolCallPart, ToolResultPart, *text_kinds, *media_kinds)


def _signed_responses(messages: Sequence[Message]) -> frozenset[int]:
    """Return the messages of responses with signed reasoning, whose text must not change."""
    responses = {m.response_id for m in messages if _is_signed(m)} - {None}
    return frozenset(
        n for n, m in enumerate(messages) if m.response_id in responses or _is_signed(m)
    )


def _is_signed(message: Message) -> bool:
    parts = (part for part in message.parts if isinstance(part, ReasoningPart))
    return any(part.opaque or part.sealed for part in parts)


def _text_of(part: Part) -> str:
    """Return the content of a part that an edit would replace, "" for other parts."""
    match part:
        case TextPart(text=text) | FilePart(text=text) | ToolResultPart(text=text):
            return text
        case ToolCallPart(arguments=arguments):
            return arguments
        case _:
            return ""
