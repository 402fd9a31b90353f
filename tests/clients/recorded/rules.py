"""A rule by which a client makes its request, and the small sessions that show its sides."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar


class Written(Protocol):
    """A session that is being written; ``data`` are its bytes, as its client stores them."""

    @property
    def data(self) -> bytes:
        """The session as it lies in its file."""


Draft = TypeVar("Draft", bound=Written)


@dataclass(frozen=True, kw_only=True)
class Rule(Generic[Draft]):
    """A rule of a client, what it says, and the sessions that show it.

    A session is written by a function, after which it is named, into an empty ``draft``. The model
    that is asked has room for ``limit`` tokens, as ``Client.say`` takes them; with ``compacts`` the
    client is left to decide, and only whether it compacts first is recorded.
    """

    name: str
    about: str
    draft: Callable[[], Draft]
    limit: int | None = None
    compacts: bool = False
    writers: dict[str, Callable[[Draft], object]] = field(default_factory=dict)

    def __call__(self, write: Callable[[Draft], object]) -> Callable[[Draft], object]:
        """Add a session."""
        self.writers[write.__name__] = write
        return write

    def session(self, name: str) -> bytes:
        """Return a session as it lies in its file."""
        draft = self.draft()
        self.writers[name](draft)
        return draft.data
