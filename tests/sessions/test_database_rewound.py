"""A session in a database that is only read is rewound as a new one, to be imported."""

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask
from cli.faults.old_or_new import points, quietly
from cli.faults.writing import disk, drafts
from forked import killed
from sessions.homes import Home
from sessions.long_sessions import everything_below, forked, opencode
from store.faults import Killing, Watched

IDS = {"message": ("id", "sessionID"), "part": ("id", "messageID", "sessionID")}


def database_of(home: Home) -> Path:
    return home.root / ".local" / "share" / "opencode" / "opencode.db"


def imported(home: Home, document: str | Path) -> str:
    """Put a document into the database as the client does; return the session's id."""
    content = json.loads(Path(document).read_text())
    info = content["info"]
    own = str(info["id"])
    with closing(sqlite3.connect(database_of(home))) as database:
        row = database.execute("select * from session limit 1")
        names = [column[0] for column in row.description]
        like = dict(zip(names, row.fetchone(), strict=True))
        like |= {"id": own, "title": info["title"], "time_updated": like["time_updated"] + 1}
        marks = ", ".join("?" * len(names))
        database.execute(f"insert into session values ({marks})", tuple(like.values()))  # noqa: S608
        for number, message in enumerate(content["messages"]):
            add(database, own, number, message)
        database.commit()
    return own


def add(database: sqlite3.Connection, own: str, time: int, message: Mapping[str, Any]) -> None:
    info = message["info"]
    row = (info["id"], own, time, data_of("message", info))
    database.execute("insert into message values (?, ?, ?, 1, ?)", row)
    for part in message["parts"]:
        ids = (part["id"], info["id"], own)
        database.execute(
            "insert into part values (?, ?, ?, 1, 1, ?)", (*ids, data_of("part", part))
        )


def data_of(table: str, record: Mapping[str, Any]) -> str:
    return json.dumps({key: value for key, value in record.items() if key not in IDS[table]})


def say(home: Home, own: str, text: str) -> None:
    with closing(sqlite3.connect(database_of(home))) as database:
        number = database.execute("select count(*) from message").fetchone()[0]
        name = f"{0xFF0000000000 + number:012x}AbCdEfGhIjKlMn"
        part = {"id": f"prt_{name}", "type": "text", "text": text}
        message = {"info": {"id": f"msg_{name}", "role": "user"}, "parts": [part]}
        add(database, own, number, message)
        database.commit()


def texts_of(ask: Ask, session: str | Path) -> list[str]:
    shown = ask("view", session, "--full", "--json").json["messages"]
    return [part["text"] for message in shown for part in message["parts"]]


def rewound(ask: Ask, session: str, *options: str) -> dict[str, Any]:
    outcome = ask("rewind", session, *options, "--json")
    assert outcome.code == 0, outcome.err
    document: dict[str, Any] = outcome.json
    return document


def test_the_originals_and_what_was_said_since_are_a_new_session(home: Home, ask: Ask) -> None:
    first = opencode(home)
    whole = texts_of(ask, first)
    own = imported(home, forked(ask, first)["output"])
    say(home, own, "And now?")
    small = texts_of(ask, own)
    before = everything_below(home.root)
    result = rewound(ask, own)
    assert before.items() <= everything_below(home.root).items()
    made = Path(result["output"])
    new = made.stem
    assert result["forkedFrom"] == own != new
    assert result["after"]["sha256"] == sha256(made.read_bytes()).hexdigest()
    assert made.parent == home.root / ".local" / "state" / "compactctl" / "opencode"
    assert result["continueWith"] == (
        f"cd '/home/dev/quay side' && opencode import {made} && opencode -s {new}"
    )
    assert json.loads(made.read_text())["info"]["title"] == "Tide windows (whole)"
    assert texts_of(ask, made) == [*whole, "And now?"]
    assert imported(home, made) == new
    assert texts_of(ask, new) == [*whole, "And now?"]
    assert texts_of(ask, own) == small


def test_it_goes_back_and_forth_through_new_sessions(home: Home, ask: Ask) -> None:
    first = opencode(home)
    whole = texts_of(ask, first)
    one = forked(ask, first)
    own = imported(home, one["output"])
    small = texts_of(ask, own)
    say(home, own, "One?")
    two = forked(ask, own, "--keep", "5%")
    own = imported(home, two["output"])
    say(home, own, "Two?")
    smallest = texts_of(ask, own)
    own = imported(home, rewound(ask, own)["output"])
    assert texts_of(ask, own) == [*small, "One?", "Two?"]
    say(home, own, "Three?")
    assert ask("verify", own).code == 0
    whole_again = imported(home, rewound(ask, own, "--all")["output"])
    assert texts_of(ask, whole_again) == [*whole, "One?", "Two?", "Three?"]
    again = imported(home, rewound(ask, whole_again, "--to", two["operation"])["output"])
    assert texts_of(ask, again) == [*smallest, "Three?"]


def test_the_screen_says_how_to_continue_and_to_go_back(home: Home, ask: Ask) -> None:
    result = forked(ask, opencode(home))
    own = imported(home, result["output"])
    outcome = ask("rewind", own)
    new = outcome.err.partition("new       ")[2].partition("\n")[0]
    assert new.startswith("ses_")
    assert f"session   {own} (not changed)" in outcome.err
    assert f"opencode -s {new}" in outcome.err
    assert f"redo      compactctl rewind {new} --to {result['operation']}" in outcome.err
    assert "undo " not in outcome.err


def test_what_was_not_imported_yet_is_rewound_by_its_id(home: Home, ask: Ask) -> None:
    first = opencode(home)
    outcome = ask("compact", first, "--stages", "truncate", "--keep", "10%")
    command = outcome.err.partition("undo      compactctl ")[2].partition("\n")[0].split()
    assert command[1].startswith("ses_")
    assert ask(*command).code == 0
    document = home.root / ".local" / "state" / "compactctl" / "opencode" / f"{command[1]}.json"
    assert texts_of(ask, document) == texts_of(ask, first)


def test_who_rewinds_a_document_that_was_imported_is_told(home: Home, ask: Ask) -> None:
    result = forked(ask, opencode(home))
    own = imported(home, result["output"])
    outcome = ask("rewind", result["output"])
    assert outcome.code == 0
    assert "OpenCode has imported it and continues with what it has" in outcome.err
    assert f"compactctl rewind {own} writes a new session" in outcome.err


@pytest.mark.parametrize("options", [["--check"], ["-o", "whole.json"], ["-o", "-"]])
def test_no_session_is_written_where_none_is_asked_for(
    home: Home, ask: Ask, tmp_path: Path, options: list[str]
) -> None:
    first = opencode(home)
    own = imported(home, forked(ask, first)["output"])
    before = everything_below(home.root)
    more = [str(tmp_path / each) if each == "whole.json" else each for each in options]
    outcome = ask("rewind", own, *more)
    assert outcome.code == 0, outcome.err
    assert everything_below(home.root) == before
    if options[-1] == "whole.json":
        assert texts_of(ask, more[-1]) == texts_of(ask, first)


def test_an_edited_record_is_not_restored_over(home: Home, ask: Ask) -> None:
    own = imported(home, forked(ask, opencode(home))["output"])
    with closing(sqlite3.connect(database_of(home))) as database:
        edited = json.dumps({"type": "text", "text": "edited"})
        database.execute("update part set data = ? where session_id = ?", (edited, own))
        database.commit()
    outcome = ask("rewind", own)
    assert outcome.code == 8
    assert "edited" in outcome.err
    assert ask("verify", own).code == 8


def test_a_session_that_was_never_compacted_has_nothing_to_undo(home: Home, ask: Ask) -> None:
    own = opencode(home)
    before = everything_below(home.root)
    outcome = ask("rewind", own)
    assert outcome.code == 0
    assert "was never compacted; nothing to undo" in outcome.out
    assert everything_below(home.root) == before


def test_one_group_is_restored_in_a_new_session(home: Home, ask: Ask) -> None:
    first = opencode(home)
    own = imported(home, forked(ask, first)["output"])
    small = texts_of(ask, own)
    say(home, own, "And now?")
    groups = ask("log", own, "--json").json["operations"][0]["groups"]
    made = rewound(ask, "opencode:latest", "--group", groups[0]["id"])["output"]
    texts = texts_of(ask, made)
    assert texts[-1] == "And now?"
    assert len(set(texts) - set(small)) > 1
    assert rewound(ask, imported(home, made), "--check")["undone"] == []


def test_killed_at_any_call_it_leaves_whole_documents(home: Home, ask: Ask) -> None:
    first = opencode(home)
    whole = texts_of(ask, first)
    made = Path(forked(ask, first)["output"])
    own = imported(home, made)
    before = database_of(home).read_bytes()
    watched = Watched()
    with disk(watched):
        rewound(ask, own)
    for point in points(watched.log):
        with disk(Killing(point)):
            assert killed(partial(quietly, ["rewind", own]))
        for document in made.parent.glob("ses_*.json"):
            assert document == made or texts_of(ask, document) == whole
    rewound(ask, own)
    assert drafts(home.root) == []
    assert database_of(home).read_bytes() == before
