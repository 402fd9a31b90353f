"""The outcomes of tool calls: failures, exit codes, error lines, and each command's newest run."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from operator import itemgetter

from compactctl.history.command_lines import NormalCommand, normalize_command
from compactctl.history.failure_signs import is_placeholder
from compactctl.history.failure_signs import last_line as last_output_line
from compactctl.history.read_calls import FOLDER_KEYS, OLD_TEXTS, PATH_KEYS, first_text
from compactctl.history.shell_lines import changes_files, only_looks
from compactctl.history.tool_names import kind_of
from compactctl.records import Record
from compactctl.summaries.extract.claims import CLAIMS
from compactctl.summaries.extract.items import (
    COMMANDS,
    ERRORS,
    ItemValue,
    SummaryItem,
    clip_middle,
    clip_to_line,
)
from compactctl.summaries.extract.passages import ToolPair
from compactctl.summaries.extract.words import word_end

# A longer line is data; its start is enough to recognize it.
_MAX_LINE_CHARS = 1_000

# Characters of a command, of an output line and of an error line.
MAX_COMMAND_CHARS = 240
MAX_OUTPUT_CHARS = 160
MAX_ERROR_CHARS = 220
# Error lines taken from one output, and characters at its end that are searched.
MAX_ERRORS_PER_OUTPUT = 3
MAX_SEARCHED_CHARS = 6_000
# Lines of other lengths are fragments or data.
ERROR_LINE_CHARS = range(8, 400)

_COMMAND_VALUE = ItemValue(0.4, 0.4)
_REPEATED_BONUS = 0.05
_CHECK_BONUS = 0.3
_CHANGE_BONUS = 0.2
_FRESH_ERROR_VALUE = ItemValue(0.4, 0.7)
_RESOLVED_ERROR_VALUE = ItemValue(0.15, 0.3)
_FAILURE_BONUS = 0.2

# Commands whose outcome shows the state of the work.
_CHECK_COMMAND = re.compile(
    r"\b(?:test|tests|pytest|build|lint|check|tsc|commit|push|deploy|install|run|migrate|release)\b"
)
_CERTAIN_ERROR = re.compile(
    r"\b[A-Z]\w*(?:Error|Exception): |\berror(?:\[\w+\])?: |\bERROR\b|\bFAILED\b|^FAIL\b"
    r"|--- FAIL|Traceback|\bpanic: |\bfatal: |command not found|No such file|✗|✘"
)
_LIKELY_ERROR = re.compile(
    r"error|exception|\bfail(?:ed|ure|s)?\b|panic|not found|cannot |can't |undefined|no such"
    r"|denied|invalid|unexpected|unable",
    re.IGNORECASE,
)
PASSED = re.compile(r"\bPASS(?:ED)?\b|^(?:ok\b|✓|✔|=== (?:RUN|PAUSE|CONT)\b)|\.\.\. ok$")
"""A line that only says that a test started or passed."""
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"\w+")
# The share of a line's words that a later edit of the same line holds, of the lines of a place that
# a later edit of it holds, and lines compared of each.
_SAME_WORDS, _SAME_LINES, _MAX_LINES = 0.8, 0.5, 400


def last_line(pair: ToolPair) -> str:
    """Return the last non-empty line of a call's output, without the client's lines; "" if none."""
    last = last_output_line(pair.result.text) if pair.result else ""
    return last[: word_end(last, _MAX_LINE_CHARS)]


class ReportedError(Record, kw_only=False):
    """An error line, the call whose result contains it, and whether that call succeeded later."""

    line: str
    pair: ToolPair
    is_resolved: bool


def command_items(
    pairs: Sequence[ToolPair], cwd: str | None = None, following: Sequence[ToolPair] = ()
) -> Iterator[SummaryItem]:
    """Yield each command that is not read-only, with the outcome of its newest run.

    How often it ran is said if all runs ended alike. The newest run may be one of the calls that
    follow.
    """
    for runs in _runs((*pairs, *following), cwd):
        if runs[0][0] >= len(pairs):
            continue
        newest = runs[-1][1]
        command = clip_to_line(newest.command or "", MAX_COMMAND_CHARS)
        ended = CLAIMS[newest.outcome].command
        is_alike = len(runs) > 1 and all(run.outcome == newest.outcome for _, run in runs)
        claim = f" -> {ended}" + (f" x{len(runs)}" if is_alike else "") if ended else ""
        output = clip_to_line(last_line(newest), MAX_OUTPUT_CHARS)
        # Beside "ok", a line about errors that were fixed reads like one about open ones.
        if (newest.is_done and looks_like_error(output)) or is_placeholder(output):
            output = ""
        bonus = (
            _REPEATED_BONUS * (len(runs) > 1)
            + _CHECK_BONUS * is_check(command)
            + _CHANGE_BONUS * changes_files(newest.command or "")
            + _FAILURE_BONUS * newest.has_failed
        )
        yield SummaryItem(
            section=4,
            label=COMMANDS,
            ref=newest.ref.name,
            text=f"`{command}`{claim}: {output}" if output else f"`{command}`{claim}",
            value=_COMMAND_VALUE.at(newest.age) + bonus,
            position=newest.ref.position + (len(pairs) if runs[-1][0] >= len(pairs) else 0),
        )


def _runs(pairs: Sequence[ToolPair], cwd: str | None) -> Iterator[Sequence[tuple[int, ToolPair]]]:
    """Yield the runs of each command that is not read-only, with their indexes.

    A run that does not say where it ran is one of the others if these ran in one folder.
    """
    by_text: dict[str, dict[str, list[tuple[int, ToolPair]]]] = {}
    for index, pair in enumerate(pairs):
        if pair.command and pair.result and not only_looks(pair.command):
            folder, text = _normal(pair, cwd)
            runs = by_text.setdefault(text, {}).setdefault(folder, [])
            # Later news of a run replace what was known of it.
            runs[:] = [*runs[: len(runs) - pair.is_continued], (index, pair)]
    for by_folder in by_text.values():
        if len(by_folder.keys() - {""}) <= 1:
            yield sorted((run for group in by_folder.values() for run in group), key=itemgetter(0))
        else:
            yield from by_folder.values()


def _normal(pair: ToolPair, cwd: str | None) -> NormalCommand:
    folder = first_text(pair.arguments, FOLDER_KEYS)
    return normalize_command(pair.command or "", cwd, folder)


def error_items(
    pairs: Sequence[ToolPair], cwd: str | None = None, following: Sequence[ToolPair] = ()
) -> Iterator[SummaryItem]:
    """Yield the newest of each distinct error line, and whether the same call succeeded later.

    What succeeded may be one of the calls that follow ``pairs``.
    """
    for error in find_errors(pairs, cwd, following):
        pair = error.pair
        value = _RESOLVED_ERROR_VALUE if error.is_resolved else _FRESH_ERROR_VALUE
        note = " (later run ok)" if error.is_resolved else ""
        yield SummaryItem(
            section=4,
            label=ERRORS,
            ref=pair.ref.name,
            text=clip_middle(error.line, MAX_ERROR_CHARS) + note,
            value=value.at(pair.age) + _FAILURE_BONUS * pair.has_failed,
            position=pair.ref.position,
        )


def find_errors(
    pairs: Sequence[ToolPair], cwd: str | None = None, following: Sequence[ToolPair] = ()
) -> Iterator[ReportedError]:
    """Yield the newest of each distinct error line; lines that differ only in digits are equal."""
    every = (*pairs, *following)
    by_line: dict[str, dict[tuple[str, ...], tuple[int, str]]] = {}
    for index, pair in enumerate(pairs):
        for line in error_lines(pair):
            by_attempt = by_line.setdefault(_DIGITS.sub("#", line)[:80], {})
            by_attempt[_attempts(pair, cwd)] = (index, line)
    later: dict[str, list[int]] = {}
    for index, pair in enumerate(every if by_line else ()):
        for key in _attempts(pair, cwd) if pair.is_done else ():
            later.setdefault(key, []).append(index)

    def is_resolved(index: int) -> bool:
        # Of a patch of several files, each must have been changed since.
        return all(
            _is_same_attempt(pairs[index], [every[n] for n in later.get(key, ()) if n > index], cwd)
            for key in _attempts(pairs[index], cwd)
        )

    for by_attempt in by_line.values():
        errors = [
            ReportedError(line, pairs[index], is_resolved=is_resolved(index))
            for index, line in sorted(by_attempt.values())
        ]
        # An open one counts more than a newer one that was resolved.
        yield next((e for e in reversed(errors) if not e.is_resolved), errors[-1])


def _attempts(pair: ToolPair, cwd: str | None) -> tuple[str, ...]:
    """Return names of what a call tries; another call with one of them may be the same attempt."""
    if pair.command:
        return (f"run {_normal(pair, cwd).text}",)
    if pair.changes:
        return tuple(f"edit {path}" for path in pair.changes)
    return (f"read {pair.reads}",) if pair.reads else (f"{pair.tool} {pair.arguments}",)


def _is_same_attempt(failed: ToolPair, later: Sequence[ToolPair], cwd: str | None) -> bool:
    """Whether one of the later calls ran the command in the same folder, or edited the place."""
    if failed.command:
        folder = _normal(failed, cwd).folder
        return any(len({folder, _normal(pair, cwd).folder} - {""}) <= 1 for pair in later)
    if not failed.changes or any(kind_of(pair.tool) == "write" for pair in later):
        return bool(later)
    lines = _replaced_words(failed)
    places = {words for pair in later for words in _replaced_words(pair)}
    same = [
        any(len(words & other) >= _SAME_WORDS * len(words) for other in places) for words in lines
    ]
    return any(same) and sum(same) >= _SAME_LINES * min(len(lines), len(places))


def _replaced_words(pair: ToolPair) -> set[frozenset[str]]:
    """Return the words of each line that an edit replaces, or of all its lines."""
    old = [text for name, text in pair.texts if name in OLD_TEXTS]
    texts = old or [text for name, text in pair.texts if name not in PATH_KEYS and "\n" in text]
    lines = [line for text in texts for line in text.split("\n") if not line.startswith("*** ")]
    removed = [line for line in lines if line.startswith("-")] if not old else []
    chosen = islice(removed or lines, _MAX_LINES)
    return {frozenset(words) for line in chosen if (words := _WORD.findall(line))}


def is_check(command: str) -> bool:
    """Whether the outcome of a command shows the state of the work: tests, builds, pushes."""
    return _CHECK_COMMAND.search(command) is not None


def looks_like_error(line: str) -> bool:
    """Whether a line contains a word that is typical of error messages."""
    return _LIKELY_ERROR.search(line) is not None


def error_lines(pair: ToolPair) -> list[str]:
    """Return the first error lines in a result; [] if the call went well, or has no result.

    Of a command of which nobody knows how it ended, only lines that are certain.
    """
    result, command = pair.result, pair.command or ""
    # The answer or refusal that the user typed is not an error message, nor is a placeholder.
    if result is None or result.said or result.cleared or is_placeholder(result.text):
        return []
    if pair.is_done or not (pair.has_failed or command):
        return []
    # A search fails if nothing matches, and what it matches may mention errors.
    is_certain = not pair.has_failed or only_looks(command)
    return list(_error_lines(f"\n{result.text}"[-MAX_SEARCHED_CHARS:], is_certain=is_certain))


@lru_cache(1024)
def _error_lines(tail: str, *, is_certain: bool) -> tuple[str, ...]:
    """Return the first certain error lines; unless they must be, else the first likely ones.

    If there are none either, the last line may be one.
    """
    # Skip the first line, which may be cut off at its start.
    lines = [line.strip() for line in tail.split("\n")[1:]]
    lines = [line for line in lines if len(line) in ERROR_LINE_CHARS and not PASSED.search(line)]
    for pattern in (_CERTAIN_ERROR,) if is_certain else (_CERTAIN_ERROR, _LIKELY_ERROR):
        errors = tuple(islice(filter(pattern.search, lines), MAX_ERRORS_PER_OUTPUT))
        if errors:
            return errors
    return () if is_certain else tuple(lines[-1:])
