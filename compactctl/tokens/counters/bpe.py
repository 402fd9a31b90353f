"""Exact counts with the vocabularies of OpenAI's models."""

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from compactctl.tokens.counters.counter import Exactness
from compactctl.tokens.counters.slices import slices
from compactctl.tokens.counters.vocabulary import load_encoding

if TYPE_CHECKING:
    from tiktoken import Encoding


class BpeCounter:
    """Counts with a byte pair encoding: ``o200k_base``, ``cl100k_base`` or what ``load`` gives.

    The encoding is loaded by the first count that needs it, which raises IntegrityError when
    the file of one of ours is damaged. Counts are those of tiktoken; ``exactness`` falls to
    ``estimate`` for good once a text had to be cut where no cut is free, or had to be bounded by
    its bytes.
    """

    exactness: Exactness = "exact"
    engine = "tiktoken"

    def __init__(self, name: str, load: "Callable[[], Encoding] | None" = None) -> None:
        self.id = name
        self._load = load or partial(load_encoding, name)

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Count each text as plain text: names of special tokens have no meaning."""
        return [self._count(text) if text else 0 for text in texts]

    @cached_property
    def _encode(self) -> Callable[[str], Sequence[int]]:
        return self._load().encode_ordinary

    def _count(self, text: str) -> int:
        encode = self._encode
        total = 0
        for piece, seamless in slices(without_surrogates(text)):
            n_tokens, exact = count_or_bound(encode, piece)
            if not (exact and seamless):
                self.exactness = "estimate"
            total += n_tokens
        return total


def without_surrogates(text: str) -> str:
    """Join surrogate pairs and replace lone surrogates by U+FFFD, which is tiktoken's rule.

    What is not ASCII is copied: an engine leaves the UTF-8 that it counts with every such text.
    """
    if text.isascii():
        return text
    try:
        return text.encode().decode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def count_or_bound(encode: Callable[[str], Sequence[int]], text: str) -> tuple[int, bool]:
    """Return a text's tokens and True, or its UTF-8 bytes and False when the engine panics.

    No token is shorter than a byte, so the bytes are an upper bound.
    """
    try:
        return len(encode(text)), True
    except BaseException as error:
        # The engine's panic is not an Exception and its class cannot be imported.
        if type(error).__name__ != "PanicException":
            raise
        return len(text.encode()), False
