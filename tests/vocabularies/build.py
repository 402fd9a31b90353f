"""Make compactctl's vocabulary files from the published rank files.

Run by hand, with any copy of the published rank files, plain or compressed by gzip:

    python tests/vocabularies/build.py o200k_base.tiktoken.gz cl100k_base.tiktoken

A file is known by its digest, not by its name; one that is neither published file is refused.
"""

import base64
import gzip
import hashlib
import sys
import zlib
from collections.abc import Iterable
from itertools import accumulate, chain
from pathlib import Path

from compactctl.tokens.counters.vocabulary import FOLDER, N_SHARDS, VOCABULARIES, BpeVocabulary

GZIP_MAGIC = b"\x1f\x8b"


def published(path: Path) -> bytes:
    """Read a rank file, uncompressed when it is compressed."""
    data = path.read_bytes()
    return gzip.decompress(data) if data.startswith(GZIP_MAGIC) else data


def recognise(data: bytes) -> BpeVocabulary:
    """Return the vocabulary whose published file ``data`` is, or raise ValueError."""
    digest = hashlib.sha256(data).hexdigest()
    for vocabulary in VOCABULARIES.values():
        if vocabulary.sha256 == digest:
            return vocabulary
    raise ValueError(f"no published rank file has the SHA-256 {digest}")


def pack(data: bytes) -> bytes:
    """Return the tokens as ``TokenRanks`` reads them, each in the shard of its CRC-32."""
    tokens = [base64.b64decode(line.split()[0]) for line in data.splitlines()]
    shards: list[list[int]] = [[] for _ in range(N_SHARDS)]
    for rank, token in enumerate(tokens):
        shards[zlib.crc32(token) % N_SHARDS].append(rank)
    ranks = list(chain.from_iterable(shards))
    content = b"".join(
        (
            integers(accumulate(map(len, shards))),
            integers(accumulate(sum(len(tokens[rank]) for rank in shard) for shard in shards)),
            integers(ranks),
            bytes(len(tokens[rank]) for rank in ranks),
            *(tokens[rank] for rank in ranks),
        )
    )
    return content + integers([zlib.crc32(content)])


def integers(values: Iterable[int]) -> bytes:
    """Return 32-bit integers, little-endian."""
    return b"".join(value.to_bytes(4, "little") for value in values)


def main(paths: list[str]) -> None:
    """Write one vocabulary file for each rank file named on the command line."""
    for path in map(Path, paths):
        data = published(path)
        target = FOLDER / f"{recognise(data).name}.bin"
        size = target.write_bytes(pack(data))
        sys.stdout.write(f"{target}: {size:,} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1:])
