"""Where a client compacted, and the transcript as it was before and after each compaction."""

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from functools import cached_property
from itertools import groupby

from compactctl.clients.format import Format
from compactctl.clients.records.decode import Decoded, decode_lines
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.restorable import read_outcome
from compactctl.commands.operations.steps import OperationStep
from compactctl.commands.reading.transcript import TranscriptFile, split
from compactctl.model.json_paths import value_at
from compactctl.model.message import JsonPath, Message
from compactctl.model.transcript import RawLine, Transcript
from compactctl.records import Record, replace
from compactctl.store.files.source import split_lines


class PastState(Record, dict=True, gc=True):
    """The transcript from the outcome of an operation until the next operation.

    Attributes:
        format: the format of the transcript.
        lines: its raw lines; a document is one line.
        transcript: the transcript read from them.
        step: the operation that led to it, None for the first state.
        outcome: the transcript right after that operation, before anything was appended.
    """

    format: Format
    lines: Sequence[bytes]
    transcript: Transcript
    step: OperationStep | None = None
    outcome: Transcript | None = None

    @cached_property
    def decoded(self) -> tuple[Decoded, ...]:
        """The values of its lines, which only a client's compaction is looked up in."""
        return tuple(_decode(self.lines))


def past_states(loaded: TranscriptFile, history: OperationHistory) -> Iterator[PastState]:
    """Yield the states, oldest first. Raises ArchiveError and IntegrityError."""
    step: OperationStep | None = None
    for following in (*history.chain, None):
        data = history.data if following is None else b"".join(following.before())
        lines = _split(data, history.where, loaded.format)
        outcome = None
        if step is not None:
            outcome_lines = _split(read_outcome(history, step), history.where, loaded.format)
            outcome = loaded.format.read(_decode(outcome_lines))
        yield PastState(
            format=loaded.format,
            lines=lines,
            transcript=loaded.format.read(_decode(lines)),
            step=step,
            outcome=outcome,
        )
        step = following


def current_state(loaded: TranscriptFile) -> PastState:
    """Return the current state of a transcript, without the operations that led to it."""
    return PastState(format=loaded.format, lines=loaded.lines, transcript=loaded.transcript)


def sent_messages(transcript: Transcript) -> tuple[Message, ...]:
    """Return the effective messages in the order of the file, so that indices match positions."""
    effective_by_id = {message.id: message for message in transcript.effective}
    return tuple(
        effective_by_id[message.id]
        for message in transcript.messages
        if message.id in effective_by_id
    )


def _split(data: bytes, where: str, chosen: Format) -> Sequence[bytes]:
    return split(split_lines(data), where, chosen.name)[0]


def _decode(lines: Iterable[bytes]) -> Iterator[Decoded]:
    return decode_lines(RawLine(index, line) for index, line in enumerate(lines))


class CompactionRange(Record):
    """The lines of a compaction, from 0; in a document, ``element`` is the path of its summary."""

    first: int
    last: int
    element: JsonPath = ()

    @property
    def place(self) -> tuple[int, JsonPath]:
        """The location of its last record: line and element."""
        return self.last, self.element


def find_compactions(transcript: Transcript, start: int) -> tuple[CompactionRange, ...]:
    """Return where a client compacted, from line ``start`` on, in order."""
    summaries = [
        m
        for m in transcript.messages
        if m.origin.is_summary and not (m.origin.is_synthetic or m.origin.is_subagent)
    ]
    marked, own_history_lines = (
        set(transcript.compactions.lines),
        set(transcript.compactions.own_history_lines),
    )
    separate_lines = {m.line for m in summaries if not m.record_path}
    lines = sorted(line for line in marked | separate_lines if line >= start)
    known_lines = marked | own_history_lines
    inside = (
        m for m in summaries if m.record_path and m.line not in known_lines and m.line >= start
    )
    within = (CompactionRange(first=m.line, last=m.line, element=m.record_path) for m in inside)
    return (*_runs(lines, transcript), *within)


def _runs(lines: Sequence[int], transcript: Transcript) -> Iterator[CompactionRange]:
    """Join lines without an answer between them, such as a boundary and its summary."""
    marks = set(lines)
    answers = {
        m.line for m in transcript.messages if m.role == "assistant" and not m.origin.is_summary
    }
    for is_mark, run in groupby(sorted(marks | answers), marks.__contains__):
        if is_mark:
            run_lines = list(run)
            yield CompactionRange(first=run_lines[0], last=run_lines[-1])


def read_before(state: PastState, moment: CompactionRange) -> Transcript:
    """Read the transcript as it was right before a compaction."""
    if moment.element:
        return _cut(state, moment, 0)
    return state.format.read(state.decoded[: moment.first])


def read_after(state: PastState, moment: CompactionRange) -> Transcript:
    """Read the transcript as it was right after a compaction."""
    if moment.element:
        return _cut(state, moment, 1)
    return state.format.read(state.decoded[: moment.last + 1])


def index_after(transcript: Transcript, moment: CompactionRange) -> int:
    """Return the index of the first message after a compaction, in file order."""
    places = enumerate(transcript.messages)
    if moment.element:
        indices = (index + 1 for index, m in places if (m.line, m.record_path) == moment.place)
    else:
        indices = (index for index, m in places if m.line > moment.last)
    return next(indices, len(transcript.messages))


def texts_of(lines: Iterable[Decoded]) -> Iterator[str]:
    """Yield all strings in lines, sent or not, including keys."""
    pending: list[object] = [value for line in lines for value in line.values]
    while pending:
        match pending.pop():
            case str(text):
                yield text
            case dict(fields):
                yield from fields
                pending.extend(fields.values())
            case list(items):
                pending.extend(items)
            case _:
                continue


def _cut(state: PastState, moment: CompactionRange, beyond: int) -> Transcript:
    """Read a document cut off before its summary, or ``beyond`` elements after that."""
    *holders, index = moment.element
    line = deepcopy(state.decoded[moment.first])
    # A damaged line may hold two values.
    members = (value_at(value, tuple(holders)) for value in line.values)
    arrays = (value for value in members if isinstance(value, list) and int(index) < len(value))
    del next(arrays)[int(index) + beyond :]
    return state.format.read((*state.decoded[: moment.first], replace(line)))
