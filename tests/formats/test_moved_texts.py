"""Wherever the text of a message moves to: it is counted, or the size is said to be unknown.

Each text of a session is moved, renamed, wrapped or torn in turn, as new versions of clients,
exporters and crashes do it.
"""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from formats.jsonl import decoded, file_lines
from formats.known import WRITTEN, Known, each_known

from compactctl import compact_batch, compact_messages
from compactctl.__main__ import run
from compactctl.clients.detection import detect
from compactctl.clients.records.unread import text_in
from compactctl.errors import NotUnderstoodError
from compactctl.model.message import JsonPath, TextPart, ToolCallPart, ToolResultPart
from compactctl.model.transcript import Transcript

# Shorter texts beside others in a message may be titles.
MARK = " ".join(f"the zander under quay {n} counted every lantern" for n in "abcdefghijklmn")
_N_TEXTS = 5
Line = dict[str, Any] | list[Any]


def at(value: Any, path: JsonPath) -> Any:
    for key in path:
        value = value[key]
    return value


def holder_of(line: Line, path: JsonPath) -> tuple[Any, Any]:
    """Return the object or list that holds the value at ``path``, and its key."""
    return at(line, path[:-1]), path[-1]


def renamed(line: Line, path: JsonPath) -> Line:
    """Move the value to a field of another name."""
    names = [depth for depth, key in enumerate(path) if isinstance(key, str)]
    holder, key = holder_of(line, path[: names[-1] + 1])
    holder[f"zq_{key}"] = holder.pop(key)
    return line


def wrapped(line: Line, path: JsonPath) -> Line:
    """Put the value into an object that no format knows."""
    holder, key = holder_of(line, path)
    holder[key] = {"zq_inner": [{"zq_text": holder[key]}]}
    return line


def retyped(line: Line, path: JsonPath) -> Line:
    """Give the innermost object with a type a type that no format knows."""
    for end in range(len(path) - 1, -1, -1):
        value = at(line, path[:end])
        if isinstance(value, dict) and isinstance(value.get("type"), str):
            value["type"] = "zq"
            return line
    pytest.skip("its objects have no types")


def reshaped(line: Line, path: JsonPath) -> Line:
    """Make the innermost list or object around the value another type of value."""
    if len(path) == 1:
        pytest.skip("nothing is around it")
    holder, key = holder_of(line, path[:-1])
    inner = holder[key]
    holder[key] = {"zq_items": inner} if isinstance(inner, list) else [inner]
    return line


def torn(line: Line, _: JsonPath) -> bytes:
    """Cut the line in the middle of the text."""
    data = json.dumps(line).encode()
    return data[: data.index(MARK.encode()) + len(MARK) // 2 + 9]


MOVES: list[Callable[[Line, JsonPath], Line | bytes]] = [renamed, wrapped, retyped, reshaped, torn]


def texts_of(transcript: Transcript) -> Iterator[tuple[int, JsonPath]]:
    """Yield the lines and paths of texts that are sent, the newest first.

    A name of a file is none, and the fields around the messages of a log may have any name.
    """
    for message in reversed(transcript.effective):
        for part in message.parts:
            if not isinstance(part, TextPart | ToolCallPart | ToolResultPart) or part.embedded:
                continue
            if part.path and part.path[-1] != "filename" and part.path != ("instructions",):
                yield message.line, part.path


def read(lines: list[bytes]) -> Transcript:
    chunk = decoded(lines)
    return detect(chunk, "test").read(chunk)


def is_counted(transcript: Transcript) -> bool:
    """Whether the text is in a message, which may be on a branch that is not sent."""
    parts = (part for message in transcript.messages for part in message.parts)
    return any(MARK[:20] in text_in(part) for part in parts)


def moved(known: Known, move: Callable[[Line, JsonPath], Line | bytes]) -> Iterator[list[bytes]]:
    """Yield the lines of a session for each of its newest texts, with that one moved."""
    lines = file_lines(known.place)
    n_moved = 0
    for index, path in texts_of(read(lines)):
        line = json.loads(lines[index])
        try:
            holder, key = holder_of(line, path)
            value = holder[key]
        except (KeyError, TypeError, IndexError):
            # Inside of JSON text.
            continue
        holder[key] = f"{MARK} {value}" if isinstance(value, str) else MARK
        new = move(deepcopy(line), path)
        data = new if isinstance(new, bytes) else json.dumps(new).encode()
        yield [*lines[:index], data + b"\n", *lines[index + 1 :]]
        n_moved += 1
        if n_moved == _N_TEXTS:
            return


@each_known(WRITTEN)
@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.__name__)
def test_a_moved_text_is_counted_or_said_to_be_unread(
    known: Known, move: Callable[[Line, JsonPath], Line | bytes]
) -> None:
    for lines in moved(known, move):
        try:
            transcript = read(lines)
        except NotUnderstoodError:
            continue
        assert is_counted(transcript) or transcript.unread.is_significant


@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.__name__)
def test_commands_gates_and_library_agree(
    move: Callable[[Line, JsonPath], Line | bytes], tmp_path: Path
) -> None:
    records: list[Line] = [
        {"role": ("user", "assistant")[at % 2], "content": [{"type": "text", "text": f"turn {at}"}]}
        for at in range(6)
    ]
    records[3]["content"].append({"type": "text", "text": MARK})  # type: ignore[call-overload]
    new = move(deepcopy(records[3]), ("content", 1, "text"))
    rows = [json.dumps(record).encode() for record in records]
    rows[3] = new if isinstance(new, bytes) else json.dumps(new).encode()
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"\n".join(rows) + b"\n")
    if is_counted(read(path.read_bytes().splitlines(keepends=True))):
        pytest.skip("it is read")
    codes = {
        "check": 4,
        "stats --strict": 4,
        "stats --fail-over 90%": 4,
        "compact -n --require-fit": 4,
        "batch --no-cache --fail-on opaque": 1,
        "batch --no-cache --fail-over 90%": 1,
    }
    for command, code in codes.items():
        name, *options = command.split()
        assert run([name, str(path), *options]) == code, command
    if isinstance(new, bytes):
        return
    messages: list[Any] = [*records[:3], new, *records[4:]]
    with pytest.raises(NotUnderstoodError):
        compact_messages(messages, require_fit=True)
    batch = pa.RecordBatch.from_pydict({"messages": [json.dumps(messages)]})
    [row] = compact_batch(batch).to_pylist()
    assert (row["compact_status"], bool(row["compact_error"])) == ("failed", True)
