"""What Claude Code sends of a session that was appended to, by a model of its own loader."""

import json
from pathlib import Path
from random import Random

import pytest
from cli.asking import Ask, Outcome
from sessions.claude_loader import LARGE, sent_by_claude
from sessions.homes import Home, Record
from sessions.long_sessions import SAID
from sessions.read_files import INTENT, PRUNE, SUMMARY, TELLS, goes_on, record

SHOWN = "toolUseResult"


class _Writer:
    """Writes turns as the client does: parallel calls, progress, attachments."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._tip = "a1"
        self.records: list[Record] = []

    def turn(self, number: int) -> None:
        self._add("user", f"q{number}", message=_said(f"What do logs {number} say?"))
        if self._random.random() < 0.4:
            noted = {"type": "text", "content": "a note " * self._random.choice((9, 900))}
            self._add("attachment", f"n{number}", attachment=noted)
        told = {"type": "text", "text": INTENT * 9}
        self._add("assistant", f"t{number}", message=_answered(f"m{number}", told))
        calls = [f"{number}.{place}" for place in range(self._random.randint(1, 4))]
        for call in calls:
            block: Record = {
                "type": "tool_use",
                "id": f"c{call}",
                "name": "Read",
                "input": {"path": call},
            }
            self._add("assistant", f"c{call}", message=_answered(f"m{number}", block))
        for call in calls:
            self._result(call)
        block = {"type": "text", "text": "Read."}
        self._add("assistant", f"e{number}", message=_answered(f"e{number}", block))

    def _result(self, call: str) -> None:
        parent = f"c{call}"
        if self._random.random() < 0.4:
            self._add("progress", f"p{call}", parent, data={"type": "hook_progress"})
            parent = f"p{call}"
        text = f"{call}: " + "the pilot waited for the tide. " * 60
        block = {"type": "tool_result", "tool_use_id": f"c{call}", "content": text}
        message = {"role": "user", "content": [block]}
        self._add("user", f"r{call}", parent, message=message, **{SHOWN: {"stdout": text}})

    def _add(self, kind: str, name: str, parent: str = "", **fields: object) -> None:
        time = f"2026-01-02T03:{len(self.records):02}:05.000Z"
        made = record(kind, name, parent or self._tip, **{**fields, "timestamp": time})
        self.records.append(made)
        self._tip = name


def _said(text: str) -> Record:
    return {"role": "user", "content": text}


def _answered(response: str, block: Record) -> Record:
    usage = {"input_tokens": 90_000, "output_tokens": 9}
    return {"id": response, "role": "assistant", "model": "claude-sonnet-4-5", "content": [block],
            "usage": usage}  # fmt: skip


def written(home: Home, seed: int) -> Path:
    writer = _Writer(seed)
    for number in range(5):
        writer.turn(number)
    return home.claude(SAID, *writer.records, version=TELLS)


def ok(outcome: Outcome) -> None:
    assert outcome.code == 0, outcome.err


@pytest.fixture(params=[LARGE, 1], ids=["small", "large"])
def limit(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return the size above which the client reads nothing beside the chain."""
    limit: int = request.param
    monkeypatch.setattr("compactctl.clients.claude_code.chain._MAX_FULLY_READ", limit)
    return limit


@pytest.mark.each_choice
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("stages", [PRUNE, SUMMARY], ids=["prune", "summarize"])
def test_it_is_sent_like_a_copy_and_like_the_original_once_undone(
    home: Home, ask: Ask, limit: int, seed: int, stages: tuple[str, ...]
) -> None:
    path, copy = written(home, seed), home.root / "copy.jsonl"
    whole = sent_by_claude(path.read_bytes())
    ok(ask("compact", path, *stages, "-o", copy))
    ok(ask("compact", path, "--native", *stages))
    small = sent_by_claude(path.read_bytes(), limit)
    assert small == sent_by_claude(copy.read_bytes()) != whole
    goes_on(path, "And now?")
    ok(ask("rewind", path))
    *undone, newest = sent_by_claude(path.read_bytes(), limit)
    assert undone == whole
    assert newest[0] == "And now?"


def test_of_a_rewritten_result_no_copy_is_repeated_until_it_is_undone(home: Home, ask: Ask) -> None:
    path = written(home, 0)
    before = path.read_bytes()
    ok(ask("compact", path, "--native", *PRUNE))
    appended = [json.loads(line) for line in path.read_bytes()[len(before) :].splitlines()]
    results = [each for each in appended if each["uuid"].startswith("r")]
    assert len(results) > 5
    assert not [each for each in results if SHOWN in each]
    goes_on(path, "And now?")
    ok(ask("rewind", path))
    newest = {each["uuid"]: each for each in map(json.loads, _chained(path.read_bytes()))}
    assert all(SHOWN in newest[each["uuid"]] for each in results)


def test_a_long_record_is_not_repeated_to_follow_another(home: Home, ask: Ask) -> None:
    path = written(home, 0)
    long = "a word " * 9_000
    lines = path.read_bytes().splitlines(keepends=True)
    place = next(at for at, line in enumerate(lines) if b'"uuid": "q2"' in line)
    noted = record(
        "attachment", "long", "e1", attachment={"type": "skill_listing", "content": long}
    )
    after = {**json.loads(lines[place]), "parentUuid": "long"}
    lines[place : place + 1] = [json.dumps(each).encode() + b"\n" for each in (noted, after)]
    path.write_bytes(b"".join(lines))
    whole = sent_by_claude(path.read_bytes())
    ok(ask("compact", path, "--native", *SUMMARY))
    assert path.read_bytes().count(long.encode()) == 1
    goes_on(path, "And now?")
    ok(ask("rewind", path))
    assert sent_by_claude(path.read_bytes())[:-1] == whole
    assert path.read_bytes().count(long.encode()) == 1


def _chained(data: bytes) -> list[bytes]:
    return [line for line in data.splitlines() if b'"uuid"' in line]
