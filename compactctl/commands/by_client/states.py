"""The states that a transcript was in between compactctl's operations, oldest first."""

from collections.abc import Iterator
from dataclasses import dataclass

from compactctl.commands.loading.load import Loaded, split
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.steps import OperationStep
from compactctl.formats.format import Format
from compactctl.formats.records.decode import Decoded, decode_lines
from compactctl.model.message import Message
from compactctl.model.transcript import RawLine, Transcript
from compactctl.store.files.lines import split_lines


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


def states(loaded: Loaded, history: OperationHistory) -> Iterator[PastState]:
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


def present(loaded: Loaded) -> PastState:
    """Return the state that a transcript is in now, whatever led to it."""
    decoded = decode_lines(RawLine(index, 0, line) for index, line in enumerate(loaded.lines))
    return PastState(format=loaded.format, decoded=tuple(decoded), transcript=loaded.transcript)


def sent(transcript: Transcript) -> tuple[Message, ...]:
    """Return what would be sent in the order of the file, so that places say where it stands."""
    there = {message.id: message for message in transcript.effective}
    return tuple(there[message.id] for message in transcript.messages if message.id in there)


def _decoded(data: bytes, where: str, chosen: Format) -> tuple[Decoded, ...]:
    lines, _ = split(split_lines(data), where, chosen.name)
    return tuple(decode_lines(RawLine(index, 0, line) for index, line in enumerate(lines)))
