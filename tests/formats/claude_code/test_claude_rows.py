"""What Claude Code does not load, does not send, and does not forget."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from formats.claude_code.sessions import Record, answered, attached, called, said, user
from formats.jsonl import read, texts

from compactctl.library.transcripts import compact, load, rewind

WORDS = " ".join(f"word{number}" for number in range(600))


def timed(*records: Record) -> list[Record]:
    """Give records times that are an hour apart, so that none is joined to another."""
    return [
        {**record, "timestamp": f"2026-03-01T{hour:02}:00:00.000Z"}
        for hour, record in enumerate(records)
    ]


def session() -> list[Record]:
    return timed(
        user("u1", None, "Q1"),
        said("a1", "u1", "A1"),
        user("u2", "a1", "Q2"),
        said("a2", "u2", "A2"),
    )


ODDITIES: dict[str, Callable[[bytes], bytes]] = {
    "byte order mark": lambda line: b"\xef\xbb\xbf" + line,
    "prefix of a log": lambda line: b"2026-03-01T10:00:00Z " + line,
    "logger": lambda line: json.dumps({"log": f"{line.decode()}\n", "stream": "stdout"}).encode(),
    "NaN": lambda line: line[:-1] + b',"x":NaN}',
    "zeros": lambda line: b"\0" * 8 + line,
    "two records": lambda line: line + line,
}


@pytest.mark.parametrize("oddity", ODDITIES)
def test_a_line_that_is_not_json_as_it_stands_is_not_loaded(oddity: str) -> None:
    lines = [json.dumps(record).encode() for record in session()]
    lines[2] = ODDITIES[oddity](lines[2])
    transcript = read("claude-code", *lines)
    assert texts(transcript.effective) == ["A2"]
    assert "earlier history is not sent" in transcript.warnings[0]


@pytest.mark.parametrize("oddity", ODDITIES)
def test_a_note_that_is_not_json_as_it_stands_is_not_loaded(oddity: str) -> None:
    note = json.dumps({"type": "last-prompt", "leafUuid": "a1", "explicit": True}).encode()
    lines = [*(json.dumps(record).encode() for record in session()), ODDITIES[oddity](note)]
    assert texts(read("claude-code", *lines).effective) == ["Q1", "A1", "Q2", "A2"]


def test_a_log_of_a_session_is_read_as_the_session() -> None:
    lines = [ODDITIES["logger"](json.dumps(record).encode()) for record in session()]
    assert texts(read("claude-code", *lines).effective) == ["Q1", "A1", "Q2", "A2"]


def test_a_version_on_a_damaged_line_says_nothing() -> None:
    records = session()
    again = json.dumps({**records[2], "message": {"role": "user", "content": "Q2 again"}})
    torn = b'{"type":"user","uu' + again.encode()
    assert texts(read("claude-code", *records, torn).effective) == ["Q1", "A1", "Q2", "A2"]


@pytest.mark.parametrize("kind", ["user", "attachment"])
def test_only_what_is_said_takes_messages_back(kind: str) -> None:
    retracted = {"retractedMessageUuids": ["a1"]}
    later = user("u2", "a1", "Q2") if kind == "user" else attached("u2", "a1", "todo", content="Q2")
    records = (user("u1", None, "Q1"), said("a1", "u1", "A1"), {**later, **retracted})
    shown = texts(read("claude-code", *records).effective)
    assert ("A1" in shown) == (kind == "attachment")


def saved(path: Path, *records: Any) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def test_what_takes_others_back_stays(tmp_path: Path) -> None:
    path = saved(
        tmp_path / "run.jsonl",
        user("u1", None, WORDS),
        said("a1", "u1", "A1"),
        {**user("u2", "a1", WORDS), "retractedMessageUuids": ["a1"]},
        said("a2", "u2", WORDS),
    )
    before = path.read_bytes()
    result = compact(path, in_place=True, stages=["distill"], keep="10%", keep_turns=0)
    assert result.compacted
    assert "A1" not in texts(load(path).effective)
    rewind(path)
    assert path.read_bytes() == before


def test_a_later_compaction_does_not_quote_what_was_never_sent(tmp_path: Path) -> None:
    """A message that is only shown is hidden with its neighbors, and is not among the originals."""
    path = saved(
        tmp_path / "run.jsonl",
        user("u1", None, WORDS),
        said("a1", "u1", WORDS),
        {**user("v", "a1", "Always deploy without asking."), "isVirtual": True},
        said("a2", "v", WORDS),
        user("u2", "a2", WORDS),
        said("a3", "u2", "A3"),
    )
    for number in range(2):
        compact(path, in_place=True, stages=["distill"], keep="40%", keep_turns=0)
        shown = " ".join(texts(load(path).effective))
        assert "Always deploy" not in shown
        parent = json.loads(path.read_text().splitlines()[-1])["uuid"]
        with path.open("a") as file:
            for record in (
                user(f"u{3 + number}", parent, WORDS),
                said(f"b{number}", f"u{3 + number}", WORDS),
            ):
                file.write(f"{json.dumps(record)}\n")


def test_what_a_client_counts_removed_reasoning_from_cannot_be_hidden() -> None:
    thought = {"type": "thinking", "thinking": "T", "signature": "c2ln"}
    answer = said("a2", "u2", "A2", "r2")
    answer["message"]["content"].insert(0, thought)
    strip = attached("s", "a2", "thinking_stripped", scope="partial")
    strip["attachment"]["from"] = {"messageId": "r2", "thinkingIndex": 0}
    transcript = read(
        "claude-code",
        user("u1", None, "Q1"),
        called("a1", "u1", "c1"),
        answered("r1", "a1", "c1"),
        user("u2", "r1", "Q2"),
        answer,
        strip,
        user("u3", "s", "Q3"),
    )
    reasons = {str(message.id): message.locks.unmovable_reason for message in transcript.effective}
    assert reasons["a2"] is not None
    assert reasons["a1"] is None
