"""The watch names what is new in a session, in a client's code and in its requests."""

from dataclasses import replace
from pathlib import Path

import pytest
from clients.recorded.requests import Recording
from clients.stub import Answer, Json, StubModel
from clients.vocabulary import (
    changes,
    fields_in,
    in_no_table,
    read_vocabulary,
    table_of,
    write_vocabulary,
)
from clients.watch import changed
from clients.watched import WATCHED, CodeWords, Watched

CLAUDE_CODE = next(watched for watched in WATCHED if watched.client.name == "claude-code")


def test_new_kinds_and_fields_are_named() -> None:
    records: list[Json] = [
        {"type": "user", "uuid": "u", "message": {"role": "user", "content": [{"type": "text"}]}},
        {"type": "attachment", "attachment": {"type": "tide_table", "hours": 6}, "by/path": 1},
        {"type": "harbour-log", "entry": "calm"},
    ]
    watched = replace(
        CLAUDE_CODE, words=(CodeWords(name="r", files="*", pattern=b"", in_table=True),)
    )

    words = {"r": frozenset({"user", "TideTable"})}
    table = table_of(CLAUDE_CODE)
    assert [*in_no_table(records, words, watched, table)] == [
        "line 2: tide_table",
        "line 3: harbour-log",
        "r: TideTable",
    ]
    fields = fields_in(records, watched)
    accepted = {
        **fields,
        "attachment tide_table": frozenset({"type", "attachment", "attachment.type", "ebb"}),
    }
    news = [*changes(accepted, fields, gone=False)]
    assert news == ["attachment tide_table: new: attachment.hours"]
    assert [*changes(accepted, fields, gone=True)][-1] == "attachment tide_table: gone: ebb"
    assert "message.content:text" in fields["user"]


def test_words_are_those_near_what_is_named(tmp_path: Path) -> None:
    code = tmp_path / "client" / "code.js"
    code.parent.mkdir()
    code.write_text('type:"far"' + " " * 80 + 'kinds={type:"near",type:"by"}' + 'type:"behind"')
    words = CodeWords(name="w", files="client/*.js", pattern=rb'type:"(\w+)"')

    assert words.of(tmp_path, tmp_path) == {"far", "near", "by", "behind"}
    near = replace(words, near=b"kinds=", reach=29)
    assert near.of(tmp_path, tmp_path) == {"near", "by"}
    assert replace(words, files="~/client/*").of(Path("/none"), tmp_path)
    assert not replace(words, files="moved/*").of(tmp_path, tmp_path)


def test_what_is_accepted_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accepted = read_vocabulary("claude-code")
    assert accepted.version
    assert "processEntry" in accepted.words["steps"]
    monkeypatch.setattr("clients.vocabulary._FOLDER", tmp_path)
    assert not read_vocabulary("claude-code").words
    write_vocabulary("claude-code", accepted)
    assert read_vocabulary("claude-code") == accepted


@pytest.mark.parametrize("watched", WATCHED, ids=lambda watched: watched.client.name)
def test_every_client_was_accepted_whole(watched: Watched) -> None:
    accepted = read_vocabulary(watched.client.name)
    assert {*accepted.words} == {group.name for group in watched.words}
    assert all(accepted.words.values())
    assert accepted.fields


def test_a_request_that_changed_is_said_to_be() -> None:
    before = Recording(versions=("1.0.0",), pieces=(("text", "", "Q1"), ("text", "", "A1")))
    assert not changed(before, replace(before, versions=("1.1.0",)))
    now = replace(before, pieces=(("text", "", "Q1"), ("reasoning", "", "A1")))
    assert changed(before, now).startswith("piece 2 was ('text',")
    assert changed(before, replace(before, pieces=before.pieces[:1]))
    assert "Gone." in changed(before, Recording(versions=("1.1.0",), refusal="Gone."))


@pytest.mark.parametrize(
    "path", ["/messages", "/responses", "/chat/completions", ":streamGenerateContent"]
)
def test_the_model_calls_two_tools_at_once(path: str) -> None:
    model = StubModel()
    try:
        second = Answer(tool="look", arguments={"at": "quay"})
        model.expect(replace(second, tool="listen", beside=(second,)))
        _, events = model.answer(path, {"tools": [{}]})
        said = str([*events])
    finally:
        model.close()
    assert "listen" in said
    assert "look" in said
    assert said.count("000001_0") >= 1
