"""Which later read of a file asks for all lines of an older one."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from math import inf

from compactctl.history.readcalls import LineRange
from compactctl.history.reads import FileRead


def newest_covering(same: Sequence[FileRead]) -> Mapping[LineRange | None, FileRead]:
    """Map the ranges of a file's reads to the newest read that asks for all of their lines.

    ``same`` are the reads of one file, in order.
    """
    newest = {read.range: read for read in same}
    found: dict[LineRange | None, FileRead] = {}
    # Of the ranges so far, which begin no later: those that no newer one includes, by their ends.
    # The further the end, the older is the read.
    ends: list[float] = []
    reads: list[FileRead] = []
    for lines in sorted(newest, key=_widest_first):
        read, end = newest[lines], _bounds(lines)[1]
        at = bisect_left(ends, end)
        if at < len(reads) and reads[at].place > read.place:
            found[lines] = reads[at]
            continue
        found[lines] = read
        stop = at + (at < len(ends) and ends[at] == end)
        while at and reads[at - 1].place < read.place:
            at -= 1
        ends[at:stop], reads[at:stop] = [end], [read]
    return found


def _widest_first(lines: LineRange | None) -> tuple[float, float]:
    first, last = _bounds(lines)
    return first, -last


def _bounds(lines: LineRange | None) -> tuple[float, float]:
    """Return the first and the last line; a request for the whole file includes every other."""
    if lines is None:
        return -inf, inf
    return lines.first, inf if lines.last is None else lines.last
