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
from pathlib import Path

from compactctl.tokens.counters.vocabulary import FOLDER, VOCABULARIES, BpeVocabulary

GZIP_MAGIC = b"\x1f\x8b"
LEVEL = 9


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
    """Return the lengths of all tokens, one byte each, then their bytes, both in rank order."""
    tokens = [base64.b64decode(line.split()[0]) for line in data.splitlines()]
    return bytes(len(token) for token in tokens) + b"".join(tokens)


def main(paths: list[str]) -> None:
    """Write one vocabulary file for each rank file named on the command line."""
    for path in map(Path, paths):
        data = published(path)
        target = FOLDER / f"{recognise(data).name}.bin"
        size = target.write_bytes(zlib.compress(pack(data), LEVEL))
        sys.stdout.write(f"{target}: {size:,} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1:])
