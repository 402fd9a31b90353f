"""Reads a provider's error, and tells whether the context was too long."""

import os

from compactctl.errors import NoInputError
from compactctl.profiles.overflow import Overflow, classify_error
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.source import STANDARD_STREAM, open_input


def overflow(error: str) -> Overflow:
    """Classify an error: the name of a file that holds it, ``-`` for standard input, or its text.

    Raises:
        NoInputError: the text is empty, or the file cannot be read.
    """
    if not error.strip():
        raise NoInputError("empty error; pass its text, a file, or - for standard input")
    return classify_error(_text(error))


def _text(error: str) -> str:
    # Text that cannot be a path, because it is too long or holds NUL, does not exist either.
    if error != STANDARD_STREAM and not os.path.exists(error):  # noqa: PTH110
        return error
    return open_input(error, TEXT_LIMITS).data.decode("utf-8", "replace")
