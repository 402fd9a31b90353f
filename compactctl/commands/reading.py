"""Reads a transcript for the other commands: whole, or line by line."""

from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from compactctl.errors import NotUnderstoodError
from compactctl.formats.decode import decode, decode_lines
from compactctl.formats.format import Format
from compactctl.formats.registry import SNIFFED_RECORDS, detect, format_named
from compactctl.model.transcript import RawLine, Transcript
from compactctl.store.lines import STANDARD_INPUT, Source, open_input, read_lines, split_lines

# Enough of a file to tell what it is when it is no JSON.
HEAD_BYTES = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A transcript with the raw lines it was read from."""

    source: Source
    lines: tuple[bytes, ...]
    format: Format
    transcript: Transcript


def load(path: str, format_name: str | None = None) -> Loaded:
    """Read a transcript whole, keeping its bytes. Raises NoInputError, NotUnderstoodError."""
    source = open_input(path)
    lines, chosen = split(source.data, path, format_name)
    return Loaded(source=source, lines=lines, format=chosen, transcript=parse(lines, chosen))


def split(data: bytes, where: str, format_name: str | None) -> tuple[tuple[bytes, ...], Format]:
    """Return the raw lines and the format; a document over several lines is one raw line."""
    lines = split_lines(data)
    if _is_document(data, lines[0] if lines else b""):
        lines = (data,)
    if format_name is not None:
        return lines, format_named(format_name)
    first = (RawLine(index, 0, line) for index, line in enumerate(lines))
    return lines, detect(decode_lines(first), where, data[:HEAD_BYTES])


def parse(lines: tuple[bytes, ...], chosen: Format) -> Transcript:
    """Read messages from raw lines."""
    raw = (RawLine(index, 0, line) for index, line in enumerate(lines))
    return chosen.read(decode_lines(raw))


def scan(path: str, format_name: str | None = None) -> Transcript:
    """Read messages without keeping the file's bytes. Raises as ``load`` does."""
    if path == STANDARD_INPUT:
        return load(path, format_name).transcript
    decoded = decode_lines(read_lines(path))
    first = list(islice(decoded, SNIFFED_RECORDS))
    if first and first[0].damage is not None:
        return load(path, format_name).transcript
    chosen = format_named(format_name) if format_name else detect(first, path)
    return chosen.read(chain(first, decoded))


def check_strict(transcript: Transcript, path: str) -> None:
    """Raise NotUnderstoodError naming the first lines that are carried without understanding."""
    if not transcript.opaque:
        return
    shown = ", ".join(f"line {o.line + 1}: {o.damage}" for o in transcript.opaque[:5])
    rest = len(transcript.opaque) - 5
    more = f" and {rest} more" if rest > 0 else ""
    raise NotUnderstoodError(f"{Path(path).name}: {shown}{more}; leave out --strict to carry them")


def _is_document(data: bytes, first: bytes) -> bool:
    if len(first) == len(data) or decode(first)[1] is None:
        return False
    values, damage = decode(data)
    return damage is None and len(values) == 1
