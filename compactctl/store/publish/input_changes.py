"""Compare-and-swap: whether the input is still what was read, and what was appended since."""

import hashlib
import os
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from compactctl.errors import ChangedError
from compactctl.store.files.content import Content, can_carry, carried, carry_of
from compactctl.store.files.source import BUFFER, Identity, Source
from compactctl.store.files.temp_file import TempFile

ATTEMPTS = 5
WAIT_SECONDS = 0.05
"""How long a line that is being written is waited for, each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """What was appended to an input while its outcome was published.

    Attributes:
        tail: what was written for the whole lines that were carried over.
        left_out_from: the first line of the input, from 1, that was not; None when all were.
        taken: how many bytes of the input were carried over.
    """

    tail: bytes = b""
    left_out_from: int | None = None
    taken: int = field(default=0, compare=False)

    @property
    def lines(self) -> int:
        """How many lines were carried over."""
        return self.tail.lstrip(b"\r\n").count(b"\n")


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


def carry(draft: TempFile, source: Source, content: Content) -> Growth:
    """Bring ``draft``, a new file that holds ``content``, up to what was appended to the input.

    The input is only read: what cannot follow is left out and stays there. When it returns, the
    draft is durable and verified. ChangedError when the input does more than grow.
    """
    draft.sync()
    draft.verify()
    if source.path is None or source.identity is None:
        return Growth()
    grown = appended(source.path, source.identity)
    growth = _growth(grown, source, content)
    if growth.tail:
        draft.write(growth.tail)
        draft.sync()
        draft.verify()
    return growth


def _growth(grown: bytes, source: Source, content: Content) -> Growth:
    """Return the whole lines of ``grown`` if they can follow ``content``, and where the rest is."""
    can_follow = not source.packed and can_carry(grown, is_open=source.is_open)
    whole = grown[: grown.rfind(b"\n") + 1] if can_follow else b""
    growth = Growth(tail=behind(source, content, whole), taken=len(whole))
    if len(whole) == len(grown):
        return growth
    begun = source.is_open and not source.packed
    return replace(growth, left_out_from=source.digest.n_lines + whole.count(b"\n") + 1 - begun)


def settle(
    draft: TempFile, path: Path, source: Source, identity: Identity, content: Content
) -> Growth:
    """Bring ``draft``, which holds ``content``, up to what was appended to the input meanwhile.

    Only whole lines are carried over, and all of them. When it returns, the draft is durable,
    verified and complete as of the last look at the input. ChangedError when the input does more
    than grow by whole lines, or does not come to rest.
    """
    tail = b""
    for _ in range(ATTEMPTS):
        draft.sync()
        draft.verify()
        grown = appended(path, identity)
        if grown == tail:
            return Growth(tail=behind(source, content, tail), taken=len(tail))
        if not grown.startswith(tail) or not can_carry(grown, is_open=source.is_open):
            break
        if grown.endswith(b"\n"):
            draft.write(behind(source, content, grown)[len(behind(source, content, tail)) :])
            tail = grown
        else:
            time.sleep(WAIT_SECONDS)
    raise ChangedError(f"{path}: keeps changing; nothing was changed, run it again when it rests")


def behind(source: Source, content: Content, tail: bytes) -> bytes:
    """Return what stands behind ``content`` for what was appended to the input."""
    return carried(carry_of(tail, is_open=source.is_open), is_open=content.is_open)


def _sha256(stream: BinaryIO, size: int) -> str:
    """Return the digest of the next ``size`` bytes, or of what there is."""
    digest = hashlib.sha256()
    while chunk := stream.read(min(size, BUFFER)):
        digest.update(chunk)
        size -= len(chunk)
    return digest.hexdigest()
