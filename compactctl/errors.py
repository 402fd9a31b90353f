"""The errors compactctl raises on purpose; each class owns its exit code.

A message is one line: where, what, and what to do.
"""

import errno
from collections.abc import Iterable

GATE_FAILED = 1
"""The exit code of a command that did its work, when a gate does not pass."""
INTERNAL_ERROR = 70
"""The exit code of an error that nobody foresaw, EX_SOFTWARE of sysexits.h."""
_GENERATED = "<string>"
"""Where code comes from that dataclasses write and compile when they are made."""
# What loaders say when a library does not fit into memory: glibc's, musl's and macOS's.
_NO_ROOM = ("failed to map segment", "annot allocate memory", "no room", "malloc")


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether memory ran out, for what was done or for a library that was to be loaded."""
    if isinstance(error, ImportError):
        return any(words in str(error) for words in _NO_ROOM)
    if isinstance(error, SyntaxError):
        # Python's parser has no other words; what the standard library generates is well formed.
        return error.filename == _GENERATED
    is_refused = isinstance(error, OSError) and error.errno == errno.ENOMEM
    return is_refused or isinstance(error, MemoryError)


def suggestion(name: str, names: Iterable[str], otherwise: str, most: int = 1) -> str:
    """Return what to say of a name that is not among ``names``: those it comes close to, if any."""
    from difflib import get_close_matches

    close = get_close_matches(name, list(names), n=most)
    return f"did you mean {' or '.join(close)}?" if close else otherwise


class CompactctlError(Exception):
    """Anything compactctl can explain to its user. Raised only through a subclass."""

    exit_code = INTERNAL_ERROR


class AuditFailedError(CompactctlError):
    """A summary lost a rule or made something up (``--require-audit``)."""

    exit_code = 1


class SummarizerFailedError(CompactctlError):
    """A summarizer gave no usable summary (``--on-summarizer-failure fail``)."""

    exit_code = 1


class UsageError(CompactctlError):
    """Options contradict each other or have no meaning here."""

    exit_code = 2


class NoInputError(CompactctlError):
    """The input does not exist, is empty, is not a regular file, or cannot be opened."""

    exit_code = 3


class NotUnderstoodError(CompactctlError):
    """No format fits the input, or ``--strict`` met lines that are not understood."""

    exit_code = 4


class NotATranscriptError(NotUnderstoodError):
    """The input is whole, and no format fits: some other data, or a format that is new."""


class DoesNotFitError(CompactctlError):
    """The target was not reached (``--require-fit``), or no compaction can reach it."""

    exit_code = 5


class ArchiveError(CompactctlError):
    """The archive is missing, unreadable or of a version this program does not know."""

    exit_code = 6


class MissingArchiveError(ArchiveError):
    """Records of the transcript name an operation whose archive is not here; others are."""


class NewerArchiveError(ArchiveError):
    """A newer compactctl wrote the archive, in a way that this one cannot read."""


class LargeArchiveError(ArchiveError):
    """The archive holds more than may be read; options allow more."""


class IntegrityError(CompactctlError):
    """A digest does not match: what is on disk is not what was written."""

    exit_code = 7


class ChangedError(CompactctlError):
    """The transcript changed while we worked, or since it was compacted."""

    exit_code = 8
