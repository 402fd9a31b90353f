"""Exact counts with a user's vocabulary in tiktoken's rank file format."""

import base64
import binascii
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from compactctl.errors import UsageError
from compactctl.tokens.counters.tiktoken_counter import TiktokenCounter
from compactctl.tokens.counters.vocabulary import VOCABULARIES

if TYPE_CHECKING:
    from tiktoken import Encoding

DEFAULT_PATTERN = "o200k_base"
# tiktoken stores ranks in 32 bits.
_RANK_DIGITS = 9
# Ten times the largest known vocabulary.
_MAX_BYTES = 64 << 20


def rank_file_counter(argument: str) -> TiktokenCounter:
    """Return the counter for ``PATH`` or ``PATH#PATTERN``; the file's name is its id.

    The pattern names the built-in vocabulary that splits texts in the same way; the default is
    ``o200k_base``. The file is read here, so that a bad one is reported before anything is counted.

    Raises:
        UsageError: the file cannot be read or is not a complete rank file, or the pattern is
            unknown.
    """
    path, pattern = path_and_pattern(argument)
    try:
        status = path.stat()
        if status.st_size > _MAX_BYTES:
            raise UsageError(f"{path}: has more than {_MAX_BYTES:,} bytes; give a rank file")
        encoding = _load(path, pattern, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}; give a rank file") from error
    return TiktokenCounter(f"file:{path.name}", lambda: encoding)


def path_and_pattern(argument: str) -> tuple[Path, str]:
    """Split ``PATH#PATTERN``, unless there is a file with the whole name.

    Raises UsageError for an unknown pattern.
    """
    path, mark, pattern = argument.rpartition("#")
    if not mark or Path(argument).is_file():
        return Path(argument), DEFAULT_PATTERN
    if pattern not in VOCABULARIES:
        names = ", ".join(VOCABULARIES)
        raise UsageError(f"no pattern named {pattern!r}; patterns: {names}")
    return Path(path), pattern


@lru_cache(maxsize=4)
def _load(path: Path, pattern: str, _mtime_ns: int, _size: int) -> "Encoding":
    """Build the encoder, once for each state of a file."""
    from tiktoken import Encoding

    return Encoding(
        path.name,
        pat_str=VOCABULARIES[pattern].pattern,
        mergeable_ranks=read_ranks(path),
        special_tokens={},
    )


def read_ranks(path: Path) -> dict[bytes, int]:
    """Read a rank file: each line has a token in base64, white space and the token's rank.

    Raises:
        OSError: the file cannot be read.
        UsageError: a line is not such a pair or repeats a token or rank, or a byte has no token,
            so that not every text could be counted.
    """
    ranks: dict[bytes, int] = {}
    lines: dict[int, int] = {}
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.isspace():
                continue
            try:
                token, rank = _pair(line)
                _check_new(token, rank, ranks, lines)
            except ValueError as error:
                raise UsageError(f"{path}, line {number}: {error}") from error
            ranks[token], lines[rank] = rank, number
    missing = next((byte for byte in range(256) if bytes([byte]) not in ranks), None)
    if missing is not None:
        raise UsageError(f"{path}: no token for byte 0x{missing:02x}; the file may be incomplete")
    return ranks


def _pair(line: bytes) -> tuple[bytes, int]:
    fields = line.split()
    if len(fields) != 2:  # noqa: PLR2004 - a pair
        raise ValueError("not a token in base64 and its rank; give a tiktoken rank file")
    try:
        token = base64.b64decode(fields[0], validate=True)
    except binascii.Error as error:
        raise ValueError(f"the token is not base64 ({error})") from error
    if not token:
        raise ValueError("the token is empty")
    if not fields[1].isdigit() or len(fields[1]) > _RANK_DIGITS:
        raise ValueError("the rank is not a number of at most nine digits")
    return token, int(fields[1])


def _check_new(token: bytes, rank: int, ranks: dict[bytes, int], lines: dict[int, int]) -> None:
    """Raise ValueError if an earlier line has the token or the rank."""
    if token in ranks:
        raise ValueError(f"the token stands on line {lines[ranks[token]]} already")
    if rank in lines:
        raise ValueError(f"the rank {rank} stands on line {lines[rank]} already")
