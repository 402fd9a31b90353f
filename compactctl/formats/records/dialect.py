"""How one API writes messages, and which of several APIs a conversation was written for."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, Literal, TypeVar

from compactctl.formats.records.chat_log import Conversation
from compactctl.formats.records.rows.chain import ChainLink

# "own": has what only this API has; "shared": reads the same in this API and in others.
DialectFit = Literal["own", "shared"]

# As many messages as tell dialects apart; conversations can hold thousands.
_SAMPLE = 50


class Dialect(ABC):
    """How one API writes messages; ``name`` is that of its format.

    ``drops_past_reasoning`` as for ``Transcript``.
    """

    name: str
    drops_past_reasoning: bool = False

    @abstractmethod
    def fits(
        self, messages: Sequence[Mapping[str, Any]], request: Mapping[str, Any]
    ) -> DialectFit | None:
        """Tell whether these are messages of this API; None when most of them are not.

        ``request`` is the object that they stand in, empty where there is none. A bare answer is
        asked about as the only message.
        """

    @abstractmethod
    def start(self, number: int) -> Conversation:
        """Begin to read the conversation of a number."""

    def link(self, request: Mapping[str, Any], answer: Mapping[str, Any]) -> ChainLink | None:
        """Return what a request goes on from, None where it sends all there is itself."""
        return None


_Dialect = TypeVar("_Dialect", bound=Dialect)


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """The names of dialects that each have something in a conversation that only they have."""

    names: tuple[str, ...]

    @property
    def words(self) -> str:
        """What is wrong and what to do about it."""
        return f"fits {' and '.join(self.names)}; name one of them with --format"


@dataclass(frozen=True, slots=True)
class DialectFits(Generic[_Dialect]):
    """The dialects that a conversation may be in, and of these those that show in it."""

    fitting: tuple[_Dialect, ...]
    own: tuple[_Dialect, ...]

    def choose(self, usual: _Dialect | None) -> _Dialect | Ambiguous | None:
        """Return the dialect of the conversation, None when none fits.

        Where none shows, that is the ``usual`` one of the file, or else the first: they read it
        alike.
        """
        if len(self.own) > 1:
            return Ambiguous(tuple(dialect.name for dialect in self.own))
        shared = usual if usual in self.fitting else next(iter(self.fitting), None)
        return self.own[0] if self.own else shared


def dialect_fits(
    dialects: Sequence[_Dialect],
    messages: Sequence[Any],
    request: Mapping[str, Any],
    answer: Mapping[str, Any],
) -> DialectFits[_Dialect]:
    """Return the dialects that fit a conversation.

    They show in the request, and where none does, in the logged ``answer`` to it.
    """
    sample = [each for each in islice(messages, _SAMPLE) if isinstance(each, Mapping)]
    fits = [(dialect, dialect.fits(sample, request)) for dialect in dialects]
    fitting = tuple(dialect for dialect, fit in fits if fit)
    own = tuple(dialect for dialect, fit in fits if fit == "own")
    if not own and answer:
        # Nothing shows in a request without messages, such as one of a single text.
        asked = fitting if sample else dialects
        own = tuple(dialect for dialect in asked if dialect.fits([answer], {}) == "own")
    return DialectFits(fitting, own)
