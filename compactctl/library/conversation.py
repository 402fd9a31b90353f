"""A conversation of a loop: its whole history, and what is sent instead since a cut."""

from collections.abc import Callable, Sequence

from compactctl.library.tracked import JsonMessage, TrackedMessages

ReadSizes = Callable[[Sequence[JsonMessage], int], list[float]]
"""Return the tokens of messages, of which the first has this index. Raises for wrong ones."""


class Conversation:
    """The messages so far, and those that are sent, which are the same until there is a cut.

    ``sent`` begins with ``origins``: messages that stand for the first ``covered`` ones of the
    history, each with the index of its original, None if it stands for several. It goes on with the
    rest of the history.
    """

    def __init__(self, read_sizes: ReadSizes) -> None:
        self.history = TrackedMessages()
        self._read_sizes = read_sizes
        self.forget_cut()

    def forget_cut(self) -> None:
        """Send the whole history."""
        self.sent, self.origins, self.covered = self.history, list[int | None](), 0

    def begin_with(
        self,
        messages: Sequence[JsonMessage],
        sizes: Sequence[float],
        origins: Sequence[int | None],
        covered: int,
    ) -> None:
        """Send these messages instead of the first ``covered`` ones of the history."""
        self.sent = TrackedMessages()
        self.sent.extend(messages, sizes)
        self.sent.extend(self.history.messages[covered:], self.history.sizes[covered:])
        self.origins, self.covered = list(origins), covered

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
        """Make a list the newest state; return how much of the history before is unchanged.

        The list is the whole history, or what was sent, each with what came since, and maybe
        without some of the newest messages. Raises what reading the sizes raises; nothing is
        changed then.
        """
        newest = messages if isinstance(messages, list) else list(messages)
        match = self.history.match(newest, all_at_once=all_at_once)
        is_of_sent = False
        if match.length < len(self.history) and self.covered:
            of_sent = self.sent.match(newest, all_at_once=all_at_once)
            is_of_sent = of_sent.length >= max(len(self.origins), match.length + 1)
            match = of_sent if is_of_sent else match
        new = newest[match.length :]
        sizes = self._read_sizes(new, match.length)
        sizes_now = [self._read_sizes([newest[n]], n)[0] for n in match.changed]
        changed = [(n, newest[n], size) for n, size in zip(match.changed, sizes_now, strict=True)]
        if is_of_sent:
            self._truncate(self.covered + match.length - len(self.origins))
            unchanged = [self._change_sent(n, message, size) for n, message, size in changed]
        else:
            if match.length < self.covered:
                self.forget_cut()
            self._truncate(match.length)
            unchanged = [self._change(n, message, size) for n, message, size in changed]
        unchanged.append(len(self.history))
        self._extend(new, sizes)
        return min(unchanged)

    def _extend(self, messages: Sequence[JsonMessage], sizes: Sequence[float]) -> None:
        self.history.extend(messages, sizes)
        if self.sent is not self.history:
            self.sent.extend(messages, sizes)

    def _truncate(self, length: int) -> None:
        """Drop the history from ``length`` on, none of which is covered by the cut."""
        if self.sent is not self.history:
            self.sent.truncate(len(self.origins) + length - self.covered)
        self.history.truncate(length)

    def _change(self, index: int, message: JsonMessage, size: float) -> int:
        """Take a message of the history as it is now; return its index.

        A cut that says something of it, and does not send it as it was, is forgotten.
        """
        place = self.groups.index(index) if index in self.groups else None
        if place is None or self.unchanged_origin(place) is None:
            self.forget_cut()
        elif self.sent is not self.history:
            self.sent.replace(place, message, size)
        self.history.replace(index, message, size)
        return index

    def _change_sent(self, place: int, message: JsonMessage, size: float) -> int:
        """Take a message that was sent as it is now; return which of the history that changes."""
        origin = self.unchanged_origin(place)
        self.sent.replace(place, message, size)
        if origin is None:
            return len(self.history)
        self.history.replace(origin, message, size)
        return origin
