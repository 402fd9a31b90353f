"""The byte pair encoding vocabularies that compactctl ships, so that it needs no network."""

import base64
import functools
import sys
import zlib
from array import array
from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import takewhile
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from compactctl.errors import IntegrityError
from compactctl.records import Record

if TYPE_CHECKING:
    from tiktoken import Encoding


FOLDER = Path(__file__).with_name("vocabularies")
N_SHARDS = 8192
# After so many shards, as of 15 kB of code, the rest is read at once, which takes 0.1 seconds.
_MAX_SINGLE_SHARDS = N_SHARDS // 8
NO_RANK = 1 << 32
"""The rank of bytes that are not a token, above all others."""


class BpeVocabulary(Record):
    """A byte pair encoding, without its ranks.

    Attributes:
        n_tokens: number of ranks, which run from 0 without a gap.
        sha256: digest of the published rank file that our file was made from.
        pieces: regular expressions that split a text before bytes are merged; at each position the
            first one that matches counts.
    """

    name: str
    n_tokens: int
    sha256: str
    pieces: tuple[str, ...]

    @property
    def pattern(self) -> str:
        """The pieces as one regular expression.

        Those without lookahead are grouped: tiktoken's engine then tries them together, and takes a
        quarter less time.
        """
        plain = list(takewhile(lambda piece: "(?!" not in piece, self.pieces))
        return "|".join((f"(?:{'|'.join(plain)})", *self.pieces[len(plain) :]))


# Digests and pieces are those of tiktoken 0.14 (module ``tiktoken_ext.openai_public``).
_CL100K_BASE = BpeVocabulary(
    name="cl100k_base",
    n_tokens=100_256,
    sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    pieces=(
        r"'(?i:[sdmt]|ll|ve|re)",
        r"[^\r\n\p{L}\p{N}]?+\p{L}++",
        r"\p{N}{1,3}+",
        r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
        r"\s++$",
        r"\s*[\r\n]",
        r"\s+(?!\S)",
        r"\s",
    ),
)
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_O200K_BASE = BpeVocabulary(
    name="o200k_base",
    n_tokens=199_998,
    sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    pieces=(
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTION}",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTION}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ),
)
VOCABULARIES = {entry.name: entry for entry in (_O200K_BASE, _CL100K_BASE)}


class TokenRanks:
    """The ranks of a vocabulary's tokens, read from its file as they are asked for.

    A token is in the shard that its CRC-32 names, so that a short text needs few of them. The file
    holds 32-bit integers, little-endian: for each shard, how many tokens end with it, and how many
    bytes of tokens; the rank of each token. Then the length of each token in a byte, all tokens,
    and the CRC-32 of what comes before it.
    """

    def __init__(self, data: bytes, n_tokens: int) -> None:
        """Raise ValueError if ``data`` is not such a file."""
        sizes = 2 * N_SHARDS
        size_bytes, rank_bytes = 4 * sizes, 4 * n_tokens
        content, checksum = memoryview(data)[:-4], int.from_bytes(data[-4:], "little")
        start = size_bytes + rank_bytes + n_tokens
        if len(content) < start or zlib.crc32(content) != checksum:
            raise ValueError(f"not a vocabulary of {n_tokens:,} tokens")
        ends = _integers(content[:size_bytes])
        self._token_ends, self._byte_ends = (0, *ends[:N_SHARDS]), (0, *ends[N_SHARDS:])
        self._ranks = content[size_bytes : size_bytes + rank_bytes]
        self._lengths = content[size_bytes + rank_bytes : start]
        self._tokens = content[start:]
        self._unread = set(range(N_SHARDS))
        self._read: dict[bytes, int] = {}

    @property
    def get(self) -> Callable[[bytes, int], int]:
        """Look up the rank of a token; other bytes have the given default."""
        return self._find if self._unread else self._read.get

    def _find(self, token: bytes, default: int) -> int:
        shard = zlib.crc32(token) % N_SHARDS
        if shard in self._unread:
            self._unread.remove(shard)
            self._read.update(self._shards(shard, shard + 1))
            if len(self._unread) < N_SHARDS - _MAX_SINGLE_SHARDS:
                self._read.update(self.items())
                self._unread.clear()
        return self._read.get(token, default)

    def items(self) -> Iterator[tuple[bytes, int]]:
        """Yield all tokens and their ranks, in no useful order."""
        return self._shards(0, N_SHARDS)

    def _shards(self, start: int, stop: int) -> Iterator[tuple[bytes, int]]:
        first, end = self._token_ends[start], self._token_ends[stop]
        stream = BytesIO(self._tokens[self._byte_ends[start] : self._byte_ends[stop]])
        tokens = map(stream.read, self._lengths[first:end])
        return zip(tokens, _integers(self._ranks[4 * first : 4 * end]), strict=True)


def _integers(data: memoryview) -> "array[int]":
    integers = array("I", bytes(data))
    if sys.byteorder == "big":
        integers.byteswap()
    return integers


@functools.cache
def load_ranks(vocabulary: BpeVocabulary) -> TokenRanks:
    """Open a vocabulary: a few milliseconds and megabytes.

    Raises:
        IntegrityError: our file is missing or damaged.
    """
    file = FOLDER / f"{vocabulary.name}.bin"
    try:
        return TokenRanks(file.read_bytes(), vocabulary.n_tokens)
    except (OSError, ValueError) as error:
        raise IntegrityError(f"{file}: {error}; reinstall compactctl") from error


def is_token(text: str) -> bool:
    """Return whether a text is a single token of o200k_base."""
    token = text.encode("utf-8", "surrogatepass")
    return load_ranks(_O200K_BASE).get(token, NO_RANK) != NO_RANK


def published_bytes(vocabulary: BpeVocabulary) -> bytes:
    """Recreate the published rank file: each line has a token in base64, a space and its rank."""
    tokens = sorted(load_ranks(vocabulary).items(), key=itemgetter(1))
    return b"".join(b"%b %d\n" % (base64.b64encode(token), rank) for token, rank in tokens)


@functools.cache
def load_encoding(name: str) -> "Encoding":
    """Build tiktoken's encoder of a vocabulary: about 0.3 seconds and 50 MB, once per process.

    It has no special tokens, so their names in a text are counted as text.

    Raises:
        IntegrityError: our file is missing or damaged.
    """
    from tiktoken import Encoding

    vocabulary = VOCABULARIES[name]
    ranks = dict(load_ranks(vocabulary).items())
    pattern = vocabulary.pattern
    encoding = Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    # The engine has its own copy.
    ranks.clear()
    return encoding
