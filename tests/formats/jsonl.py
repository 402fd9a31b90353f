"""Writes records as raw lines and reads them with a format, as the commands do."""

import json
from pathlib import Path

from compactctl.clients.detection import detect
from compactctl.clients.records.decode import Decoded, decode, decode_lines
from compactctl.clients.registry import format_named
from compactctl.model.message import MediaPart, Message, OmittedPart, Part, ToolCallPart
from compactctl.model.transcript import RawLine, Transcript


def raw_lines(*records: object) -> list[bytes]:
    """Return one line per record; bytes are taken as a line's text as they are."""
    return [
        (record if isinstance(record, bytes) else json.dumps(record).encode()) + b"\n"
        for record in records
    ]


def write_lines(path: Path, *records: object) -> Path:
    """Write one line per record; return the file."""
    path.write_bytes(b"".join(raw_lines(*records)))
    return path


def decoded(lines: list[bytes]) -> list[Decoded]:
    """Decode raw lines."""
    return list(decode_lines(RawLine(index, data) for index, data in enumerate(lines)))


def read(name: str, *records: object) -> Transcript:
    """Read records with the format of that name."""
    return format_named(name).read(decoded(raw_lines(*records)))


def detected(*records: object) -> str:
    """Return the name of the format that recognises the records."""
    return detect(decoded(raw_lines(*records)), "test").name


def file_lines(path: Path) -> list[bytes]:
    """Return a file's raw lines; a document over several lines is one."""
    data = path.read_bytes()
    lines = data.splitlines(keepends=True) if b"\r" not in data else _split(data)
    if decode(lines[0])[1] is not None and decode(data)[1] is None:
        return [data]
    return lines


def _split(data: bytes) -> list[bytes]:
    pieces = data.split(b"\n")
    lines = [piece + b"\n" for piece in pieces[:-1]]
    return [*lines, pieces[-1]] if pieces[-1] else lines


def texts(messages: tuple[Message, ...]) -> list[str]:
    """Return what each message says, its parts joined."""
    return [" | ".join(said(part) for part in message.parts) for message in messages]


def said(part: Part) -> str:
    """Return the words of a part; a call is ``tool(arguments)``."""
    if isinstance(part, ToolCallPart):
        return f"{part.tool}({part.arguments})"
    if isinstance(part, MediaPart):
        return f"<{part.media_type}>"
    if isinstance(part, OmittedPart):
        return f"<{part.noun} left out>"
    return str(part.text)
