"""Texts that tell, in a comment at their end, whether they are still what was written."""

import hashlib
import os
import re
from pathlib import Path

_SEAL = re.compile(rb"<!-- compactctl\.seal ([0-9a-f]{64}) -->\n\Z")
_SEAL_BYTES = len(b"<!-- compactctl.seal  -->\n") + 64
# Far more than any page has; nothing larger is read to find out who wrote it.
_MOST_BYTES = 1 << 27


def sealed_text(text: bytes) -> bytes:
    """Return a text in a markup language with its seal at the end."""
    whole = text if text.endswith(b"\n") else text + b"\n"
    return b"%s<!-- compactctl.seal %s -->\n" % (whole, _digest(whole))


def is_sealed_text(path: Path) -> bool:
    """Tell whether a file was written sealed and is unchanged."""
    place = Path(os.path.realpath(path))
    try:
        if not place.is_file() or place.stat().st_size > _MOST_BYTES:
            return False
        data = place.read_bytes()
    except OSError:
        return False
    seal = _SEAL.search(data, max(0, len(data) - _SEAL_BYTES))
    return seal is not None and seal[1] == _digest(data[: seal.start()])


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode("ascii")
