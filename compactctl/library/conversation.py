"""A conversation of a loop: its whole history, and what is sent instead since a cut."""

from collections.abc import Collection, Iterable, Sequence
from sys import maxsize
from typing import Protocol

from compactctl.library.tracked import JsonMessage, MessageFacts, SaysSame, TrackedMessages
from compactctl.records import replace


class ReadFacts(Protocol):
    """Reads messages; raises for wrong ones."""

    def __call__(
        self, messages: Sequence[JsonMessage], start: int, calls: Collection[str]
    ) -> list[MessageFacts]:
        """Return the facts of messages, of which the first has the index ``start``.

        ``calls`` are the ids of the calls before them.
        """


class Conversation:
    """The messages so far, and those that are sent, which are the same until there is a cut.

    ``sent`` begins with ``origins``: messages that stand for the first ``covered`` ones of the
    history, each with the index of its original, None if it stands for several. It goes on with the
    rest of the history.
    """

    def __init__(self, read_facts: ReadFacts, says_same: SaysSame) -> None:
        self.history = TrackedMessages(says_same)
        self._read_facts, self._says_same = read_facts, says_same
        # The ids of the calls in the history.
        self.calls: set[str] = set()
        # The oldest message of the history that reads otherwise since this was set.
        self.changed_from = maxsize
        self.forget_cut()

    def forget_cut(self) -> None:
        """Send the whole history."""
        self.sent, self.origins, self.covered = self.history, list[int | None](), 0

    def begin_with(
        self,
        messages: Sequence[JsonMessage],
        tokens: Sequence[float],
        origins: Sequence[int | None],
        covered: int,
    ) -> None:
        """Send these messages instead of the first ``covered`` ones of the history."""
        history = self.history
        facts = [
            MessageFacts(size) if origin is None else replace(history.facts[origin], tokens=size)
            for size, origin in zip(tokens, origins, strict=True)
        ]
        self.sent = TrackedMessages(self._says_same)
        self.sent.extend(messages, facts)
        self.sent.extend(history.messages[covered:], history.facts[covered:])
        self.origins, self.covered = list(origins), covered

    @property
    def cut_state(self) -> "tuple[TrackedMessages, list[int | None], int]":
        """What is sent instead of the history, to be set again if a cut was in vain."""
        return self.sent, self.origins, self.covered

    @cut_state.setter
    def cut_state(self, state: "tuple[TrackedMessages, list[int | None], int]") -> None:
        self.sent, self.origins, self.covered = state

    @property
    def groups(self) -> list[int | None]:
        """For each message that is sent, the index of its original, None if there are several."""
        return [*self.origins, *range(self.covered, len(self.history))]

    def unchanged_origin(self, place: int) -> int | None:
        """Return the index of a message that is sent as it was, None for one that is not."""
        n_origins = len(self.origins)
        is_later = place >= n_origins
        origin = self.covered + place - n_origins if is_later else self.origins[place]
        if origin is None or self.history.messages[origin] is not self.sent.messages[place]:
            return None
        return origin

    def take(self, messages: Sequence[JsonMessage], *, all_at_once: bool = False) -> int:
        """Make a list the newest state; return how much of what was sent before is still sent.

        The list is the whole history, or what was sent, each with what came since, and maybe
        without some of the newest messages. Raises what reading raises; nothing is changed then.
        """
        newest = messages if isinstance(messages, list) else list(messages)
        is_of_sent = self._is_of_sent(newest)
        before = self.sent if is_of_sent else self.history
        match = before.match(newest, all_at_once=all_at_once)
        calls = self._calls_before(match.length, len(before), is_of_sent=is_of_sent)
        facts = self._read_facts(newest[match.length :], match.length, calls)
        changes = [
            (index, newest[index], self._read_facts([newest[index]], index, self.calls)[0])
            for index in match.changed
        ]
        keep, change = (
            (self._keep_places, self._change_sent)
            if is_of_sent
            else (self._keep_originals, self._change)
        )
        was_cut = self.covered > 0
        keep(match.length)
        changed = [change(index, message, fact) for index, message, fact in changes]
        places = len(self.sent) if self.covered or not was_cut else 0
        self._extend(newest[match.length :], facts)
        # What is changed before the cut stays where it is.
        return min([places, *(place for place in changed if place >= len(self.origins))])

    def _is_of_sent(self, newest: Sequence[JsonMessage]) -> bool:
        """Whether a list goes on from what was sent, as the first message of ours in it shows."""
        places = range(min(len(self.origins), len(newest)))
        place = next((n for n in places if self.unchanged_origin(n) != n), None)
        if place is None:
            return False
        if place >= len(self.history):
            return True
        message = newest[place]
        of_history, of_sent = self.history.holds, self.sent.holds
        if not (of_history(place, message) or of_sent(place, message)):
            of_history, of_sent = self.history.agrees, self.sent.agrees
        if of_history(place, message) or of_sent(place, message):
            return not of_history(place, message)
        return self.sent.match(newest).length > self.history.match(newest).length

    def _calls_before(self, length: int, whole: int, *, is_of_sent: bool) -> Collection[str]:
        """Return the ids of the calls in the first messages of the history, or of what was sent."""
        if length == whole:
            return self.calls
        before = self.sent if is_of_sent else self.history
        return _call_ids(before.facts[:length])

    def _keep_places(self, length: int) -> None:
        """Drop what was sent from ``length`` on, and what it stands for."""
        n_origins = len(self.origins)
        if length >= n_origins:
            self._truncate(self.covered + length - n_origins)
            return
        rest = [self.unchanged_origin(place) for place in range(length, n_origins)]
        first = next((o for o in self.origins[length:] if o is not None), self.covered)
        if rest == list(range(first, self.covered)):
            self._shorten_cut(length, first)
        else:
            self.forget_cut()
        self._truncate(first)

    def _keep_originals(self, length: int) -> None:
        """Drop the history from ``length`` on.

        A cut that says something of it, and does not only send it as it was, is forgotten.
        """
        if length < self.covered:
            place = self.origins.index(length) if length in self.origins else len(self.origins)
            rest = [self.unchanged_origin(n) for n in range(place, len(self.origins))]
            if rest == list(range(length, self.covered)):
                self._shorten_cut(place, length)
            else:
                self.forget_cut()
        self._truncate(length)

    def _shorten_cut(self, place: int, covered: int) -> None:
        """Let the cut cover fewer messages, those that it sends as they were before ``place``."""
        self.origins, self.covered = self.origins[:place], covered

    def _truncate(self, length: int) -> None:
        """Drop the history from ``length`` on, none of which is covered by the cut."""
        if self.sent is not self.history:
            self.sent.truncate(len(self.origins) + length - self.covered)
        if length < len(self.history):
            self.changed_from = min(self.changed_from, length)
            self.history.truncate(length)
            self.calls = _call_ids(self.history.facts)

    def _extend(self, messages: Sequence[JsonMessage], facts: Sequence[MessageFacts]) -> None:
        self.calls |= _call_ids(facts)
        self.history.extend(messages, facts)
        if self.sent is not self.history:
            self.sent.extend(messages, facts)

    def _change(self, index: int, message: JsonMessage, facts: MessageFacts) -> int:
        """Take a message of the history as it is now; return its place in what is sent.

        A cut that says something of it, and does not send it as it was, is forgotten.
        """
        is_said_again = self.history.agrees(index, message)
        if not is_said_again:
            self.changed_from = min(self.changed_from, index)
        place = self.groups.index(index) if index in self.groups else len(self.sent)
        is_sent = place < len(self.sent) and self.unchanged_origin(place) is not None
        self.history.replace(index, message, facts)
        self.calls = _call_ids(self.history.facts)
        if is_sent and self.sent is not self.history:
            self.sent.replace(place, message, facts)
        elif not (is_sent or is_said_again):
            self.forget_cut()
            return 0
        return place

    def _change_sent(self, place: int, message: JsonMessage, facts: MessageFacts) -> int:
        """Take a message that was sent as it is now; return its place."""
        origin = self.unchanged_origin(place)
        self.sent.replace(place, message, facts)
        if origin is not None:
            self.changed_from = min(self.changed_from, origin)
            self.history.replace(origin, message, facts)
            self.calls = _call_ids(self.history.facts)
        return place


def _call_ids(facts: Iterable[MessageFacts]) -> set[str]:
    return {call for fact in facts for call in fact.calls}
