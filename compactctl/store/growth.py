"""Compare-and-swap: whether the input is still what was read, and what was appended since."""

import hashlib
import os
import time
from pathlib import Path
from typing import BinaryIO

from compactctl.errors import ChangedError
from compactctl.store.draft import Draft
from compactctl.store.history import can_carry
from compactctl.store.lines import BUFFER, Identity, Source, digest_of

ATTEMPTS = 5
WAIT_SECONDS = 0.05
"""How long a line that is being written is waited for, each time."""


def appended(path: Path, identity: Identity) -> bytes:
    """Return what was appended to the file since it was read.

    ChangedError when it is another file now, or does not begin with what was read.
    """
    try:
        with path.open("rb", buffering=BUFFER) as stream:
            info = os.fstat(stream.fileno())
            same_file = (info.st_dev, info.st_ino) == (identity.dev, identity.ino)
            if same_file and _sha256(stream, identity.size) == identity.sha256:
                return stream.read()
    except FileNotFoundError:
        pass
    raise ChangedError(f"{path}: changed while it was worked on; nothing was changed, run it again")


def require_unchanged(source: Source) -> None:
    """Raise ChangedError when the input is not what was read; standard input never is."""
    if source.path and source.identity and appended(source.path, source.identity):
        raise ChangedError(
            f"{source.path}: grew while it was worked on; nothing was changed, run it again"
        )


def settle(draft: Draft, path: Path, source: Source, identity: Identity, data: bytes) -> bytes:
    """Bring ``draft``, which holds ``data``, up to what was appended to the input meanwhile.

    Returns the whole lines that were carried over. When it returns, the draft is durable, verified
    and complete as of the last look at the input. ChangedError when the input does more than grow
    by whole lines, or does not come to rest.
    """
    tail = b""
    for _ in range(ATTEMPTS):
        draft.sync()
        draft.verify(digest_of((data, tail)))
        grown = appended(path, identity)
        if grown == tail:
            return tail
        if not (
            grown.startswith(tail) and can_carry(source.data, grown) and can_carry(data, grown)
        ):
            break
        if grown.endswith(b"\n"):
            draft.write(grown[len(tail) :])
            tail = grown
        else:
            time.sleep(WAIT_SECONDS)
    raise ChangedError(f"{path}: keeps changing; nothing was changed, run it again when it rests")


def _sha256(stream: BinaryIO, size: int) -> str:
    """Return the digest of the next ``size`` bytes, or of what there is."""
    digest = hashlib.sha256()
    while chunk := stream.read(min(size, BUFFER)):
        digest.update(chunk)
        size -= len(chunk)
    return digest.hexdigest()
