"""The new file of an operation: the lines that changed, and where the others are in the old one."""

from array import array
from collections.abc import Iterable, Iterator, Sequence

from compactctl.pipeline.layout import NewLine

_WRITTEN = -1


class NewFile:
    """The lines of the new file, in order; those that stay as they are come from the old lines.

    ``places`` tells where in it each line is that is still there.
    """

    def __init__(self, old: Sequence[bytes], lines: Iterable[NewLine]) -> None:
        self.places: dict[int, int] = {}
        self._old = old
        self._sources = array("q")
        self._changed: dict[int, bytes] = {}
        for place, line in enumerate(lines):
            if line.source is not None:
                self.places[line.source] = place
            self._sources.append(_WRITTEN if line.source is None else line.source)
            if not line.kept:
                self._changed[place] = line.data

    def keeps(self, place: int) -> bool:
        """Tell whether the line at ``place`` is the same bytes as before."""
        return place not in self._changed

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines from the first to the last."""
        old = enumerate(self._old)
        for place, source in enumerate(self._sources):
            if place in self._changed:
                yield self._changed[place]
            else:
                yield next(line for index, line in old if index == source)
