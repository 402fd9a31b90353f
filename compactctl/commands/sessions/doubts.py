"""Whether a listed session's reported size can be true, by the end of its file alone."""

from pathlib import Path

from compactctl.commands.loading.load import parse
from compactctl.commands.sizing.context_size import believed_reports
from compactctl.commands.sizing.measure import MeasureOptions, measure
from compactctl.formats.format import Format
from compactctl.formats.registry import ALL_FORMATS
from compactctl.history.conversations import conversations_of
from compactctl.model.transcript import Transcript
from compactctl.sessions.reading.ends import WINDOW, last_lines
from compactctl.sessions.session import Session

_FORMATS = {candidate.name: candidate for candidate in ALL_FORMATS}
_LINE_FILES = (".jsonl", ".zst")
# Long results of tools may fill the end of a file, before which there is an answer.
_LONGER = 4 * WINDOW
_CHARS_PER_TOKEN = 4.0
# A larger report is not judged: for most sessions no more is read than the list reads anyway.
_LARGEST_JUDGED = WINDOW // 2
# What stands before the end of a file may explain a report that is too large, never a small one.
_TOO_SMALL = ("below its contents", "does not grow", "no number")


def least_size(session: Session) -> int | None:
    """Return the tokens that a session holds at least, where its newest report is too small.

    That is what is counted in the last lines of the file, at four characters a token, or the report
    where that is more. None where the report may be true or is over 32,768, and for a document or
    a database, whose end cannot be read alone.
    """
    path, chosen = session.entry.path, _FORMATS.get(session.entry.client)
    reported = session.details.context or 0
    if chosen is None or path.suffix not in _LINE_FILES or reported > _LARGEST_JUDGED:
        return None
    try:
        end = _end(path, chosen)
    except (OSError, ValueError):
        return None
    counted = _least(end) if end.effective else None
    return None if counted is None else max(counted, reported)


def _end(path: Path, chosen: Format) -> Transcript:
    """Read the end of a file back to where a usage is reported, but no further than needed."""
    end = _last(path, WINDOW, chosen)
    has_usage = any(message.usage for message in end.effective)
    return end if has_usage else _last(path, _LONGER, chosen)


def _last(path: Path, n_bytes: int, chosen: Format) -> Transcript:
    return parse([line + b"\n" for line in last_lines(path, n_bytes) if line], chosen)


def _least(end: Transcript) -> int | None:
    conversation = max(conversations_of(end.effective), key=len)
    measured = measure(end, MeasureOptions(chars_per_token=_CHARS_PER_TOKEN))
    reports = believed_reports(conversation, measured)
    doubt = reports.doubt
    if doubt is None or doubt.reason not in _TOO_SMALL:
        return None
    if reports.requests and reports.requests[-1].first > doubt.index:
        return None
    return round(sum(map(measured.framed.visible, conversation)))
