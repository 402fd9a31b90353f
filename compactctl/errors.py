"""The errors that compactctl raises on purpose, with their exit codes.

A message is one line: where, what is wrong, and what to do.
"""

import errno
from collections.abc import Iterable

GATE_FAILED = 1
"""The exit code of a command that did its work but whose gate does not pass."""
INTERNAL_ERROR = 70
"""The exit code of a bug, EX_SOFTWARE of sysexits.h."""
_GENERATED = "<string>"
"""The file name of the code that dataclasses generate and compile, such as those of rich."""
# Names that differ by more are not suggested; two typing errors are too many in a short name.
_FAR, _LONG, _MIN_PART = 3, 8, 3
# The loaders of glibc, musl and macOS when a library does not fit into memory.
_NO_ROOM = ("failed to map segment", "annot allocate memory", "no room", "malloc")


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether memory ran out, be it while a library was loaded."""
    if isinstance(error, ImportError):
        return any(words in str(error) for words in _NO_ROOM)
    if isinstance(error, SyntaxError):
        # Python's parser raises this too. Generated code is well formed, so memory is the reason.
        return error.filename == _GENERATED
    is_refused = isinstance(error, OSError) and error.errno == errno.ENOMEM
    return is_refused or isinstance(error, MemoryError)


def suggestion(name: str, names: Iterable[str], otherwise: str, max_names: int = 1) -> str:
    """Return "did you mean …?" with the names nearest to ``name``, or ``otherwise`` if none is.

    A name is near if one starts or ends with the other, or if it takes a typing error or two.
    """
    from heapq import nsmallest

    distances = ((_distance(name, other), other) for other in names)
    near = nsmallest(max_names, (pair for pair in distances if pair[0] < _FAR))
    return f"did you mean {' or '.join(other for _, other in near)}?" if near else otherwise


def _distance(name: str, other: str) -> int:
    """Return by how much two names differ, regardless of case and hyphens; ``_FAR`` if by more."""
    one, two = ("".join(filter(str.isalnum, text.casefold())) for text in (name, other))
    shorter, longer = sorted((one, two), key=len)
    is_part = longer.startswith(shorter) or longer.endswith(shorter)
    if is_part and len(shorter) >= _MIN_PART:
        return min(1, len(longer) - len(shorter))
    errors = _typing_errors(one, two)
    return errors if errors <= (1 if len(one) < _LONG else 2) else _FAR


def _typing_errors(one: str, two: str) -> int:
    """Return how many letters to insert, remove, replace or swap, to get from one to two."""
    before, last = [0] * (len(two) + 1), list(range(len(two) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, other in enumerate(two, 1):
            fewest = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == two[j - 2] and one[i - 2] == other:
                fewest = min(fewest, before[j - 2] + 1)
            row.append(fewest)
        before, last = last, row
    return last[-1]


class CompactctlError(Exception):
    """An error that compactctl can explain to its user. Only subclasses are raised."""

    exit_code = INTERNAL_ERROR


class AuditFailedError(CompactctlError):
    """A summary lost a rule or made something up (``--require-audit``)."""

    exit_code = 1


class SummarizerFailedError(CompactctlError):
    """A summarizer gave no usable summary (``--on-summarizer-failure fail``)."""

    exit_code = 1


class UsageError(CompactctlError):
    """Options contradict each other or do not apply."""

    exit_code = 2


class NoInputError(CompactctlError):
    """The input does not exist, is empty, is not a regular file, or cannot be opened."""

    exit_code = 3


class NotUnderstoodError(CompactctlError):
    """No format matches the input, or ``--strict`` met lines that are not understood."""

    exit_code = 4


class NotATranscriptError(NotUnderstoodError):
    """The input is intact but no format matches: it is other data, or a new format."""


class DoesNotFitError(CompactctlError):
    """The target was not reached (``--require-fit``), or no compaction can reach it."""

    exit_code = 5


class ArchiveError(CompactctlError):
    """The archive is missing, unreadable or of an unknown version."""

    exit_code = 6


class MissingArchiveError(ArchiveError):
    """A record names an operation whose archive is missing, while others are present."""


class NewerArchiveError(ArchiveError):
    """A newer compactctl wrote the archive in a version that this one cannot read."""


class LargeArchiveError(ArchiveError):
    """The archive is larger than the limits, which options can raise."""


class IntegrityError(CompactctlError):
    """A digest does not match: what is on disk is not what was written."""

    exit_code = 7


class OutputFaultError(IntegrityError):
    """What compactctl was about to write is wrong: a bug, whatever the transcript is like."""

    exit_code = INTERNAL_ERROR


class ChangedError(CompactctlError):
    """The transcript changed during the command, or since it was compacted."""

    exit_code = 8


class ChangedMeanwhileError(ChangedError):
    """The transcript changed during the command, which may succeed if it is run again."""
