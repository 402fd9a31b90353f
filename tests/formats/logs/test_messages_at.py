"""``--messages-at``: messages at a path of each row that no gateway known to compactctl has."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from examples import tries
from formats import anthropic_talk, openai_talk
from formats.jsonl import write_lines
from hypothesis import given
from hypothesis import strategies as st

from compactctl.__main__ import run
from compactctl.clients.records.envelope import find_list
from compactctl.clients.registry import format_named
from compactctl.clients.unsupported import guess_messages_field
from compactctl.errors import UsageError
from compactctl.model.json_paths import json_in, value_at

Captured = pytest.CaptureFixture[str]
TEXT = "The cart adds the shipping twice when a voucher is used. " * 30
MORE = [
    {"role": role, "content": f"{n} {TEXT}"} for n in range(4) for role in ("user", "assistant")
]
MODEL = "claude-sonnet-4-5"
PATH = "zq.0.turns"


def row(messages: list[dict[str, Any]], **beside: object) -> dict[str, Any]:
    return {"zq": [{"turns": [*messages, *MORE], **beside}], "response": "It prints 1."}


@pytest.fixture(
    params=[
        lambda row: row,
        lambda row: {**row, "zq": json.dumps(row["zq"])},
        lambda row: {**row, "zq": [json.dumps(row["zq"][0])]},
    ],
    ids=["json", "text", "text of a request"],
)
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    rows = (
        row(openai_talk.TALK[:-1]),
        row(anthropic_talk.TALK[:3], system="Be kind.", model=MODEL),
    )
    return write_lines(path, *map(request.param, rows))


def test_messages_are_read_at_the_path_with_what_stands_beside(log: Path, capsys: Captured) -> None:
    for path in (PATH, f".{PATH}"):
        assert run(["stats", str(log), "--messages-at", path, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["format"] == f"api-log:{PATH}"
        assert found["conversationCount"] == 2
        assert found["model"] == MODEL
        assert found["messageCount"] == 4 + 4 + 2 * len(MORE) + 2
    assert run(["view", str(log), "--messages-at", PATH]) == 0
    assert "Be kind." in capsys.readouterr().out


def test_a_file_without_messages_there_is_refused(log: Path, capsys: Captured) -> None:
    for command in ("stats", "check", "compact"):
        assert run([command, str(log), "--messages-at", "zq.turns"]) == 4
        error = capsys.readouterr().err
        assert "(line 1: no messages at zq.turns); name another with --messages-at" in error


def test_one_dialect_may_be_named_with_it(log: Path, capsys: Captured) -> None:
    given = ["--format", "anthropic-messages", "--messages-at", PATH]
    assert run(["stats", str(log), *given, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["format"] == f"anthropic-messages:{PATH}"
    assert run(["stats", str(log), "--format", "codex", "--messages-at", PATH]) == 2
    assert "codex has no messages at a path of rows" in capsys.readouterr().err
    for empty, fault in (("", "it is empty"), (".", "api-log: name the field of the messages")):
        assert run(["stats", str(log), "--messages-at", empty]) == 2
        assert fault in capsys.readouterr().err
    with pytest.raises(UsageError, match="have"):
        format_named("claude-code:a.b")


@pytest.mark.parametrize("layout", ["split", "inline"])
def test_what_was_compacted_is_read_and_restored_without_the_option(
    layout: str, log: Path, tmp_path: Path, capsys: Captured
) -> None:
    out, back = tmp_path / "out.jsonl", tmp_path / "back.jsonl"
    given = ["--messages-at", PATH, "--stages", "summarize", "--keep", "40%", "--layout", layout]
    assert run(["compact", str(log), *given, "-o", str(out)]) == 0
    assert out.read_bytes() != log.read_bytes()
    capsys.readouterr()
    assert run(["stats", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["format"] == f"api-log:{PATH}"
    assert run(["verify", str(out)]) == 0
    assert run(["rewind", str(out), "-o", str(back)]) == 0
    assert back.read_bytes() == log.read_bytes()


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"runs": {"0": {"chat": MORE}}}, "runs.0.chat"),
        ({"runs": [{"chat": MORE}]}, "runs.0.chat"),
        ({"attributes": {"gen_ai.input.messages": MORE}}, "attributes.gen_ai.input.messages"),
        ({"a": {"b": 1}, "a.b": {"7.x": {"q r": MORE}}}, "a.b.7.x.q r"),
        ({"a": {"b": 1}, "a.b": json.dumps({"c": json.dumps(MORE)})}, "a.b.c"),
        ({"v1.": {"turns": MORE}}, "v1..turns"),
    ],
)
def test_keys_of_digits_and_with_dots_are_named_as_they_are_advised(
    document: dict[str, Any], field: str, tmp_path: Path, capsys: Captured
) -> None:
    log, out, back = (tmp_path / name for name in ("log.jsonl", "out.jsonl", "back.jsonl"))
    write_lines(log, document, document)
    assert run(["stats", str(log), "--messages-at", field, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["messageCount"] == 2 * len(MORE)
    compaction = ["--stages", "summarize", "--keep", "40%", "-o", str(out)]
    assert run(["compact", str(log), "--messages-at", field, *compaction]) == 0
    assert out.read_bytes() != log.read_bytes()
    assert run(["rewind", str(out), "-o", str(back)]) == 0
    assert back.read_bytes() == log.read_bytes()
    capsys.readouterr()
    if "runs" not in document or isinstance(document["runs"], dict):
        assert run(["stats", str(log)]) == 4
        assert capsys.readouterr().err.strip().endswith(f"--messages-at {shlex.quote(field)}")


def test_each_row_says_what_a_number_is(tmp_path: Path, capsys: Captured) -> None:
    rows = ({"runs": {"0": {"chat": MORE}}}, {"runs": [{"chat": MORE}]}, {"runs.0": {"chat": MORE}})
    log = write_lines(tmp_path / "log.jsonl", *rows)
    assert run(["stats", str(log), "--messages-at", "runs.0.chat", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["messageCount"] == 3 * len(MORE)


@pytest.mark.parametrize("number", ["1", "-1", "9" * 18, "9" * 5_000, "\N{SUPERSCRIPT TWO}"])
def test_an_index_beyond_the_list_leads_nowhere(number: str) -> None:
    assert find_list({"runs": [[]]}, f"runs.{number}") is None


_TURNS = [{"role": "user", "content": "Hello."}]
_KEYS = st.text(alphabet="a0.-' é", max_size=4)
_DOCUMENTS = st.recursive(
    st.sampled_from([None, 1, "text", [], _TURNS]),
    lambda inner: (
        st.dictionaries(_KEYS, inner, max_size=3)
        | st.lists(inner, max_size=2)
        | inner.map(json.dumps)
    ),
    max_leaves=8,
)


@given(st.dictionaries(_KEYS, _DOCUMENTS, min_size=1, max_size=3))
@tries(200)
def test_the_field_that_an_error_advises_holds_messages(document: dict[str, Any]) -> None:
    field = guess_messages_field(document)
    if field is not None:
        path = find_list(document, field.removeprefix("."))
        assert path is not None
        assert json_in(value_at(document, path)) == _TURNS
