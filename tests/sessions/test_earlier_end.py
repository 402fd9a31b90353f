"""A session continues from an earlier line: a branch that was left, or before a compaction."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask
from refusals.talks import FILE_NAMES, WRITERS, sound_talk
from sessions.homes import Home
from sessions.long_sessions import claude, codex

from compactctl.commands.reading.transcript import InputOptions, load

Rows = list[Any]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def rows(form: str) -> Rows:
    return list(WRITERS[form](sound_talk()).records)


def write(name: str, records: Sequence[Any]) -> Path:
    path = Path(name)
    path.write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in records))
    return path


def sent(path: Path) -> list[str]:
    """Return the messages that the next request holds, as text."""
    messages = load(InputOptions(path=str(path))).transcript.effective
    return [str(message.parts) for message in messages]


def message_lines(path: Path) -> list[int]:
    """Return the lines of the messages that are sent, from 1."""
    messages = load(InputOptions(path=str(path))).transcript.effective
    return sorted({message.line + 1 for message in messages})


@pytest.mark.parametrize("form", ["claude-code", "codex", "pi", "copilot-cli"])
def test_it_is_as_it_was_when_any_line_was_written(form: str, ask: Ask) -> None:
    records = rows(form)
    path = write(FILE_NAMES[form], records)
    for line in message_lines(path):
        as_it_was = write("before.jsonl", records[:line])
        outcome = ask("rescue", path, "--from", str(line), "-o", "new.jsonl", "-f")
        assert outcome.code == 0, outcome
        assert outcome.out.startswith(f"continues from line {line}")
        assert sent(Path("new.jsonl")) == sent(as_it_was)
        assert ask("rewind", "new.jsonl", "-o", "back.jsonl", "-f").code == 0
        assert Path("back.jsonl").read_bytes() == path.read_bytes()


def rewound_by_claude(records: Rows) -> Rows:
    """Rewind to the fourth record, and say something else."""
    new = json.loads(json.dumps(records[4]))
    new |= {"uuid": "0" * 8, "parentUuid": records[3]["uuid"], "timestamp": "2026-03-03T00:00:00Z"}
    new["message"]["content"] = "Or berth 5?"
    return [*records, new]


def rolled_back_by_codex(records: Rows) -> Rows:
    event = {"type": "thread_rolled_back", "num_turns": 1}
    return [*records, {**records[-1], "type": "event_msg", "payload": event}]


def left_by_pi(records: Rows) -> Rows:
    new = json.loads(json.dumps(records[1]))
    return [*records, new | {"id": "ffffffff", "parentId": records[3]["id"]}]


def compacted_by_claude(records: Rows) -> Rows:
    boundary: dict[str, Any] = {
        "type": "system",
        "subtype": "compact_boundary",
        "content": "Compacted",
    }
    boundary |= {"uuid": "b" * 8, "parentUuid": None, "logicalParentUuid": records[-1]["uuid"]}
    boundary |= {"timestamp": "2026-03-03T00:00:00Z", "compactMetadata": {"trigger": "manual"}}
    summary = {**records[0], "uuid": "c" * 8, "parentUuid": "b" * 8, "isCompactSummary": True}
    summary["message"] = {"role": "user", "content": "They booked a berth."}
    return [*records, boundary, summary]


BRANCHES: Mapping[str, tuple[str, Callable[[Rows], Rows]]] = {
    "rewound": ("claude-code", rewound_by_claude),
    "compacted": ("claude-code", compacted_by_claude),
    "rolled back": ("codex", rolled_back_by_codex),
    "another branch": ("pi", left_by_pi),
}


@pytest.mark.parametrize("what", BRANCHES)
def test_what_is_not_sent_any_more_can_be_continued(what: str, ask: Ask) -> None:
    form, alter = BRANCHES[what]
    records = rows(form)
    path, before = write(FILE_NAMES[form], alter(records)), write("before.jsonl", records)
    assert sent(path) != sent(before)
    outcome = ask("rescue", path, "--from", str(len(records)), "-o", "new.jsonl")
    assert outcome.code == 0, outcome
    assert sent(Path("new.jsonl")) == sent(before)


@pytest.mark.parametrize("write_session", [claude, codex])
def test_in_a_store_it_becomes_a_new_session(
    write_session: Callable[[Home], Path], home: Home, ask: Ask
) -> None:
    path = write_session(home)
    data, lines = path.read_bytes(), message_lines(path)
    outcome = ask("rescue", path, "--from", str(lines[-3]), "--json")
    assert outcome.code == 0, outcome
    report = outcome.json["compact"]
    assert report["from"]["line"] == lines[-3]
    assert report["forkedTo"] in outcome.json["continueWith"]
    assert path.read_bytes() == data
    new = Path(report["output"])
    archived = ask("view", "--archived", "--json", new).json["messages"]
    assert len(archived) >= report["from"]["messagesLeftOut"] > 0
    assert ask("rewind", "--all", new).code == 0
    assert message_lines(new) == lines
    assert ask("verify", new).code == 0


def test_it_is_not_written_twice(home: Home, ask: Ask) -> None:
    path = claude(home)
    line = str(message_lines(path)[3])
    first = ask("rescue", path, "--from", line, "--json").json["compact"]
    assert (
        ask("rescue", path, "--from", line, "--json").json["compact"]["earlier"]
        == (first["forkedTo"])
    )
    other = str(message_lines(path)[4])
    assert ask("rescue", path, "--from", other, "--json").json["compact"]["forkedTo"]


@pytest.mark.parametrize("place", [("-o", "new.jsonl"), ("--in-place",)])
def test_a_compaction_before_the_line_can_be_undone_with_it(place: Sequence[str], ask: Ask) -> None:
    records = compacted_by_claude(rows("claude-code"))
    later = {**records[0], "uuid": "d" * 8, "parentUuid": "c" * 8}
    path = write("session.jsonl", [*records, later, {**later, "uuid": "e" * 8}])
    data = path.read_bytes()
    outcome = ask("rescue", path, "--from", str(len(records)), "--redo", *place)
    assert outcome.code == 0, outcome
    new = Path("new.jsonl") if "-o" in place else path
    assert ask("verify", new).code == 0
    assert ask("rewind", "--all", new).code == 0
    assert new.read_bytes() == data


def test_a_note_behind_a_branch_says_that_it_continues_there(ask: Ask) -> None:
    records = rewound_by_claude(rows("claude-code"))
    note = {"type": "last-prompt", "sessionId": records[0]["sessionId"], "explicit": True}
    records.insert(4, note | {"leafUuid": records[3]["uuid"]})
    records.insert(-1, note | {"leafUuid": records[-2]["uuid"]})
    path = write("session.jsonl", records)
    line = len(records) - 2
    assert ask("rescue", path, "--from", str(line), "-o", "new.jsonl").code == 0
    assert message_lines(Path("new.jsonl"))[-1] == line


def test_the_command_that_undoes_it_undoes_all_of_it(home: Home, ask: Ask) -> None:
    path = claude(home)
    data = path.read_bytes()
    line = str(message_lines(path)[-2])
    outcome = ask("rescue", path, "--from", line, "--target", "52k", "-o", "new.jsonl")
    assert outcome.code == 0, outcome
    assert "compactctl rewind new.jsonl --all" in outcome.out
    assert ask("rewind", "new.jsonl", "--all").code == 0
    assert Path("new.jsonl").read_bytes() == data


def test_an_error_about_nothing_in_it_writes_nothing(ask: Ask) -> None:
    path = write("session.jsonl", rows("claude-code"))
    error = "thinking blocks in the latest assistant message cannot be modified"
    outcome = ask("rescue", path, "--from", "5", "--from-error", error, "-o", "new.jsonl")
    assert outcome.code == 5, outcome
    assert not Path("new.jsonl").exists()


def test_a_dry_run_says_what_it_would_do(ask: Ask) -> None:
    path = write("session.jsonl", rows("claude-code"))
    outcome = ask("rescue", path, "--from", "4", "-n")
    assert outcome.code == 0, outcome
    assert outcome.out.startswith("continues from line 4, without 6 later messages\n")
    assert "compactctl rescue session.jsonl --from 4" in outcome.err
    assert [file.name for file in Path().iterdir() if file.is_file()] == ["session.jsonl"]


def of_a_subagent(records: Rows) -> Rows:
    side = {**records[-1], "uuid": "5" * 8, "parentUuid": None, "isSidechain": True}
    return [*records, side]


@pytest.mark.parametrize(
    ("line", "options", "said"),
    [
        ("99", (), "no message '99'"),
        ("nothing", (), "no message 'nothing'"),
        ("11", (), "line 11 would not be sent"),
        ("3", ("--native",), "leave out --native"),
    ],
)
def test_where_it_cannot_continue_it_says_why(
    line: str, options: Sequence[str], said: str, ask: Ask
) -> None:
    path = write("session.jsonl", of_a_subagent(rows("claude-code")))
    data = path.read_bytes()
    outcome = ask("rescue", path, "--from", line, *options)
    assert (outcome.code, outcome.out) == (2, ""), outcome
    assert said in outcome.err
    assert path.read_bytes() == data


def test_a_document_has_no_lines_to_continue_from(ask: Ask) -> None:
    Path("request.json").write_bytes(WRITERS["anthropic"](sound_talk()).data())
    outcome = ask("rescue", "request.json", "--from", "1", "-o", "new.json")
    assert outcome.code == 2
    assert "--from needs a session in lines" in outcome.err
