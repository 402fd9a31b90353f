"""What every token counter offers."""

from collections.abc import Sequence
from typing import Literal, Protocol

Exactness = Literal["exact", "reconstructed", "calibrated", "estimate"]


class TokenCounter(Protocol):
    """Counts tokens of texts; the same text always gives the same count."""

    @property
    def id(self) -> str:
        """Short name shown with every number, such as ``o200k_base`` or ``o200k_base x1.18``."""

    @property
    def exactness(self) -> Exactness:
        """How far the counts can be trusted."""

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Count each text as plain text: names of special tokens have no meaning.

        Never raises for any ``str``, lone surrogates and long runs of one character included.
        """
