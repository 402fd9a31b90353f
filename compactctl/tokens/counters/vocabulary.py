"""The byte pair encoding vocabularies that compactctl ships, so that it needs no network."""

import base64
import functools
import zlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from compactctl.errors import IntegrityError

if TYPE_CHECKING:
    from tiktoken import Encoding


FOLDER = Path(__file__).with_name("vocabularies")


@dataclass(frozen=True, slots=True, kw_only=True)
class BpeVocabulary:
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
        """The pieces as one regular expression."""
        return "|".join(self.pieces)


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


def load_tokens(vocabulary: BpeVocabulary) -> list[bytes]:
    """Load the tokens of a vocabulary in the order of their ranks.

    The file is compressed: the length of each token in a byte, then all tokens.

    Raises:
        IntegrityError: our file is missing or damaged.
    """
    file = FOLDER / f"{vocabulary.name}.bin"
    try:
        data = zlib.decompress(file.read_bytes())
    except (OSError, zlib.error) as error:
        raise IntegrityError(f"{file}: {error}; reinstall compactctl") from error
    n = vocabulary.n_tokens
    if n + sum(data[:n]) != len(data):
        raise IntegrityError(f"{file}: not a vocabulary of {n:,} tokens; reinstall compactctl")
    stream = BytesIO(data)
    return list(map(stream.read, stream.read(n)))


def published_bytes(vocabulary: BpeVocabulary) -> bytes:
    """Recreate the published rank file: each line has a token in base64, a space and its rank."""
    tokens = load_tokens(vocabulary)
    lines = (b"%b %d\n" % (base64.b64encode(token), rank) for rank, token in enumerate(tokens))
    return b"".join(lines)


@functools.cache
def load_encoding(name: str) -> "Encoding":
    """Build the encoder of a vocabulary; takes about 0.3 seconds and 50 MB, once per process.

    It has no special tokens, so their names in a text are counted as text.

    Raises:
        IntegrityError: our file is missing or damaged.
    """
    from tiktoken import Encoding

    vocabulary = VOCABULARIES[name]
    ranks = dict(zip(load_tokens(vocabulary), range(vocabulary.n_tokens), strict=True))
    pattern = vocabulary.pattern
    encoding = Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    # The engine has its own copy.
    ranks.clear()
    return encoding
