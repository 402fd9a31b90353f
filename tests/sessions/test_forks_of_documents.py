"""Sessions that are one document, or rows of a database, compacted as new sessions."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask
from sessions.homes import Home
from sessions.long_sessions import SAID, SMALL, TURNS, everything_below, forked, opencode

WORDS = "the tide turns. " * 40


def ids_in(document: dict[str, Any]) -> list[str]:
    return [
        document["info"]["id"],
        *(message["info"]["id"] for message in document["messages"]),
        *(part["id"] for message in document["messages"] for part in message["parts"]),
    ]


def ranks(document: dict[str, Any]) -> list[int]:
    """Return the places that messages have when sorted by their ids."""
    ids = [message["info"]["id"] for message in document["messages"]]
    return list(map(sorted(ids).index, ids))


@pytest.mark.parametrize("client", ["opencode", "kilo"])
def test_a_session_in_a_database_is_a_document_to_import(home: Home, ask: Ask, client: str) -> None:
    own = opencode(home, client=client)
    before = everything_below(home.root / ".local" / "share")
    result = forked(ask, own)
    made = Path(result["output"])
    document = json.loads(made.read_text())
    assert everything_below(home.root / ".local" / "share") == before
    assert made.parent == home.root / ".local" / "state" / "compactctl" / client
    assert made.stem == document["info"]["id"] != own
    assert document["info"]["title"] == "Tide windows (compacted)"
    # Without it the client refuses to import the session.
    assert document["info"]["slug"] == "calm-tide"
    assert {m["info"]["sessionID"] for m in document["messages"]} == {made.stem}
    assert result["forkedFrom"] == own
    assert result["continueWith"] == (
        f"cd '/home/dev/quay side' && {client} import {made} && {client} -s {made.stem}"
    )


def test_all_that_the_document_names_is_new_and_in_order(home: Home, ask: Ask) -> None:
    own = opencode(home)
    outcome = ask("compact", own, "-o", home.root / "same.json", "--stages", "dedup", "--json")
    assert outcome.code == 0, outcome.err
    old = json.loads((home.root / "same.json").read_text())
    made = Path(forked(ask, own)["output"])
    assert ask("rewind", made).code == 0
    new = json.loads(made.read_text())

    assert set(ids_in(old)).isdisjoint(ids_in(new))
    assert len(set(ids_in(new))) == len(ids_in(old))
    assert ranks(new) == ranks(old)
    known = set(ids_in(new))
    parents = {m["info"]["parentID"] for m in new["messages"] if "parentID" in m["info"]}
    assert parents <= known
    assert {p["messageID"] for m in new["messages"] for p in m["parts"]} <= known
    texts = [[p["text"] for m in each["messages"] for p in m["parts"]] for each in (old, new)]
    assert texts[0] == texts[1]


def test_two_sessions_made_of_one_share_no_id(home: Home, ask: Ask) -> None:
    own = opencode(home)
    made = [json.loads(Path(forked(ask, own)["output"]).read_text()) for _ in range(2)]

    assert set(ids_in(made[0])).isdisjoint(ids_in(made[1]))


def test_ids_of_a_new_session_sort_before_all_that_its_client_makes(home: Home, ask: Ask) -> None:
    own = opencode(home, client="kilo")
    first, second = (json.loads(Path(forked(ask, own)["output"]).read_text()) for _ in range(2))
    ids = [name.partition("_")[2] for name in ids_in(first)[1:]]

    assert {name[0] for name in ids} == {"0"}
    assert ranks(first) == ranks(second)


def cline(home: Home) -> Path:
    path = home.cline(SAID, status="running", pid=1, cwd=SAID.project)
    document = json.loads(path.read_text())
    for at in range(2 * TURNS):
        role = ("user", "assistant")[at % 2]
        content = [{"type": "text", "text": WORDS}]
        document["messages"].append({"id": f"t{at}", "role": role, "content": content, "ts": at})
    return home.document(path, document, SAID.age)


def test_a_session_of_cline_is_a_new_folder(home: Home, ask: Ask) -> None:
    path = cline(home)
    before = everything_below(home.root / ".cline")
    result = forked(ask, path)
    made = Path(result["output"])
    own = made.parent.name
    after = everything_below(home.root / ".cline")
    assert before.items() <= after.items()
    manifest = made.with_name(f"{own}.json")
    assert set(after) - set(before) == {made, manifest}
    assert made.name == f"{own}.messages.json"
    assert json.loads(made.read_text())["sessionId"] == own
    told = json.loads(manifest.read_text())
    assert (told["session_id"], told["messages_path"]) == (own, str(made))
    assert told["metadata"]["title"] == "Tide windows (compacted)"
    assert told["status"] == "completed"
    assert told["pid"] == json.loads(path.with_name(f"{path.parent.name}.json").read_text())["pid"]
    assert result["continueWith"] == f"cline --id {own}"
    listed = {each["id"] for each in ask("sessions", "--json").json["sessions"]}
    assert own in listed


def test_rewind_gives_the_whole_session_of_cline_under_its_new_id(home: Home, ask: Ask) -> None:
    path = cline(home)
    made = Path(forked(ask, path)["output"])
    own = made.parent.name
    assert ask("rewind", made).code == 0
    assert made.read_text().rstrip() == path.read_text().replace(path.parent.name, own).rstrip()


def test_what_cline_has_said_since_stays_when_it_writes_all_anew(home: Home, ask: Ask) -> None:
    path = cline(home)
    document = json.loads(path.read_text())
    home.document(path, {"system_prompt": "You are Cline.", **document}, SAID.age)
    fork = Path(forked(ask, path)["output"])
    document = json.loads(fork.read_text())
    said = {"id": "t", "role": "user", "content": [{"type": "text", "text": "And now?"}], "ts": 1}
    document["messages"].append(said)
    document["updated_at"] = "2026-02-03T04:05:06.007Z"
    fork.write_text(json.dumps(document, indent=2))
    assert ask("rewind", fork).code == 0
    before = json.loads(path.read_text())["messages"]
    assert json.loads(fork.read_text())["messages"] == [*before, said]


def test_nothing_is_written_where_no_stage_has_anything_to_do(home: Home, ask: Ask) -> None:
    for reference in (opencode(home), cline(home)):
        before = everything_below(home.root)
        assert ask("compact", reference, "--stages", "dedup").code == 0
        assert ask("compact", reference, *SMALL, "--dry-run").code == 0
        assert everything_below(home.root) == before
