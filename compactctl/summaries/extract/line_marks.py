"""Remove what tools put before every line of a listing or a log."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby, pairwise

# Line numbers that read tools put before a line. Blanks behind them are indentation.
LINE_NUMBER = re.compile(r"^[ \t]*(\d{1,9})(?:→|\t|: |[ \t]*\| ?)")
# Job, step and time that GitHub's command line puts before a line of a log.
# The time has seven decimals.
_LOG_PREFIX = re.compile(
    r"^([^\t\n]{1,80}\t[^\t\n]{1,80}\t)\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z ?"
)
# Most lines of a log follow, in runs of at least so many, on lines with the same job and step.
_MIN_RUN, _RUN_SHARE = 3, 0.5
# What tools print where they leave lines out.
_OMISSION = re.compile(r"[ \t\[(<]*(?:\.{3}|\u2026|\u22ee)|--[ \t]*$")
# A text has line marks if this share of its first lines has.
_MARKED_SHARE, _SAMPLED_LINES = 0.8, 20


@lru_cache(256)
def without_line_marks(text: str) -> str:
    r"""Return a listing without line numbers, or a log with each job and step once.

    Any other text is returned as it is. Every line stays a line.

        "1: import os\n2: \n3: run()"  ->  "import os\n\nrun()"
    """
    lines = text.split("\n")
    if _is_marked(LINE_NUMBER, lines):
        end = _numbered_lines(lines)
        if end:
            bare = (LINE_NUMBER.sub("", line, count=1) for line in lines[:end])
            return "\n".join((*bare, *lines[end:]))
    if _is_marked(_LOG_PREFIX, lines) and _is_log(lines[:_SAMPLED_LINES]):
        return "\n".join(_shortened(before, line) for before, line in pairwise(("", *lines)))
    return text


def _is_marked(mark: re.Pattern[str], lines: list[str]) -> bool:
    sample = lines[:_SAMPLED_LINES]
    return sum(mark.match(line) is not None for line in sample) >= _MARKED_SHARE * len(sample)


def _numbered_lines(lines: Sequence[str]) -> int:
    """Return how many of the first lines have numbers that count them, rather than a column.

    Each number is one more than the one before, and some line has such a number. Only behind a line
    that stands for others does it start anew, and with 1 behind any line that is not blank. From a
    line on whose number does not continue behind one without a number, the lines are not counted.
    """
    previous: int | None = None
    are_counted, is_new, may_begin = False, True, False
    for row, line in enumerate(lines):
        match = LINE_NUMBER.match(line)
        if match is None:
            # No tool shows by a blank line that it leaves lines out.
            is_new = is_new or _OMISSION.match(line) is not None
            may_begin = may_begin or bool(line.strip())
            continue
        number = int(match[1])
        continues = previous is not None and number == previous + 1
        if not (continues or is_new or (may_begin and number == 1)):
            return row if may_begin and are_counted else 0
        are_counted = are_counted or continues
        previous, is_new, may_begin = number, False, False
    return len(lines) if are_counted else 0


def _is_log(lines: Sequence[str]) -> bool:
    """Whether most lines are in runs with the same job and step."""
    prefixes = [match[1] for match in map(_LOG_PREFIX.match, lines) if match]
    runs = [len(list(run)) for _, run in groupby(prefixes)]
    return sum(n for n in runs if n >= _MIN_RUN) >= _RUN_SHARE * len(lines)


def _shortened(before: str, line: str) -> str:
    """Remove the time before a line of a log, and job and step if the line before has the same."""
    match = _LOG_PREFIX.match(line)
    if match is None:
        return line
    return ("" if before.startswith(match[1]) else match[1]) + line[match.end() :]
