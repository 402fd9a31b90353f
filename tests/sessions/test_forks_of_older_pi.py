"""Sessions of earlier versions of pi become new sessions of the version that it leaves alone."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask
from sessions.homes import Home
from sessions.long_sessions import SAID, forked, pi

VERSION = 3


def older(home: Home, version: int) -> Path:
    """Write a session of an earlier version, with what its versions have in other ways."""
    path = pi(home)
    header, *entries = [json.loads(line) for line in path.read_bytes().splitlines()]
    header["version"] = version
    compaction = {"type": "compaction", "summary": "The tide was in.", "tokensBefore": 9}
    told = {"role": "hookMessage", "customType": "log", "content": "A hook spoke.", "display": True}
    if version == 1:
        header.pop("version")
        kept: dict[str, Any] = {"firstKeptEntryIndex": 5}
        for entry in entries:
            entry.pop("id", None)
            entry.pop("parentId", None)
        more: list[dict[str, Any]] = [{**compaction, **kept}, {"type": "message", "message": told}]
    else:
        names = [entries[5]["id"], "0000c0de", "0000cafe"]
        entries[6]["parentId"] = names[2]
        kept = {"firstKeptEntryId": entries[5]["id"]}
        more = [
            {**compaction, **kept, "id": names[1], "parentId": names[0]},
            {"type": "message", "message": told, "id": names[2], "parentId": names[1]},
        ]
    lines = [json.dumps(record) for record in (header, *entries[:6], *more, *entries[6:])]
    if version == 1:
        lines.insert(2, '{"type":"message","message":{"role":"us')
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def said_in(ask: Ask, session: str | Path) -> list[Any]:
    shown = ask("view", session, "--full", "--json").json["messages"]
    return [(message["role"], message["parts"]) for message in shown]


def records_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines() if line.endswith(b"}")]


@pytest.mark.parametrize("version", [1, 2])
def test_a_new_session_has_the_current_version_and_says_the_same(
    home: Home, ask: Ask, version: int
) -> None:
    path = older(home, version)
    before, whole = path.read_bytes(), said_in(ask, path)
    fork = Path(forked(ask, SAID.id)["output"])
    assert ask("rewind", fork).code == 0
    assert said_in(ask, fork) == whole
    header, *entries = records_of(fork)
    assert header["version"] == VERSION
    assert "hookMessage" not in fork.read_text()
    assert len(entries) == len(records_of(path)) - 1
    assert path.read_bytes() == before


def test_entries_without_ids_follow_one_another_past_a_damaged_line(home: Home, ask: Ask) -> None:
    path = older(home, 1)
    fork = Path(forked(ask, path)["output"])
    assert ask("rewind", fork).code == 0
    _, *entries = records_of(fork)
    names = [entry["id"] for entry in entries]
    assert [entry["parentId"] for entry in entries] == [None, *names[:-1]]
    assert len(set(names)) == len(names)
    [compaction] = [entry for entry in entries if entry["type"] == "compaction"]
    # Its index counts the header, but not the damaged line.
    assert compaction["firstKeptEntryId"] == names[4]
    assert "firstKeptEntryIndex" not in compaction
    damaged = path.read_bytes().splitlines()[2]
    assert fork.read_bytes().splitlines()[2] == damaged


def test_a_session_with_archives_keeps_its_version(home: Home, ask: Ask) -> None:
    path = older(home, 1)
    before = path.read_bytes()
    assert ask("compact", path, "--in-place", "--stages", "truncate", "--keep", "50%").code == 0
    fork = Path(forked(ask, path)["output"])
    assert "version" not in records_of(fork)[0]
    assert ask("rewind", fork, "--all").code == 0
    assert fork.read_bytes().splitlines()[1:] == before.splitlines()[1:]
