"""The size of a session in a list: that of its next request, as far as the end of its file tells.

The newest report is almost always within the last 64 kB, so that a list of thousands of sessions
parses no more of them. What follows the report is counted, as everywhere else.
"""

import json
from collections.abc import Container, Sequence
from typing import Literal

from compactctl.clients.format import Format
from compactctl.clients.reading.file_ends import WINDOW, last_lines
from compactctl.clients.registry import ALL_FORMATS
from compactctl.clients.session import Session, SessionDetails
from compactctl.commands.measuring.context_size import (
    believed_reports,
    context_size,
)
from compactctl.commands.measuring.measure import Measurement, MeasureOptions, measure
from compactctl.commands.measuring.next_request import largest_of, sized_requests
from compactctl.commands.reading.transcript import InputOptions, load, parse
from compactctl.errors import CompactctlError
from compactctl.history.turns import split_conversations
from compactctl.history.usage.calibration import Calibration
from compactctl.model.message import CallId, Message, ToolCallPart, ToolResultPart
from compactctl.model.tags import METADATA_KEY
from compactctl.model.transcript import Transcript
from compactctl.records import Record, asdict, replace
from compactctl.store.cache import ResultCache, result_key
from compactctl.tokens.models.lookup import resolve_model, window_in_use

SizeSource = Literal["counted", "counted at the end", "recorded by the client"]
Certainty = Literal["exact", "about", "at least"]
_FORMATS = {candidate.name: candidate for candidate in ALL_FORMATS}
_COMPRESSED = ".zst"
_LINE_FILES = (".jsonl", _COMPRESSED)
# A file of this size is read as a whole for its other details, too.
_SMALL = 2 * WINDOW
# Long tool results or records of the client may fill the end of a file, so that the newest report
# is before them.
_ENDS = (WINDOW // 4, WINDOW, 4 * WINDOW)
# More is not searched for what may change the meaning of a report.
_MAX_SEARCHED = 32 << 20
_OWN_MARK = f'"{METADATA_KEY}"'.encode()
# So much text cannot show that a larger report is too small, so less is read.
_MAX_DOUBTED = WINDOW // 2
# The unread beginning of a file may explain a report that is too large, but not one too small.
_TOO_SMALL = ("below its contents", "does not grow", "no number")


class SessionSize(Record):
    """The tokens of a session's next request.

    Attributes:
        tokens: the tokens.
        source: where they come from: ``counted`` in the whole file or at its end, each time from
            the newest credible report on, if there is one; or ``recorded by the client``.
        certainty: ``about`` if something may follow what the client recorded, or if it depends on
            what was not read; ``at least`` if reported sizes are too small to be true, or text
            could not be read.
        window: the window that it is measured against; None if nothing is known of the model.
    """

    tokens: int
    source: SizeSource
    certainty: Certainty = "exact"
    window: int | None = None


def session_size(session: Session, cache: ResultCache | None = None) -> SessionSize | None:
    """Return the size of a session, None if it is unknown.

    ``cache`` remembers the size of an unchanged file.
    """
    recorded = session.details.context
    if (size := _remembered(session, cache)) is not None or recorded is None:
        return size
    return SessionSize(
        tokens=recorded,
        source="recorded by the client",
        certainty="about",
        window=_recorded_window(session.details, recorded),
    )


def _remembered(session: Session, cache: ResultCache | None) -> SessionSize | None:
    if session.entry.state is None:
        # It is in a database.
        return None
    if cache is None:
        return _counted(session)

    def encoded() -> str:
        size = _counted(session)
        return json.dumps(None if size is None else asdict(size))

    facts = (session.entry.client, session.details.model, session.details.context)
    key = result_key("session size", *facts, session.entry.state)
    fields = json.loads(cache.remembered(key, encoded))
    return None if fields is None else SessionSize(**fields)


def _counted(session: Session) -> SessionSize | None:
    """Return the counted size, None if the end of a file does not tell it that is too large.

    So is any document: its end cannot be read alone.
    """
    entry, chosen = session.entry, _FORMATS.get(session.entry.client)
    if chosen is None or entry.n_bytes is None:
        return None
    try:
        if entry.n_bytes > _SMALL:
            if entry.path.suffix not in _LINE_FILES:
                return None
            end = _end(session, chosen)
            if end is not None and _has_report(end):
                return _of_end(session, end)
            if entry.n_bytes > _MAX_SEARCHED or _is_recorded(session, end):
                return None
        return _of_whole(load(InputOptions(path=str(entry.path))).transcript)
    except (CompactctlError, OSError, ValueError):
        return None


def _of_whole(transcript: Transcript) -> SessionSize:
    measured = measure(transcript, MeasureOptions())
    measured.meter.prime(transcript.effective)
    size = context_size(transcript, measured)
    requests = sized_requests(transcript.effective, measured.meter, size.unseen)
    return SessionSize(
        tokens=largest_of(requests).tokens,
        source="counted",
        certainty="at least" if transcript.unread.lost else "exact",
        window=_window(transcript, measured),
    )


def _of_end(session: Session, end: Transcript) -> SessionSize | None:
    conversations = split_conversations(end.effective)
    if not conversations:
        return None
    measured = measure(end, MeasureOptions())
    size = context_size(end, measured)
    calibration = size.calibration
    least = _lower_bound(max(conversations, key=len), measured)
    if calibration is None and least is None:
        return None
    return SessionSize(
        tokens=max(_reported(end, calibration), least or 0),
        source="counted at the end",
        certainty=_certainty(session, end, calibration) if least is None else "at least",
        window=_window(end, measured),
    )


def _reported(end: Transcript, calibration: Calibration | None) -> int:
    """Return a size by its report, without estimates if more is sent than could be read."""
    if calibration is None:
        return 0
    return min(calibration.total, _sum(calibration)) if end.unread.lost else calibration.total


def _certainty(session: Session, end: Transcript, calibration: Calibration | None) -> Certainty:
    """Judge a size from the end of a file: reasoning may depend on the turn or session before."""
    if calibration is None or end.unread.lost:
        return "at least"
    if (session.entry.n_bytes or 0) > _MAX_SEARCHED:
        return "about"
    is_rounded = abs(calibration.total - _sum(calibration)) <= 1
    return "exact" if is_rounded or not end.session.drops_past_reasoning else "about"


def _sum(calibration: Calibration) -> int:
    return calibration.reported + calibration.answer + calibration.tokens_after_answer


def _window(transcript: Transcript, measured: Measurement) -> int | None:
    model = measured.model
    is_known = transcript.session.window or model.is_known or model.is_inferred
    return measured.budget.window if is_known else None


def _recorded_window(details: SessionDetails, answered: int) -> int | None:
    model = resolve_model(details.model)
    is_known = details.window or model.is_known or model.is_inferred
    return window_in_use(model, details.window, answered) if is_known else None


def _end(session: Session, chosen: Format) -> Transcript | None:
    """Read the end of a file back to a usage report, but no further than necessary.

    None if reports may be about what is no longer sent, as where compactctl wrote something.
    """
    path, n_bytes = session.entry.path, session.entry.n_bytes or 0
    is_searched = path.suffix != _COMPRESSED and n_bytes <= _MAX_SEARCHED
    data = path.read_bytes() if is_searched else b""
    if _OWN_MARK in data or not chosen.is_sized_by_end(data):
        return None
    is_small = (session.details.context or 0) <= _MAX_DOUBTED
    end = None
    for window in _ENDS[is_small:]:
        lines = last_lines(path, window)
        if any(_OWN_MARK in line for line in lines):
            return None
        end = _parsed(lines, session, chosen)
        if _has_report(end):
            break
    return end


def _is_recorded(session: Session, end: Transcript | None) -> bool:
    """Return whether the client recorded a size, and nothing at the end of the file adds to it."""
    is_recorded = session.details.context is not None
    return is_recorded and end is not None and not end.effective


def _has_report(end: Transcript) -> bool:
    """Return whether there is a reported answer, and something before it: so it is whole.

    The results that an end begins with may be of calls in the same answer.
    """
    first = next((m.response_id for m in end.effective if m.role != "tool"), None)
    return any(m.usage and m.response_id != first for m in end.effective)


def _parsed(lines: Sequence[bytes], session: Session, chosen: Format) -> Transcript:
    end = parse([line + b"\n" for line in lines if line], chosen)
    model = end.session.model or session.details.model or None
    return replace(end, effective=_with_cut_results(end), session=replace(end.session, model=model))


def _with_cut_results(end: Transcript) -> tuple[Message, ...]:
    """Return what is sent: also results that a client leaves out if their calls are further up."""
    sent = {message.id for message in end.effective}
    calls = {
        part.call_id for m in end.history for part in m.parts if isinstance(part, ToolCallPart)
    }
    cut = [m for m in end.history if m.id not in sent and _answers_others(m, calls)]
    return tuple(sorted((*cut, *end.effective), key=lambda m: m.line)) if cut else end.effective


def _answers_others(message: Message, calls: Container[CallId]) -> bool:
    """Return whether a message holds a result of a call that is not among these."""
    results = (part for part in message.parts if isinstance(part, ToolResultPart))
    return any(result.call_id not in calls for result in results)


def _lower_bound(conversation: Sequence[Message], measured: Measurement) -> int | None:
    """Return the count of the end if reports are too small to be true, else None."""
    doubt = believed_reports(conversation, measured).doubt
    if doubt is None or doubt.reason not in _TOO_SMALL:
        return None
    return round(sum(map(measured.framed.visible, conversation)))
