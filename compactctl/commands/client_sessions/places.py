"""Where a client compacted, and the transcript as it was before and after."""

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import groupby

from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.steps import OperationStep
from compactctl.commands.reading.transcript import TranscriptFile, split
from compactctl.formats.format import Format
from compactctl.formats.records.decode import Decoded, decode_lines
from compactctl.model.message import JsonPath, Message
from compactctl.model.transcript import RawLine, Transcript
from compactctl.store.files.source import split_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class PastState:
    """A state, from the outcome of an operation to the beginning of the next.

    Attributes:
        decoded: its lines; a document is one.
        transcript: what they say.
        step: the operation that led to it, None for the first state.
        outcome: what the operation left, before anything was appended.
    """

    format: Format
    decoded: tuple[Decoded, ...]
    transcript: Transcript
    step: OperationStep | None = None
    outcome: Transcript | None = None


def past_states(loaded: TranscriptFile, history: OperationHistory) -> Iterator[PastState]:
    """Yield the states; raises as reading them does, ArchiveError and IntegrityError."""
    step: OperationStep | None = None
    for following in (*history.chain, None):
        data = history.data if following is None else b"".join(following.before())
        decoded = _decoded(data, history.where, loaded.format)
        outcome = None
        if step is not None:
            left = _decoded(data[: step.after.n_bytes], history.where, loaded.format)
            outcome = loaded.format.read(left)
        yield PastState(
            format=loaded.format,
            decoded=decoded,
            transcript=loaded.format.read(decoded),
            step=step,
            outcome=outcome,
        )
        step = following


def current_state(loaded: TranscriptFile) -> PastState:
    """Return the state that a transcript is in now, whatever led to it."""
    decoded = decode_lines(RawLine(index, line) for index, line in enumerate(loaded.lines))
    return PastState(format=loaded.format, decoded=tuple(decoded), transcript=loaded.transcript)


def sent_messages(transcript: Transcript) -> tuple[Message, ...]:
    """Return what would be sent in the order of the file, so that places say where it stands."""
    there = {message.id: message for message in transcript.effective}
    return tuple(there[message.id] for message in transcript.messages if message.id in there)


def _decoded(data: bytes, where: str, chosen: Format) -> tuple[Decoded, ...]:
    lines, _ = split(split_lines(data), where, chosen.name)
    return tuple(decode_lines(RawLine(index, line) for index, line in enumerate(lines)))


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPlace:
    """The lines, from 0, of a compaction; in a document ``element`` is its summary instead."""

    first: int
    last: int
    element: JsonPath = ()

    @property
    def place(self) -> tuple[int, JsonPath]:
        """Where its last record stands: line and element."""
        return self.last, self.element


def compaction_places(transcript: Transcript, start: int) -> tuple[CompactionPlace, ...]:
    """Return where a client compacted, from line ``start`` on, in order."""
    summaries = [
        m
        for m in transcript.messages
        if m.origin.is_summary and not (m.origin.is_synthetic or m.origin.is_subagent)
    ]
    marked, own = set(transcript.compactions.lines), set(transcript.compactions.own_history_lines)
    alone = {m.line for m in summaries if not m.record_path}
    lines = sorted(line for line in marked | alone if line >= start)
    known = marked | own
    inside = (m for m in summaries if m.record_path and m.line not in known and m.line >= start)
    within = (CompactionPlace(first=m.line, last=m.line, element=m.record_path) for m in inside)
    return (*_runs(lines, transcript), *within)


def _runs(lines: Sequence[int], transcript: Transcript) -> Iterator[CompactionPlace]:
    """Join the lines between which the agent said nothing: a boundary and its summary."""
    marks = set(lines)
    answers = {
        m.line for m in transcript.messages if m.role == "assistant" and not m.origin.is_summary
    }
    for is_mark, run in groupby(sorted(marks | answers), marks.__contains__):
        if is_mark:
            found = list(run)
            yield CompactionPlace(first=found[0], last=found[-1])


def read_before(state: PastState, moment: CompactionPlace) -> Transcript:
    """Read the transcript as it was right before."""
    if moment.element:
        return _cut(state, moment, 0)
    return state.format.read(state.decoded[: moment.first])


def read_after(state: PastState, moment: CompactionPlace) -> Transcript:
    """Read the transcript as it was right after."""
    if moment.element:
        return _cut(state, moment, 1)
    return state.format.read(state.decoded[: moment.last + 1])


def place_after(transcript: Transcript, moment: CompactionPlace) -> int:
    """Return the index of the first message after a moment, in file order."""
    places = enumerate(transcript.messages)
    if moment.element:
        found = (at + 1 for at, m in places if (m.line, m.record_path) == moment.place)
    else:
        found = (at for at, m in places if m.line > moment.last)
    return next(found, len(transcript.messages))


def texts_of(lines: Iterable[Decoded]) -> Iterator[str]:
    """Yield all texts in lines, whether or not they were ever sent, and the names of fields."""
    waiting: list[object] = [value for line in lines for value in line.values]
    while waiting:
        match waiting.pop():
            case str(text):
                yield text
            case dict(fields):
                yield from fields
                waiting.extend(fields.values())
            case list(items):
                waiting.extend(items)
            case _:
                continue


def _cut(state: PastState, moment: CompactionPlace, beyond: int) -> Transcript:
    """Read a document that ends before its summary, or so many elements ``beyond`` that."""
    *holders, place = moment.element
    line = deepcopy(state.decoded[moment.first])
    held = line.values[0]
    for key in holders:
        held = held[key]
    del held[int(place) + beyond :]
    return state.format.read((*state.decoded[: moment.first], replace(line)))
