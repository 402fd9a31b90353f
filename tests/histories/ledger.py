"""What programs wrote to one transcript, and what of it must not be lost."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from talks import Talk

UNNAMED = "?"
"""The operation of a state whose command has not ended yet."""


@dataclass(slots=True, eq=False)
class State:
    """Bytes that the transcript had.

    Those that an operation left may be lost only if another program replaced them, and if all
    commands name the operation then. Those that an archive must hold may not be lost at all.
    """

    data: bytes
    operation: str = ""
    is_archived: bool = False
    is_gone: bool = False

    @property
    def may_be_lost(self) -> bool:
        """Whether another program replaced it before anything had to keep it."""
        return self.is_gone and bool(self.operation) and not self.is_archived


class Ledger:
    """One transcript: its states, and the lines that others added to it.

    ``content`` is what it holds if no command has changed it since; ``contents`` are all that it
    held since a command began. ``known`` are the states that a command read or left here;
    ``is_replaced`` tells that others wrote all of it since.
    """

    def __init__(self, talk: Talk, path: Path, content: bytes) -> None:
        self.talk = talk
        self.path = path
        self.content = content
        self.contents = [content]
        self.states = [State(content)] if content else []
        self.known: list[State] = []
        self.written_late: set[bytes] = set()
        self.lines: list[bytes] = []
        self.is_replaced = False

    def begin(self) -> None:
        """Begin a command."""
        self.contents = [self.content]

    def replaced(self, data: bytes) -> None:
        """Another program put other bytes in their place; what nothing keeps is lost by that."""
        for state in self.states:
            was_there = self.holds(self.content, state)
            state.is_gone |= was_there and not self.holds(data, state)
        self.states = [
            state
            for state in self.states
            if state.operation or state.is_archived or not state.is_gone
        ]
        self.lines = [line for line in self.lines if line not in self.content or line in data]
        self._put(data, State(data))
        self.is_replaced = True

    def added(self, lines: bytes) -> None:
        """Another program appended whole lines, with the end of the line before."""
        self.content += lines
        self.contents.append(self.content)
        self.lines += lines.lstrip(b"\n").splitlines(keepends=True)

    def added_late(self, lines: bytes) -> None:
        """Another program wrote lines to the file that was here before."""
        self.lines += lines.splitlines(keepends=True)
        self.written_late |= {*lines.splitlines(keepends=True)}

    def took_in(self, data: bytes) -> bool:
        """Learn that a command did nothing but add lines that were written late, if so."""
        more = data.removeprefix(self.content).lstrip(b"\n").splitlines(keepends=True)
        if not data.startswith(self.content) or any(line not in self.lines for line in more):
            return False
        self.content = data
        self.contents.append(data)
        return True

    def published(self, data: bytes) -> None:
        """A command put other bytes in their place."""
        self._put(data, State(data, UNNAMED))
        self.known.append(State(data))
        self.is_replaced = False

    def archived(self, data: bytes) -> None:
        """A command had to archive these bytes."""
        for state in self.states:
            state.is_archived |= self.holds(data, state)
        self.lines = [line for line in self.lines if line not in data]
        self.known.append(State(data))
        self._add(State(data, is_archived=True))

    def _put(self, data: bytes, state: State) -> None:
        self.content = data
        self.contents.append(data)
        self._add(state)

    def _add(self, state: State) -> None:
        old = next((each for each in self.states if each.data == state.data), None)
        if old is None:
            self.states.append(state)
            return
        old.is_gone = old.is_gone and state.is_archived
        old.is_archived |= state.is_archived
        old.operation = state.operation or old.operation

    @property
    def late(self) -> Sequence[bytes]:
        """The lines that were written to a file that was replaced, and not taken in since."""
        written = (line for line in self.lines if line in self.written_late)
        return [line for line in written if line not in self.content]

    @property
    def is_ours(self) -> bool:
        """Whether a command knows anything of it."""
        return bool(self.known)

    @property
    def is_foreign(self) -> bool:
        """Whether what it holds is not from a state that a command knows."""
        return self.is_ours and not any(self.holds(self.content, state) for state in self.known)

    def holds(self, data: bytes, state: State) -> bool:
        """Tell whether bytes begin with a state; of a document, its records."""
        if data.startswith(state.data) or not self.talk.is_document:
            return data.startswith(state.data)
        try:
            records, first = self.talk.records(data), self.talk.records(state.data)
        except (ValueError, KeyError, TypeError):
            return False
        return records[: len(first)] == first
