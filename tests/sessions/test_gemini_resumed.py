"""Gemini CLI appends a session once more when it resumes it; a rewind keeps what was said since."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask
from sessions.homes import Home
from sessions.long_sessions import forked, gemini

from compactctl.clients.gemini_cli.format import GeminiCli

Record = dict[str, Any]
CONTEXT = "<session_context>\nIt is Monday.\n</session_context>"


def records_of(path: Path) -> list[Record]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def in_effect(records: Sequence[Record]) -> list[Record]:
    """Return the messages that the client has read of a session."""
    found: dict[str, Record] = {}
    for record in records:
        if "id" in record:
            found[record["id"]] = record
        elif "messages" in record.get("$set", {}):
            found = {message["id"]: message for message in record["$set"]["messages"]}
    return list(found.values())


def parts_of(message: Mapping[str, Any]) -> list[Record]:
    content = message["content"]
    return [{"text": content}] if isinstance(content, str) else content


def resumed(path: Path, *, anew: bool = False) -> None:
    """Append what the client does when it resumes a session.

    ``anew`` is what it appends besides after it has changed a message: all of them under new ids.
    """
    held: list[Record] = [{"id": "c", "type": "user", "content": [{"text": CONTEXT}]}]
    for number, message in enumerate(in_effect(records_of(path))):
        parts = parts_of(message)
        if not parts or str(parts[0].get("text", "")).startswith("<session_context>"):
            continue
        held.append({**message, "content": parts})
        if anew:
            held[-1]["id"] = f"n{number} of {path.stat().st_size}"
    if anew:
        first = held.pop(1)
        held[0]["content"] += first["content"]
    header = records_of(path)[0]
    added = [header, {"$set": {"sessionId": header["sessionId"]}}, {"$set": {"messages": held}}]
    write(path, *added)


def write(path: Path, *records: Record) -> None:
    with path.open("a") as stream:
        stream.writelines(f"{json.dumps(record)}\n" for record in records)


def say(path: Path, text: str) -> None:
    name = f"{text} at {path.stat().st_size}"
    asked = {"id": f"q {name}", "type": "user", "content": [{"text": text}]}
    answer = {"id": f"a {name}", "type": "gemini", "content": "Understood."}
    write(path, asked, {"$set": {"lastUpdated": "now"}}, answer)


def texts_of(path: Path) -> list[str]:
    texts = [part["text"] for message in in_effect(records_of(path)) for part in parts_of(message)]
    return [text for text in texts if not text.startswith("<session_context>")]


@pytest.mark.parametrize("anew", [False, True], ids=["the same ids", "new ids"])
def test_a_rewind_after_a_resume_gives_the_originals_and_what_was_said(
    home: Home, ask: Ask, *, anew: bool
) -> None:
    path = gemini(home)
    whole = texts_of(path)
    fork = Path(forked(ask, path)["output"])
    small = texts_of(fork)
    # The same may be said again.
    for text in ("And now?", "And now?", small[-1]):
        resumed(fork, anew=anew)
        say(fork, text)
    said = ["And now?", "Understood.", "And now?", "Understood.", small[-1], "Understood."]
    assert texts_of(fork)[-len(said) :] == said
    assert ask("rewind", fork).code == 0
    assert texts_of(fork) == [*whole, *said]
    assert ask("verify", fork).code == 0


def test_every_state_is_reached_through_resumes(home: Home, ask: Ask) -> None:
    path = gemini(home)
    whole = texts_of(path)
    first = forked(ask, path)
    fork = Path(first["output"])
    small = texts_of(fork)
    resumed(fork)
    say(fork, "One?")
    assert ask("compact", fork, "--in-place", "--stages", "truncate", "--keep", "5%").code == 0
    smaller = texts_of(fork)
    resumed(fork)
    say(fork, "Two?")
    assert ask("rewind", fork).code == 0
    assert texts_of(fork) == [*small, "One?", "Understood.", "Two?", "Understood."]
    resumed(fork)
    say(fork, "Three?")
    assert ask("rewind", fork, "--all").code == 0
    said = [each for word in ("One?", "Two?", "Three?") for each in (word, "Understood.")]
    assert texts_of(fork) == [*whole, *said]
    assert ask("rewind", fork, "--to", first["operation"]).code == 0
    assert texts_of(fork) == [*small, *said]
    assert smaller != small


def test_calls_and_results_that_are_repeated_are_not_new() -> None:
    def record(name: str, kind: str, content: object, **more: object) -> bytes:
        return json.dumps({"id": name, "type": kind, "content": content, **more}).encode() + b"\n"

    call = {"id": "read__1", "name": "read", "args": {}}
    answer = {"functionResponse": {"id": "read__1", "name": "read", "response": {"output": "tide"}}}
    known = [
        record("m1", "user", "Read it."),
        record("m2", "gemini", "", toolCalls=[{**call, "result": [answer]}]),
        record("m3", "user", [answer]),
    ]
    masked = {
        "functionResponse": {**answer["functionResponse"], "response": {"output": "in a file"}}
    }
    messages = [
        {"id": "n1", "type": "user", "content": [{"text": "Read it."}]},
        {"id": "n2", "type": "gemini", "content": [{"functionCall": call}]},
        {"id": "n3", "type": "user", "content": [masked, masked]},
        {"id": "n4", "type": "gemini", "content": [{"text": "A tide."}]},
    ]
    repeated = json.dumps({"$set": {"messages": messages}}).encode() + b"\n"
    more = record("n5", "user", "Thanks.")
    said = GeminiCli().said_since(known, [repeated, more])
    assert [json.loads(line) for line in said] == [messages[3], json.loads(more)]


def test_what_the_client_has_compacted_stays_compacted(home: Home, ask: Ask) -> None:
    path = gemini(home)
    fork = Path(forked(ask, path)["output"])
    resumed(fork)
    summary = [{"text": "<state_snapshot>The tide was in.</state_snapshot>"}]
    kept = {"id": "s1", "type": "user", "content": summary}
    write(fork, {"$set": {"messages": [kept]}})
    say(fork, "And now?")
    assert ask("rewind", fork).code == 0
    assert texts_of(fork) == [summary[0]["text"], "And now?", "Understood."]


@pytest.mark.parametrize("how", [(), ("--in-place",)], ids=["a new session", "in place"])
def test_the_clients_own_compaction_is_undone_beneath_resumes(
    home: Home, ask: Ask, how: tuple[str, ...]
) -> None:
    path = gemini(home)
    whole = texts_of(path)
    said = []
    for number, prompt in enumerate(("One?", "Two?")):
        summary = [{"text": f"<state_snapshot>Tide {number}.</state_snapshot>"}]
        message = {"id": f"s{number}", "type": "user", "content": summary}
        write(path, {"$set": {"messages": [message]}})
        resumed(path)
        say(path, prompt)
        resumed(path)
        said += [prompt, "Understood."]
    before = path.read_bytes()
    small = texts_of(path)
    assert small == ["<state_snapshot>Tide 1.</state_snapshot>", "Two?", "Understood."]
    outcome = ask("rewind", path, "--client", "--all", *how, "--json")
    assert outcome.code == 0, outcome.err
    output = Path(outcome.json["output"])
    assert texts_of(output) == [*whole, *said]
    assert ask("rewind", output).code == 0
    assert texts_of(output) == small
    if how:
        assert output.read_bytes() == before


def test_the_clients_own_compaction_is_done_better_beneath_resumes(home: Home, ask: Ask) -> None:
    path = gemini(home)
    whole = texts_of(path)
    summary = [{"text": "<state_snapshot>All of it was tides.</state_snapshot>"}]
    write(path, {"$set": {"messages": [{"id": "s", "type": "user", "content": summary}]}})
    resumed(path)
    say(path, "And now?")
    resumed(path)
    small = texts_of(path)
    output = Path(forked(ask, path, "--redo", "--keep", "60%")["output"])
    texts = texts_of(output)
    assert texts[-2:] == ["And now?", "Understood."]
    assert set(whole) & set(texts)
    assert summary[0]["text"] not in texts
    assert ask("rewind", output).code == 0
    assert texts_of(output) == [*whole, "And now?", "Understood."]
    assert ask("rewind", output, "--all").code == 0
    assert texts_of(output) == small
