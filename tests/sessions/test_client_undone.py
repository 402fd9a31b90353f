"""A compaction by the client undone in the client's own store."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from cli.asking import Ask
from sessions.client_compactions import (
    NEW,
    OLD,
    SAID,
    SUMMARY,
    claude,
    claude_that_kept_messages,
    codex,
    pi,
)
from sessions.homes import Home
from sessions.long_sessions import opencode

WRITERS = {
    "claude": claude,
    "claude that kept messages": claude_that_kept_messages,
    "codex": codex,
    "pi": pi,
}
EACH = pytest.mark.parametrize("client", WRITERS)


@EACH
def test_it_is_a_new_session_that_sends_everything_again(home: Home, ask: Ask, client: str) -> None:
    path = WRITERS[client](home)
    before = path.read_bytes()
    assert OLD not in ask("view", path).out
    outcome = ask("rewind", SAID.id, "--client", "--json")
    assert outcome.code == 0, outcome.err
    result = outcome.json
    fork = Path(result["output"])
    assert path.read_bytes() == before
    assert fork != path
    assert result["forkedFrom"] == SAID.id
    assert fork.stem[-36:] in result["continueWith"]
    shown = ask("view", fork).out
    assert OLD in shown
    assert NEW in shown
    assert SUMMARY not in shown
    titles = [each["title"] for each in ask("sessions", "--json").json["sessions"]]
    assert client == "pi" or "Tide windows (whole)" in titles
    assert f"undo      compactctl rewind {fork.stem[-36:]}" in outcome.err
    assert ask("rewind", fork).code == 0
    assert SUMMARY in ask("view", fork).out
    assert OLD not in ask("view", fork).out


@EACH
def test_in_place_it_is_the_same_session(home: Home, ask: Ask, client: str) -> None:
    path = WRITERS[client](home)
    before = path.read_bytes()
    outcome = ask("rewind", SAID.id, "--client", "--in-place")
    assert outcome.code == 0
    assert SAID.id in next(x for x in outcome.err.splitlines() if x.startswith("continue  "))
    assert OLD in ask("view", path).out
    assert ask("rewind", path).code == 0
    assert path.read_bytes() == before


@EACH
def test_by_appending_it_is_the_same_session_and_no_byte_of_it_changes(
    home: Home, ask: Ask, client: str
) -> None:
    path = WRITERS[client](home)
    before = path.read_bytes()
    refused = ask("rewind", SAID.id, "--native")
    assert refused.code == 2
    assert "--native has no effect without --client" in refused.err
    outcome = ask("rewind", SAID.id, "--client", "--native", "--while-open", "--force", "--json")
    assert outcome.code == 0, outcome.err
    result = outcome.json
    assert path.read_bytes().startswith(before)
    assert result["layout"] == "native"
    assert result["appendedLines"] > 0
    assert SAID.id in result["continueWith"]
    shown = ask("view", path).out
    assert OLD in shown
    assert NEW in shown
    assert SUMMARY not in shown
    log = ask("log", path, "--json").json
    assert [each["inEffect"] for each in log["byClient"]] == [False]
    assert [each["appended"] for each in log["operations"]] == [True]
    assert ask("rewind", path, "--while-open").code == 0
    assert path.read_bytes().startswith(before)
    shown = ask("view", path).out
    assert OLD not in shown
    assert SUMMARY in shown


@pytest.mark.parametrize("more", [("--in-place",), ("-o", "x.jsonl")])
def test_what_contradicts_appending_is_refused(home: Home, ask: Ask, more: tuple[str, ...]) -> None:
    outcome = ask("rewind", claude(home), "--client", "--native", *more)
    assert outcome.code == 2
    assert "cannot be used together" in outcome.err


def test_a_session_in_a_database_is_made_whole_as_a_document(home: Home, ask: Ask) -> None:
    own = opencode(home)
    pair = (
        ("msg_f1000000000aAbCdEfGhIjKlMn", {"role": "user"}, {"type": "compaction"}),
        (
            "msg_f1000000000bAbCdEfGhIjKlMn",
            {
                "role": "assistant",
                "parentID": "msg_f1000000000aAbCdEfGhIjKlMn",
                "summary": True,
                "finish": "stop",
            },
            {"type": "text", "text": SUMMARY},
        ),
    )
    with closing(
        sqlite3.connect(home.root / ".local" / "share" / "opencode" / "opencode.db")
    ) as database:
        for name, info, part in pair:
            database.execute(
                "insert into message values (?, ?, 1, 1, ?)", (name, own, json.dumps(info))
            )
            database.execute(
                "insert into part values (?, ?, ?, 1, 1, ?)",
                (f"prt_{name[4:]}", name, own, json.dumps(part)),
            )
        database.commit()
    shown = ask("view", own).out
    assert SUMMARY in shown
    assert "the tide turns" not in shown
    outcome = ask("rewind", own, "--client", "--json")
    assert outcome.code == 0, outcome.err
    result = outcome.json
    assert f"opencode import {result['output']}" in result["continueWith"]
    assert f"undo      compactctl rewind {Path(result['output']).stem}" in outcome.err
    shown = ask("view", result["output"]).out
    assert "the tide turns" in shown
    assert SUMMARY not in shown
    assert ask("rewind", result["output"]).code == 0
    assert SUMMARY in ask("view", result["output"]).out


def test_no_restored_copy_lands_among_sessions(home: Home, ask: Ask, tmp_path: Path) -> None:
    path = claude(home)
    copy = path.with_name("copy.jsonl")
    assert ask("rewind", path, "--client", "-o", copy).code == 2
    small = tmp_path / "small.jsonl"
    assert ask("rewind", path, "--client", "-o", small).code == 0
    outcome = ask("rewind", small, "-o", copy)
    assert outcome.code == 2
    assert "inside a client's session store" in outcome.err
    assert not copy.exists()


@EACH
def test_a_rewind_without_it_names_the_command_that_undoes_it(
    home: Home, ask: Ask, client: str
) -> None:
    path = WRITERS[client](home)
    outcome = ask("rewind", SAID.id)
    assert f"to undo that: compactctl rewind {SAID.id[:8]} --client" in outcome.out
    assert str(path) not in outcome.out
    assert ask("rewind", SAID.id, "--client").code == 0
