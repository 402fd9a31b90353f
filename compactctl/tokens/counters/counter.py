"""The interface of token counters."""

from collections.abc import Sequence
from typing import Literal, Protocol

Exactness = Literal["exact", "reconstructed", "calibrated", "estimate"]


class TokenCounter(Protocol):
    """Counts tokens of texts; the same text always gives the same count."""

    @property
    def id(self) -> str:
        """The name shown with every count, such as ``o200k_base`` or ``o200k_base x1.18``."""

    @property
    def exactness(self) -> Exactness:
        """How far the counts can be trusted."""

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Count each text as plain text: names of special tokens have no meaning in it.

        Raises for no ``str``, not even for lone surrogates or long runs of one character.
        """
