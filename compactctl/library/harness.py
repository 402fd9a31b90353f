"""Functions for a harness about one text: an error of an API, the output of a tool."""

from compactctl.errors import UsageError
from compactctl.profiles.overflow import Overflow, classify_error
from compactctl.stages.limit import LimitOptions
from compactctl.stages.support.cutting import OutputLimits, TruncationStyle, truncate

_DEFAULT = LimitOptions()


def context_overflow(error: str) -> Overflow:
    """Classify an API's error, a message or a JSON body: overflow, refusal or rate limit.

    As ``compactctl harness overflow`` does; sizes are tokens.
    """
    return classify_error(error)


def limit_output(
    text: str, *, max_bytes: int = _DEFAULT.max_bytes, max_lines: int = _DEFAULT.max_lines
) -> str:
    """Truncate a tool's output to so many bytes of UTF-8 and lines, notice included.

    As ``compactctl harness limit-output`` does; 0 means no limit. A text within the limits is
    returned unchanged. Raises UsageError for a negative limit.
    """
    if min(max_bytes, max_lines) < 0:
        raise UsageError("max_bytes and max_lines are 0 or more; 0 means no limit")
    limits = OutputLimits(max_bytes=max_bytes, max_lines=max_lines)
    return truncate(text, limits, TruncationStyle()).content
