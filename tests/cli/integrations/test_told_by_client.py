"""What a client tells a hook names the transcript, wherever one may be piped in."""

import json
from pathlib import Path

import pytest
from cli.asking import Ask

from compactctl.commands.reading.hook_input import hook_fields_at_start, transcript_of


def told(transcript: str | Path, **more: object) -> bytes:
    return json.dumps({"session_id": "5", "transcript_path": str(transcript), **more}).encode()


@pytest.mark.parametrize("command", ["stats", "check", "view", "log"])
def test_the_transcript_that_a_hook_is_told_of_is_read(ask: Ask, desk: Path, command: str) -> None:
    # Longer than what is looked at of standard input.
    piped = told(desk, hook_event_name="PostCompact", compact_summary="é" * 30_000)
    assert ask(command, stdin=piped) == ask(command, desk)


def test_a_hook_compacts_the_file_and_prints_no_transcript(ask: Ask, desk: Path) -> None:
    assert ask("compact", "--stages", "truncate", stdin=told(desk)).code == 0
    compacted = desk.with_name("openai-chat.compacted.jsonl")
    assert ask("rewind", "--check", stdin=told(compacted)).code == 0


def test_a_client_that_names_the_folder_of_a_session_means_its_events(tmp_path: Path) -> None:
    assert transcript_of({"sessionId": "5", "transcriptPath": str(tmp_path)}) == str(
        tmp_path / "events.jsonl"
    )


def test_a_transcript_that_is_not_there_is_named(ask: Ask, tmp_path: Path) -> None:
    outcome = ask("stats", stdin=told(tmp_path / "new.jsonl"))
    assert outcome.code == 3
    assert "new.jsonl: no such file" in outcome.err


@pytest.mark.parametrize(
    "piped",
    [
        b'{"transcript_path": "/tmp/run.jsonl", "role": "user", "content": "hi"}\n',
        b'{"session_id": "5", "transcript_path": null, "role": "user", "content": "hi"}\n',
        b'{"role": "user", "content": "{\\"session_id\\": 5, \\"transcript_path\\": 6}"}\n',
        b'{"session_id": "5", "transcript_path": "s3://x/y", "role": "user", "content": "hi"}\n',
    ],
    ids=["no session", "no path", "inside a text", "in an object store"],
)
def test_a_transcript_is_not_taken_for_it(ask: Ask, piped: bytes) -> None:
    shown = ask("view", "--json", stdin=piped)
    assert (shown.code, shown.json["messages"][0]["role"]) == (0, "user")


@pytest.mark.parametrize(
    ("start", "members"),
    [
        (b"", {}),
        (b"[1]", {}),
        (b'{"a": 1', {"a": 1}),
        (b' {\n "a" : "x" , "b": [1, {"c": "}"}], "d": "cut', {"a": "x", "b": [1, {"c": "}"}]}),
        (b'{"a": "\xff\xc3\xa9"} {"b": 2}', {"a": "\udcffé"}),
        (b'{"a"= 1}', {"a": 1}),
        (b'{"a": ' + b"[" * 5_000, {}),
    ],
)
def test_of_a_start_what_is_whole_is_read(start: bytes, members: dict[str, object]) -> None:
    assert hook_fields_at_start(start) == members
