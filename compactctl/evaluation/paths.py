"""Paths that are spelled in several ways."""

from collections import defaultdict
from collections.abc import Iterable


def unique_names(paths: Iterable[str]) -> frozenset[str]:
    """Return the file names that belong to one path only."""
    of: defaultdict[str, set[str]] = defaultdict(set)
    for path in paths:
        folder, _, name = path.rpartition("/")
        if folder:
            of[name].add(path)
    return frozenset(name for name, found in of.items() if len(found) == 1)


class PathIndex:
    """Tells whether a path is among others, however much of its beginning either leaves out.

    Two parts must agree at least, or a file name that is one of ``unique``.
    """

    def __init__(self, paths: Iterable[str], unique: frozenset[str]) -> None:
        self._unique = unique
        self._whole = set(paths)
        self._ends = {end for path in self._whole for end in self._telling(path)}

    def __contains__(self, path: str) -> bool:
        if path in self._whole:
            return True
        ends = self._telling(path)
        return path.strip("/") in self._ends or any(end in self._whole for end in ends)

    def _telling(self, path: str) -> list[str]:
        """Return the ends of a path that are enough to know it by, itself included."""
        parts = path.strip("/").split("/")
        ends = ["/".join(parts[start:]) for start in range(len(parts))]
        return [end for end in ends if "/" in end or end in self._unique]
