"""Let what users attached stay as it is beside a summary, as far as there is room."""

from collections.abc import Iterator, Sequence

from compactctl.history.conversation_view import ConversationView
from compactctl.history.protection import hideable
from compactctl.history.turns import preamble
from compactctl.model.message import MediaPart, Message, ToolResultPart
from compactctl.records import replace
from compactctl.stages.support.condensation import originals_of
from compactctl.stages.support.truncation import word_tokens
from compactctl.summaries.extract.budget import MIN_USEFUL
from compactctl.tokens.meter import Meter

REASON = "what the user attached"
# Share of the conversation that media may take if there is no target.
_SHARE_PERCENT = 10


def with_user_media(view: ConversationView, meter: Meter) -> ConversationView:
    """Return the view with protection for the messages whose media stay where they are.

    These are messages of users, without tool results: the newest, the first, and the others from
    the newest on, each if it fits. With a target, what they take besides words may be half of what
    the target leaves beside the preamble, together with all words of the user; without one, a tenth
    of the conversation. The media of all others are described by the summary.
    """
    room = _media_room(view, meter)
    reasons = dict(view.protection.reasons)
    for message in _by_precedence(view.messages):
        tokens = meter.message(message) - word_tokens(meter, [message])
        if tokens <= room:
            room -= tokens
            reasons.setdefault(message.id, REASON)
    if len(reasons) == len(view.protection.reasons):
        return view
    return replace(view, protection=replace(view.protection, reasons=reasons))


def _by_precedence(messages: Sequence[Message]) -> Iterator[Message]:
    candidates = [message for message in messages if _has_own_media(message)]
    yield from candidates[-1:]
    yield from candidates[:-1][:1]
    yield from reversed(candidates[1:-1])


def _has_own_media(message: Message) -> bool:
    """Whether a user wrote a message with media, and without results, which belong to calls."""
    kinds = {type(part) for part in message.parts}
    return message.starts_turn and MediaPart in kinds and ToolResultPart not in kinds


def _media_room(view: ConversationView, meter: Meter) -> int:
    """Return the tokens that the media which stay may take, whether protected already or not."""
    originals = originals_of(view, view.messages)
    fixed = preamble(view.messages)
    if view.target is None:
        return (meter.total(originals) - meter.total(fixed)) * _SHARE_PERCENT // 100
    fixed_ids = {message.id for message in fixed}
    words = word_tokens(meter, (m for m in originals if m.id not in fixed_ids))
    half = (view.target - meter.total(fixed)) // 2
    # Beside what stays in any case there must be room for words and a summary.
    hideable_ids = set(hideable(view, (message.id for message in view.messages)))
    staying = [message for message in view.messages if message.id not in hideable_ids]
    media = sum(meter.message(m) - word_tokens(meter, [m]) for m in staying if _has_own_media(m))
    rest = view.target - meter.total(staying) + media - MIN_USEFUL
    hidden_words = words - word_tokens(meter, (m for m in staying if m.id not in fixed_ids))
    return min(half - words, rest - hidden_words)
