"""Remove what tools put before every line of a listing or a log."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

# Line numbers that read tools put before a line. Blanks behind them are indentation.
LINE_NUMBER = re.compile(r"^[ \t]*(\d{1,9})(?:→|\t|: |[ \t]*\| ?)")
# Job, step and time that GitHub's command line puts before a line of a log.
_LOG_PREFIX = re.compile(r"^([^\t\n]{1,80}\t[^\t\n]{1,80}\t)\ufeff?\d{4}-\d\d-\d\dT[\d:.]{8,20}Z ?")
# A text has line marks if this share of its first lines has.
_MARKED_SHARE, _SAMPLED_LINES = 0.8, 20


@lru_cache(256)
def without_line_marks(text: str) -> str:
    r"""Return a listing without line numbers, or a log with each job and step once.

    Any other text is returned as it is. Every line stays a line.

        "build\ttest\t2026-05-01T10:00:00.1Z ok\nbuild\ttest\t2026-05-01T10:00:01.5Z done"
        -> "build\ttest\tok\ndone"
    """
    lines = text.split("\n")
    if _is_marked(LINE_NUMBER, lines) and _are_numbered(lines):
        return "\n".join(LINE_NUMBER.sub("", line, count=1) for line in lines)
    if _is_marked(_LOG_PREFIX, lines):
        return "\n".join(_shortened(before, line) for before, line in pairwise(("", *lines)))
    return text


def _is_marked(mark: re.Pattern[str], lines: list[str]) -> bool:
    sample = lines[:_SAMPLED_LINES]
    return sum(mark.match(line) is not None for line in sample) >= _MARKED_SHARE * len(sample)


def _are_numbered(lines: Sequence[str]) -> bool:
    """Whether the numbers before lines count them, rather than being a column of a table.

    Each number is one more than that of the line before, and some line has such a number. Only
    behind a line without a number, which a tool puts where it leaves lines out, does it start anew.
    """
    previous, are_counted = None, False
    for line in lines:
        match = LINE_NUMBER.match(line)
        if match is None:
            # No tool shows by a blank line that it leaves lines out.
            previous = None if line.strip() else previous
            continue
        number = int(match[1])
        if previous is not None and number != previous + 1:
            return False
        are_counted = are_counted or previous is not None
        previous = number
    return are_counted


def _shortened(before: str, line: str) -> str:
    """Remove the time before a line of a log, and job and step if the line before has the same."""
    match = _LOG_PREFIX.match(line)
    if match is None:
        return line
    return ("" if before.startswith(match[1]) else match[1]) + line[match.end() :]
