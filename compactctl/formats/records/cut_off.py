"""The beginning of a JSON value that was cut off or overwritten, read as far as it is whole."""

import re
from collections import deque
from collections.abc import Iterator
from typing import Any

from compactctl.formats.records.decode import loads

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*(?:(?P<end>")|\\?\Z)|[\[\]{},]', re.DOTALL)
_CLOSERS = {b"{": b"}", b"[": b"]"}
_SPACE = b"\0 \t\r\n"
# A torn escape, as in `"caf\u00`, and a byte that is only a part of a character.
_TORN = re.compile(rb"\\(?:u[0-9A-Fa-f]{0,3})?\Z|[\xc0-\xff][\x80-\xbf]{0,2}\Z")
_TRIES = 4


def completed(data: bytes) -> Any:  # noqa: ANN401 - JSON is any value
    r"""Return the value that ``data`` begins, with its open brackets closed; None for other text.

    `[{"role": "user", "content": "mend` gives one message that says "mend". An item that is not
    whole, and no string, is left out. Text whose brackets are all closed was not cut off.
    """
    for text in _completions(data.strip(_SPACE)):
        try:
            return loads(text)
        except ValueError:
            continue
    return None


def _completions(text: bytes) -> Iterator[bytes]:
    """Yield what may complete a text: as it is first, then without its last item or items."""
    closers: list[bytes] = []
    # Where an item may end, and what closes the brackets that are open there.
    ends: deque[tuple[int, bytes]] = deque(maxlen=_TRIES)
    for token in _TOKEN.finditer(text):
        if token[0].startswith(b'"'):
            if not token["end"]:
                yield _TORN.sub(b"", text) + b'"' + b"".join(reversed(closers))
            continue
        if token[0] in _CLOSERS:
            closers.append(_CLOSERS[token[0]])
        elif token[0] != b"," and (not closers or closers.pop() != token[0]):
            break
        end = token.start() if token[0] == b"," else token.end()
        ends.append((end, b"".join(reversed(closers))))
    else:
        if not closers:
            return
    for end, brackets in reversed(ends):
        yield text[:end] + brackets
