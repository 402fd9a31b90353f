"""The records behind a session that make its client read it otherwise."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from compactctl.commands.appending.conditions import (
    CannotAppendError,
    has_to_insist,
    version_of,
)
from compactctl.commands.loading.load import Loaded, parse
from compactctl.commands.loading.verify_output import meant_by, prove_layout
from compactctl.errors import IntegrityError, UsageError
from compactctl.formats.format import Appending
from compactctl.formats.records.decode import is_wrapped
from compactctl.formats.registry import SNIFFED_RECORDS, appending_of
from compactctl.model.operation import OperationId
from compactctl.model.transcript import Transcript
from compactctl.pipeline.layout import NewLine
from compactctl.pipeline.new_file import NewFile


def rules_of(loaded: Loaded) -> Appending:
    """Return how a session is changed by appending; UsageError where nobody knows."""
    found = appending_of(loaded.format.name)
    if found is None:
        raise UsageError(
            f"{_name(loaded)}: nothing is known that could be appended to a {loaded.format.title}; "
            "leave out --native"
        )
    if any(map(is_wrapped, islice(loaded.lines, SNIFFED_RECORDS))):
        raise UsageError(
            f"{_name(loaded)}: its lines are those of a log, which no client reads; "
            "leave out --native"
        )
    return found


def settled(loaded: Loaded) -> Loaded:
    """Return a session without records that do not count any more, as if it were new.

    The digest stays that of what was read. CannotAppendError where it would read otherwise.
    """
    lines = rules_of(loaded).settled(loaded.lines)
    if lines is loaded.lines:
        return loaded
    transcript = parse(lines, loaded.format)
    if _said(transcript) != _said(loaded.transcript):
        raise cannot_be_appended(_name(loaded))
    return replace(loaded, source=replace(loaded.source, lines=lines), transcript=transcript)


def with_block(whole: Loaded, wanted: Sequence[bytes], operation: OperationId) -> NewFile:
    """Return a session with the records behind it that make it read as ``wanted`` does."""
    return NewFile(whole.lines, _lines(whole, block_of(whole, wanted, operation)))


def block_of(whole: Loaded, wanted: Sequence[bytes], operation: OperationId) -> tuple[bytes, ...]:
    """Return these records as lines, the first behind the end of an unterminated one.

    CannotAppendError where the client would not read all that is to be sent.
    """
    try:
        found = rules_of(whole).block(whole.lines, wanted, operation)
    except UsageError as error:
        raise CannotAppendError(_name(whole), str(error)) from None
    if found and whole.source.is_open:
        found[0] = b"\n" + found[0]
    return tuple(found)


def _lines(whole: Loaded, block: Sequence[bytes]) -> Iterator[NewLine]:
    yield from (NewLine(line, index, kept=True) for index, line in enumerate(whole.lines))
    yield from (NewLine(line, None) for line in block)


def insists_on_undo(whole: Loaded) -> bool:
    """Tell whether the way back has to be insisted on: nothing tells whether a session is open."""
    rules = rules_of(whole)
    return has_to_insist(_name(whole), rules, version_of(whole.transcript, rules))


def check_read_as(whole: Loaded, wanted: Transcript, now: Iterable[bytes]) -> None:
    """Raise CannotAppendError unless the session, as ``now`` says, reads as ``wanted`` does."""
    try:
        prove_layout(now, whole.format, meant_by(wanted.effective), _name(whole))
    except IntegrityError:
        raise cannot_be_appended(_name(whole)) from None


def cannot_be_appended(path: str) -> CannotAppendError:
    """Return the error for a session of which a client would send something else."""
    return CannotAppendError(
        path, "what is appended would not make its client send exactly what is left"
    )


def _said(transcript: Transcript) -> list[bytes]:
    return [each.content for each in meant_by(transcript.effective)]


def _name(loaded: Loaded) -> str:
    return str(loaded.source.path or "standard input")
