"""Where a client compacted, and the transcript as it was before and after."""

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import groupby

from compactctl.commands.by_client.states import PastState
from compactctl.formats.records.decode import Decoded
from compactctl.model.message import JsonPath
from compactctl.model.transcript import Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The lines, from 0, of a compaction; in a document ``element`` is its summary instead."""

    first: int
    last: int
    element: JsonPath = ()

    @property
    def place(self) -> tuple[int, JsonPath]:
        """Where its last record stands: line and element."""
        return self.last, self.element


def moments(transcript: Transcript, start: int) -> tuple[Moment, ...]:
    """Return where a client compacted, from line ``start`` on, in order."""
    summaries = [m for m in transcript.messages if m.summary and not (m.synthetic or m.aside)]
    marked, own = set(transcript.compactions), set(transcript.appended)
    alone = {m.line for m in summaries if not m.element}
    lines = sorted(line for line in marked | alone if line >= start)
    known = marked | own
    inside = (m for m in summaries if m.element and m.line not in known and m.line >= start)
    within = (Moment(first=m.line, last=m.line, element=m.element) for m in inside)
    return (*_runs(lines, transcript), *within)


def _runs(lines: Sequence[int], transcript: Transcript) -> Iterator[Moment]:
    """Join the lines between which the agent said nothing: a boundary and its summary."""
    marks = set(lines)
    answers = {m.line for m in transcript.messages if m.role == "assistant" and not m.summary}
    for is_mark, run in groupby(sorted(marks | answers), marks.__contains__):
        if is_mark:
            found = list(run)
            yield Moment(first=found[0], last=found[-1])


def read_before(state: PastState, moment: Moment) -> Transcript:
    """Read the transcript as it was right before."""
    if moment.element:
        return _cut(state, moment, 0)
    return state.format.read(state.decoded[: moment.first])


def read_after(state: PastState, moment: Moment) -> Transcript:
    """Read the transcript as it was right after."""
    if moment.element:
        return _cut(state, moment, 1)
    return state.format.read(state.decoded[: moment.last + 1])


def place_after(transcript: Transcript, moment: Moment) -> int:
    """Return the index of the first message after a moment, in file order."""
    places = enumerate(transcript.messages)
    if moment.element:
        found = (at + 1 for at, m in places if (m.line, m.element) == moment.place)
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


def _cut(state: PastState, moment: Moment, beyond: int) -> Transcript:
    """Read a document that ends before its summary, or so many elements ``beyond`` that."""
    *holders, place = moment.element
    line = deepcopy(state.decoded[moment.first])
    held = line.values[0]
    for key in holders:
        held = held[key]
    del held[int(place) + beyond :]
    return state.format.read((*state.decoded[: moment.first], replace(line)))
