"""The format of a transcript whose messages stand at a path that was typed.

What compactctl writes into such a file says so, since nothing else tells where they are.
"""

import re
from collections.abc import Iterable

from compactctl.errors import UsageError
from compactctl.formats.registry import format_named
from compactctl.model.tags import OWN_MARK

_FIELD = "format"
_RECORDED = re.compile(rb'%b\\*": ?\\*"([a-z-]+:[^"\\]+)' % _FIELD.encode())


def format_field(name: str) -> dict[str, str]:
    """Return what written records say of a format; nothing of one that is detected."""
    return {_FIELD: name} if ":" in name else {}


def recorded_format(lines: Iterable[bytes]) -> str | None:
    """Return the name of the format that records in these lines say, None where none does."""
    for line in lines:
        found = _RECORDED.search(line) if OWN_MARK.search(line) else None
        if found is not None:
            name = found.group(1).decode(errors="replace")
            try:
                format_named(name)
            except UsageError:
                continue
            return name
    return None
