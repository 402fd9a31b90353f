"""Joins history that a client does not send, because a record names one that is not in the file."""

from collections.abc import Mapping, Sequence

from compactctl.commands.reading.transcript import TranscriptFile, parse
from compactctl.model.transcript import RefusedRecord, Transcript
from compactctl.pipeline.record_splice import with_values
from compactctl.records import replace

_CUTS = frozenset({"parent-missing", "torn"})


def joins_cuts(transcript: Transcript) -> bool:
    """Whether a repair joins history that the client does not send."""
    return any(record.rule == "parent-missing" and record.values for record in transcript.refused)


def with_cuts_joined(file: TranscriptFile) -> TranscriptFile:
    """Return a file whose transcript holds what is sent once the cuts of its history are repaired.

    Its lines, their numbers and what is refused in them stay: the repair is still to be made.
    """
    cuts = [
        record for record in file.transcript.refused if record.rule in _CUTS and not record.path
    ]
    by_line = {record.line: record for record in cuts if record.values or not record.is_sent}
    if not any(record.rule == "parent-missing" for record in by_line.values()):
        return file
    joined = parse(_joined(file.lines, by_line), file.format)
    left_out = {line for line, record in by_line.items() if not record.values}
    transcript = replace(
        joined,
        n_bytes=file.transcript.n_bytes,
        refused=file.transcript.refused,
        opaque=file.transcript.opaque,
        damaged_lines=file.transcript.damaged_lines - left_out,
    )
    return replace(file, transcript=transcript)


def _joined(lines: Sequence[bytes], by_line: Mapping[int, RefusedRecord]) -> list[bytes]:
    """Return the lines with the records corrected, and an empty line for one that is left out."""
    joined = list(lines)
    for index, record in by_line.items():
        joined[index] = b"\n"
        if record.values:
            text = with_values(lines[index].decode(errors="surrogateescape"), record.values)
            joined[index] = text.encode(errors="surrogateescape")
    return joined
