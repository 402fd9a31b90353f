"""The next request of each conversation: its size, and what triggers and levels look at."""

from collections.abc import Sequence
from dataclasses import dataclass

from compactctl.commands.sizing.extra_content import NO_EXTRAS, Extras
from compactctl.history.conversations import conversations_of
from compactctl.model.message import Message
from compactctl.tokens.fit import Limits
from compactctl.tokens.meter import Meter
from compactctl.tokens.trigger import Situation


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedRequest:
    """A conversation as it would be sent next.

    ``messages`` are its own and, around them, what was given beside the transcript; ``counted``
    are their tokens, ``unseen`` those that are sent and not counted. ``n_messages`` and
    ``n_turns`` are of the conversation alone.
    """

    messages: tuple[Message, ...]
    counted: int
    unseen: int
    n_messages: int
    n_turns: int

    @property
    def tokens(self) -> int:
        """The size of the request."""
        return self.counted + self.unseen

    def situation(self, limits: Limits) -> Situation:
        """Return what a trigger, or a level of a profile, looks at."""
        return Situation(
            tokens=self.tokens,
            available=limits.base_tokens,
            turns=self.n_turns,
            messages=self.n_messages,
            window=limits.budget.window,
        )


def sized_request(
    conversation: Sequence[Message], meter: Meter, unseen: int, extras: Extras = NO_EXTRAS
) -> SizedRequest:
    """Return the next request of one conversation; ``unseen`` is as ``SizedRequest`` has it."""
    messages = extras.around(conversation)
    return SizedRequest(
        messages=messages,
        counted=meter.total(messages),
        unseen=unseen,
        n_messages=len(conversation),
        n_turns=sum(message.starts_turn for message in conversation),
    )


def sized_requests(
    history: Sequence[Message], meter: Meter, unseen: int, extras: Extras = NO_EXTRAS
) -> tuple[SizedRequest, ...]:
    """Return the next request of each conversation in a history; of an empty one, an empty one."""
    conversations = conversations_of(history) or ((),)
    return tuple(sized_request(each, meter, unseen, extras) for each in conversations)


def largest_of(requests: Sequence[SizedRequest]) -> SizedRequest:
    """Return the largest request, of two the first: the one that stands for its file."""
    return max(requests, key=lambda request: request.tokens)
