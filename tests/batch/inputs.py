"""Tiny Claude Code sessions, and batches that are run on them."""

import json
from pathlib import Path
from typing import Any

from asked import asked

from compactctl.commands.batch.batch import BatchOptions, BatchResult, batch
from compactctl.commands.reading.discover import FileChoice
from compactctl.records import replace


def transcript(exchanges: int = 6, topic: str = "parser", overhead: int = 0) -> bytes:
    """Return a session: a question, a file read, its result and an answer for each exchange.

    With ``overhead`` the provider reports that many tokens and 400 more for each exchange.
    """
    records: list[dict[str, Any]] = []

    def add(kind: str, content: object, **more: object) -> None:
        parent = f"u{len(records) - 1}" if records else None
        message = {"role": kind, "content": content} | more
        records.append(
            {"type": kind, "uuid": f"u{len(records)}", "parentUuid": parent, "sessionId": topic}
            | {"cwd": "/home/dev", "version": "2.1.0", "message": message}
        )

    for n in range(exchanges):
        call = {"type": "tool_use", "id": f"c{n}", "name": "Read", "input": {"file_path": "a.py"}}
        text = f"1\tdef {topic}(): return {n % 2}\n" * 20
        add("user", f"Question {n} about the {topic}")
        add("assistant", [call], id=f"r{n}", model="claude-sonnet-4-5")
        add("user", [{"type": "tool_result", "tool_use_id": f"c{n}", "content": text}])
        answer = [{"type": "text", "text": f"The {topic} says {n}."}]
        usage = {"input_tokens": overhead + 400 * n, "output_tokens": 10} if overhead else {}
        add("assistant", answer, id=f"a{n}", model="claude-sonnet-4-5", usage=usage)
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def run(*paths: str, **options: Any) -> BatchResult:
    """Run a batch over these paths; it compacts if a plan or an output is named.

    The time that each took is left out, so that equal results compare equal.
    """
    compacts = not options.keys().isdisjoint(("plan", "output"))
    result = batch(
        asked(BatchOptions(files=FileChoice(paths=paths), jobs=1, compacts=compacts), **options)
    )
    return replace(result, rows=tuple(replace(row, milliseconds=0) for row in result.rows))


def write(path: Path, data: bytes | None = None) -> Path:
    """Write a file, a session unless told otherwise, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(transcript(topic=path.stem) if data is None else data)
    return path


def bytes_below(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
