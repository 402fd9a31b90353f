"""Records for which a client refuses a session: never so in a new one, and always named."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from cli.asking import Ask
from formats.copilot_cli.sessions import Record
from sessions.homes import Home
from sessions.long_sessions import SAID, SMALL, codex, copilot

# What is wrong with events that Copilot CLI 1.0.102 refuses and never sends.
FAULTS: dict[str, Record] = {
    "no path": {"type": "skill.invoked", "data": {"name": "tides", "content": "How to read."}},
    "no text": {"type": "session.info", "data": {"infoType": "x", "message": 5}},
    "no number": {"type": "session.usage_checkpoint", "data": {"totalNanoAiu": True}},
    "inside": {"type": "session.shutdown", "data": {"codeChanges": {}}},
    "no data": {"type": "session.info", "data": None},
    "no time": {"type": "assistant.turn_end", "data": {"turnId": "1"}, "timestamp": None},
    "no id": {"type": "assistant.turn_end", "data": {"turnId": "1"}, "id": "end"},
    "of a subagent": {"type": "assistant.message", "data": {"content": "Read."}, "agentId": "a"},
}
# And of those that may be sent.
SENT: dict[str, Record] = {
    "no id": {"type": "user.message", "data": {"content": "Is it high water?"}, "id": "u1"},
    "no content": {"type": "user.message", "data": {"transformedContent": "Is it high water?"}},
    "no name": {
        "type": "assistant.message",
        "data": {"messageId": "m", "content": "It is.", "toolRequests": [{"toolCallId": "c"}]},
    },
    "no result": {
        "type": "tool.execution_complete",
        "data": {"toolCallId": "c", "success": True, "result": {"detailedContent": "x"}},
    },
    "no asset": {"type": "session.binary_asset", "data": {"assetId": "a", "mimeType": "image/png"}},
    "changes": {"type": "session.compaction_start", "data": None},
    "new type": {"type": "system.notification", "data": {"content": 5, "kind": {}}},
}
NAME = "6f1d2c3b-aaaa-4bbb-8ccc-123456789abc"


def with_event(path: Path, faulty: Record, line: int) -> bytes:
    """Put an event on a line of a session; return that line."""
    lines = path.read_bytes().splitlines(keepends=True)
    parent = json.loads(lines[line - 2])["id"]
    envelope = {"id": NAME, "timestamp": "2026-01-02T03:04:05.006Z", "parentId": parent}
    added = json.dumps({**envelope, **faulty}).encode() + b"\n"
    following = json.loads(lines[line - 1])
    following["parentId"] = faulty.get("id", NAME)
    lines[line - 1 : line] = [added, json.dumps(following).encode() + b"\n"]
    path.write_bytes(b"".join(lines))
    return added


@pytest.mark.parametrize("fault", FAULTS)
def test_a_new_session_does_without_what_is_never_sent(home: Home, ask: Ask, fault: str) -> None:
    session = copilot(home)
    added = with_event(session, FAULTS[fault], 20)
    before = session.read_bytes()

    outcome = ask("compact", session, *SMALL, "--json")

    assert outcome.code == 0, outcome.err
    assert outcome.json["faults"][0]["line"] == 20
    assert outcome.json["remainingFaults"] == []
    new = Path(outcome.json["output"])
    records = [json.loads(line) for line in new.read_bytes().splitlines()]
    assert json.loads(added)["id"] not in [record["id"] for record in records]
    assert all(record["parentId"] in (None, earlier["id"]) for earlier, record in pairwise(records))
    assert ask("stats", new, "--json").json["faults"] == []
    assert ask("rewind", new).code == 0
    assert added in new.read_bytes()
    assert session.read_bytes() == before


@pytest.mark.parametrize("fault", SENT)
def test_what_is_sent_is_corrected(home: Home, ask: Ask, fault: str) -> None:
    session = copilot(home)
    added = with_event(session, SENT[fault], 29)

    outcome = ask("compact", session, *SMALL, "--json")

    assert outcome.code == 0, outcome.err
    assert outcome.json["faults"][0]["line"] == 29
    new = Path(outcome.json["output"])
    faults = ask("check", new, "--json").json["faults"]
    assert [fault for fault in faults if fault["who"] == "Copilot CLI"] == []
    assert ask("rewind", new).code == 0
    assert added in new.read_bytes()


def test_what_a_summary_replaces_is_not_in_the_new_session(home: Home, ask: Ask) -> None:
    session = copilot(home)
    with_event(session, SENT["no content"], 9)
    assert ask("compact", session, *SMALL).code == 0


@pytest.mark.parametrize("options", [("--in-place",), ("-o", "out"), ("-o", "-")])
def test_other_outputs_keep_it_and_name_it(
    home: Home, ask: Ask, options: tuple[str, ...], tmp_path: Path
) -> None:
    session = copilot(home)
    added = with_event(session, FAULTS["no path"], 20)
    output = session if "--in-place" in options else tmp_path / "out.jsonl"
    layout = ("--layout", "inline") if "-" in options else ()
    named = tuple(str(output) if option == "out" else option for option in options)

    outcome = ask("compact", session, *SMALL, *layout, *named)

    assert outcome.code == 0, outcome.err
    assert ": skill.invoked has no path)" in outcome.err
    stub = added.rstrip()[:-1].partition(b'"parentId"')[0]
    written = outcome.out.encode() if "-" in options else output.read_bytes()
    assert stub in written


def test_stats_names_it(home: Home, ask: Ask) -> None:
    session = copilot(home)
    with_event(session, FAULTS["no path"], 20)
    (fault,) = ask("stats", session, "--json").json["faults"]
    assert (fault["line"], fault["text"]) == (20, "skill.invoked has no path")
    assert fault["who"] == "Copilot CLI"


def test_a_session_whose_header_is_torn_is_fixed_in_place(home: Home, ask: Ask) -> None:
    path = codex(home)
    head, _, rest = path.read_bytes().partition(b"\n")
    torn = head[: len(head) // 4] + b"\n" + rest
    path.write_bytes(torn)
    assert "fix in place: compactctl rescue --in-place" in ask("check", path).out
    refused = ask("rescue", path)
    assert refused.code == 4
    assert "use --in-place" in refused.err
    assert ask("rescue", path, "--in-place").code == 0
    assert ask("check", path).code == 0
    assert ask("rewind", path).code == 0
    assert path.read_bytes() == torn


def test_a_session_is_named_as_it_was_typed(home: Home, ask: Ask) -> None:
    """Its path is long, and no command needs it."""
    path = codex(home)
    sealed = {"type": "reasoning", "summary": [], "encrypted_content": "x"}
    compaction = {"type": "compaction", "encrypted_content": "x"}
    with path.open("a") as file:
        for item in (compaction, sealed):
            record = {"timestamp": "t", "type": "response_item", "payload": item}
            file.write(f"{json.dumps(record)}\n")
    name = SAID.id[:8]
    shown = ask("check", name).out
    assert f"compactctl rescue {name} --redo undoes" in shown
    assert f"compactctl rescue {name}\n" in shown
    assert f"compactctl check {name}\n" in ask("stats", name).out
    assert str(path) not in shown
