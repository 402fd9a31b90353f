"""A file is one session in the order in which its client wrote it, or it is said that it is not."""

import gzip
import json
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from file_commands import load_file, scan_file
from formats.claude_code import sessions as claude
from formats.gemini_cli import talks as gemini
from formats.jsonl import raw_lines, texts
from formats.opencode import sessions as opencode
from talks import TALKS

from compactctl.errors import NotUnderstoodError

Record = dict[str, Any]
TEXT = [{"type": "text", "text": "Hi"}]
Session = Callable[[str], list[Record]]


def _talk(name: str) -> list[Record]:
    (talk,) = (talk for talk in TALKS if talk.name == name)
    return talk.records(talk.begin(4, style=0))


def _renamed(name: str, *fields: str) -> Session:
    """Return a talk as a session of another id: all ids in it are others."""
    ids = ("uuid", "parentUuid", "id", "parentId", "call_id", "toolCallId", "tool_use_id", *fields)
    pattern = re.compile(rf'"({"|".join(ids)})": "([^"]+)"')

    def session(own: str) -> list[Record]:
        text = json.dumps(_talk(name))
        found: list[Record] = json.loads(pattern.sub(rf'"\1": "\2-{own}"', text))
        return found

    return session


def _vscode(own: str) -> list[Record]:
    requests = [{"message": {"text": "Hi"}, "response": [{"value": "Ho"}]}]
    return [{"kind": 0, "v": {"sessionId": own, "requests": requests}}]


def _opencode(own: str) -> list[Record]:
    messages = [opencode.user(f"msg_{own}", opencode.text("Hi"))]
    return [
        {
            "info": {**opencode.SESSION, "id": own},
            "messages": opencode.one_second_apart(messages),
        }
    ]


SESSIONS: dict[str, Session] = {
    "claude-code": _renamed("claude-code", "sessionId"),
    "codex": _renamed("codex"),
    "copilot-cli": _renamed("copilot-cli", "sessionId"),
    "pi": _renamed("pi"),
    "gemini-cli": lambda own: [
        {**gemini.SESSION, "sessionId": own},
        gemini.user(f"u{own}", "Hi"),
        gemini.gemini(f"g{own}", "Ho"),
    ],
    "vscode-copilot-chat": _vscode,
    "opencode": _opencode,
    "spring-ai": lambda own: [
        {"id": f"e{own}{n}", "session_id": own, "message_type": kind, "message_content": "Hi"}
        for n, kind in enumerate(("USER", "ASSISTANT"))
    ],
    "agent-code": lambda own: [
        {"id": own, "messages": [{"type": "user", "uuid": own, "content": TEXT}]}
    ],
}
LINKED = ("claude-code", "copilot-cli", "pi")
ORDERED = (*LINKED, "codex")


def written(path: Path, *records: Record) -> Path:
    data = b"".join(raw_lines(*records))
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def run_as_shown(command: str, folder: Path) -> None:
    """Run what an error tells to type."""
    subprocess.run(command, shell=True, cwd=folder, check=True, capture_output=True)  # noqa: S602 - as a user would


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("name", SESSIONS)
def test_two_sessions_in_one_file_are_never_one_conversation(
    name: str, ending: str, tmp_path: Path
) -> None:
    one, other = SESSIONS[name]("one"), SESSIONS[name]("two")
    assert scan_file(written(tmp_path / "one.jsonl", *one)).format == name
    path = written(tmp_path / f"both.jsonl{ending}", *one, *other)
    try:
        found = scan_file(path)
    except NotUnderstoodError as error:
        told = str(error)
    else:
        # Conversations are measured one by one.
        assert {message.conversation for message in found.effective} == {0, 1}
        return
    assert "holds 2 sessions (" in told
    assert f"line {len(one) + 1})" in told
    with pytest.raises(NotUnderstoodError, match="holds 2 sessions"):
        load_file(path)
    command = told.partition("split it: ")[2]
    if shutil.which("csplit"):
        run_as_shown(command, tmp_path)
        pieces = [tmp_path / "session-00", tmp_path / "session-01"]
        assert b"".join(piece.read_bytes() for piece in pieces) == b"".join(raw_lines(*one, *other))
        for piece in pieces:
            assert scan_file(piece).format == name


@pytest.mark.parametrize("name", ["mixed.jsonl", "mixed.jsonl.gz"])
def test_sessions_that_interleave_are_told_apart_by_their_id(name: str, tmp_path: Path) -> None:
    one, other = (SESSIONS["claude-code"](own) for own in ("one", "two"))
    mixed = [record for pair in zip(one, other, strict=True) for record in pair]
    with pytest.raises(NotUnderstoodError, match=r"take each out: .*jq -c .*sessionId") as error:
        scan_file(written(tmp_path / name, *mixed))
    if shutil.which("jq"):
        command = str(error.value).partition("take each out: ")[2]
        run_as_shown(command, tmp_path)
        (piece,) = (p for p in tmp_path.iterdir() if p.name != name)
        whole = scan_file(written(tmp_path / "alone.jsonl", *one))
        assert texts(scan_file(piece).effective) == texts(whole.effective)


def test_a_session_that_goes_on_under_another_id_is_one(tmp_path: Path) -> None:
    first = [claude.user("u", None, "Hi"), claude.said("a", "u", "Ho")]
    resumed = [
        {**claude.user("v", "a", "And?"), "sessionId": "new"},
        {**claude.boundary("b", logical="v"), "sessionId": "newer"},
        {**claude.summarized("s", "b", "So far."), "sessionId": "newer"},
    ]
    assert len(scan_file(written(tmp_path / "a.jsonl", *first, *resumed)).effective) == 1
    # As may one whose parent is not in the file.
    lost = {**claude.user("w", "gone", "And?"), "sessionId": "new"}
    assert scan_file(written(tmp_path / "b.jsonl", *first, lost)).session_lines == ()
    fork = [
        {"timestamp": "t", "type": "session_meta", "payload": {"id": own}} for own in ("new", "old")
    ]
    path = written(tmp_path / "c.jsonl", *fork, *SESSIONS["codex"]("old")[1:])
    assert scan_file(path).session_lines == ()


def timed(records: list[Record]) -> list[Record]:
    """Return records a second apart, as clients write them."""
    return [
        {**record, "timestamp": f"2026-01-02T03:{n // 60:02}:{n % 60:02}.000Z"}
        for n, record in enumerate(records)
    ]


@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize("name", ORDERED)
def test_a_session_is_measured_in_the_order_of_its_ids_and_times(
    name: str, seed: int | None, tmp_path: Path
) -> None:
    records = timed(SESSIONS[name]("one"))
    right = scan_file(written(tmp_path / "right.jsonl", *records))
    assert right.warnings == ()
    mixed = records[::-1] if seed is None else random.Random(seed).sample(records, len(records))
    path = written(tmp_path / "mixed.jsonl", *mixed)
    found = scan_file(path)
    assert texts(found.effective) == texts(right.effective)
    assert "in the order of their ids and times" in found.warnings[0]
    # What is written to such a file could not be taken back.
    with pytest.raises(
        NotUnderstoodError, match=r"its records are (newest first|not in the order)"
    ) as error:
        load_file(path)
    if seed is None and shutil.which("awk"):
        command = str(error.value).partition("turn it around: ")[2]
        run_as_shown(command, tmp_path)
        assert (tmp_path / "in-order.jsonl").read_bytes() == b"".join(raw_lines(*records))


@pytest.mark.parametrize("name", LINKED)
def test_ids_count_more_than_times(name: str, tmp_path: Path) -> None:
    records = [{**record, "timestamp": "2026-01-02T03:04:05Z"} for record in SESSIONS[name]("one")]
    right = scan_file(written(tmp_path / "right.jsonl", *records))
    mixed = random.Random(3).sample(records, len(records))
    found = scan_file(written(tmp_path / "mixed.jsonl", *mixed))
    assert texts(found.effective) == texts(right.effective)
