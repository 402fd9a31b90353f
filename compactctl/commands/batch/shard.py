"""A part of a batch, for one machine of several."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from compactctl.commands.loading.discover import Input
from compactctl.errors import UsageError

_SHARD = re.compile(r"(\d{1,6})/(\d{1,6})")


@dataclass(frozen=True, slots=True)
class Shard:
    """The part with this number, from 1, of so many."""

    number: int
    of: int

    def holds(self, item: Input) -> bool:
        """Tell whether an input is of this part, by its path below the folder it was found in."""
        digest = hashlib.sha256(item.below.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8]) % self.of == self.number - 1

    def chosen(self, inputs: Sequence[Input]) -> tuple[Input, ...]:
        """Return the inputs of this part, in their order."""
        return tuple(item for item in inputs if self.holds(item))


def parse_shard(text: str) -> Shard:
    """Read ``2/8``. Raises UsageError for anything else."""
    match = _SHARD.fullmatch(text.strip())
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise UsageError(f"{text!r} is not a part; write it as 2/8, for the second of eight")
    return Shard(int(match[1]), int(match[2]))
