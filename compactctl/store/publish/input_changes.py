"""Check that the input only grew since it was read, and copy what was appended."""

import hashlib
import os
import time
from pathlib import Path
from typing import BinaryIO

from compactctl.errors import ChangedError, ChangedMeanwhileError
from compactctl.records import Record, replace
from compactctl.store.files.content import Content, can_follow, canonical_suffix, suffix_after
from compactctl.store.files.source import BUFFER, FileIdentity, Source
from compactctl.store.files.temp_file import TempFile

ATTEMPTS = 5
WAIT_SECONDS = 0.05
"""Seconds to wait at each attempt for a line that is being written."""


class InputGrowth(Record):
    """What was appended to the input while the new transcript was published.

    Attributes:
        tail: the copied lines, as they were written to the new transcript.
        first_skipped_line: the first line of the input, from 1, that was not copied; None if all
            were.
        n_copied_bytes: the bytes of the input that were copied.
    """

    tail: bytes = b""
    first_skipped_line: int | None = None
    n_copied_bytes: int = 0

    @property
    def lines(self) -> int:
        """The number of copied lines."""
        return self.tail.lstrip(b"\r\n").count(b"\n")


def read_appended(path: Path, identity: FileIdentity) -> bytes:
    """Return what was appended to the file since it was read.

    Raises ChangedError if the path leads to another file, or what was read has changed.
    """
    try:
        with path.open("rb", buffering=BUFFER) as stream:
            info = os.fstat(stream.fileno())
            is_same_file = (info.st_dev, info.st_ino) == (identity.dev, identity.ino)
            if is_same_file and _sha256_of_next(stream, identity.size) == identity.sha256:
                return stream.read()
    except FileNotFoundError:
        pass
    raise changed_error(path)


def changed_error(path: Path) -> ChangedMeanwhileError:
    """Return the error for a file that another program changed."""
    return ChangedMeanwhileError(
        f"{path}: changed while compactctl was running; nothing was written; try again"
    )


def copy_growth(draft: TempFile, source: Source, content: Content) -> InputGrowth:
    """Copy what was appended to the input to ``draft``, a new file that contains ``content``.

    The input is not replaced, so lines that cannot follow ``content`` are skipped. On return the
    draft is durable and verified. Raises ChangedError if the input has changed otherwise.
    """
    draft.sync()
    draft.verify()
    if source.path is None or source.identity is None:
        return InputGrowth()
    appended_bytes = read_appended(source.path, source.identity)
    growth = _growth_of(appended_bytes, source, content)
    if growth.tail:
        draft.write(growth.tail)
        draft.sync()
        draft.verify()
    return growth


def _growth_of(appended_bytes: bytes, source: Source, content: Content) -> InputGrowth:
    """Return the complete lines that were appended, if they can follow ``content``."""
    can_append = not source.is_compressed and can_follow(
        appended_bytes, is_mid_line=source.ends_mid_line
    )
    complete_lines = appended_bytes[: appended_bytes.rfind(b"\n") + 1] if can_append else b""
    growth = InputGrowth(
        tail=suffix_for(source, content, complete_lines), n_copied_bytes=len(complete_lines)
    )
    if len(complete_lines) == len(appended_bytes):
        return growth
    # Appended bytes may continue an unterminated last line, which is counted already.
    continues_line = source.ends_mid_line and not source.is_compressed
    return replace(
        growth,
        first_skipped_line=source.digest.n_lines + complete_lines.count(b"\n") + 1 - continues_line,
    )


def copy_growth_until_stable(
    draft: TempFile, path: Path, source: Source, identity: FileIdentity, content: Content
) -> InputGrowth:
    """Copy complete lines appended to the input since it was read to ``draft``, until none follow.

    ``draft`` contains ``content`` and will replace the input. On return it is durable, verified and
    complete as of the last read of the input. Raises ChangedError if the input has changed
    otherwise, or does not stop growing.
    """
    tail = b""
    for _ in range(ATTEMPTS):
        draft.sync()
        draft.verify()
        appended_bytes = read_appended(path, identity)
        if appended_bytes == tail:
            return InputGrowth(tail=suffix_for(source, content, tail), n_copied_bytes=len(tail))
        if not appended_bytes.startswith(tail) or not can_follow(
            appended_bytes, is_mid_line=source.ends_mid_line
        ):
            break
        if appended_bytes.endswith(b"\n"):
            draft.write(
                suffix_for(source, content, appended_bytes)[
                    len(suffix_for(source, content, tail)) :
                ]
            )
            tail = appended_bytes
        else:
            time.sleep(WAIT_SECONDS)
    raise ChangedError(f"{path}: keeps changing; nothing was written; try again when it is idle")


def suffix_for(source: Source, content: Content, tail: bytes) -> bytes:
    """Return the bytes that append ``tail``, which follows the input, to ``content``."""
    return suffix_after(
        canonical_suffix(tail, is_mid_line=source.ends_mid_line), is_mid_line=content.ends_mid_line
    )


def _sha256_of_next(stream: BinaryIO, size: int) -> str:
    """Return the digest of the next ``size`` bytes, or of all if there are fewer."""
    digest = hashlib.sha256()
    while chunk := stream.read(min(size, BUFFER)):
        digest.update(chunk)
        size -= len(chunk)
    return digest.hexdigest()
