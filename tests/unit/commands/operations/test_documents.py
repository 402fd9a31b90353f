"""Sessions in one JSON document, which their clients write anew for every turn."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from examples import tries
from file_commands import rewind_file
from formats.hostile import HOSTILE
from hypothesis import given
from hypothesis import strategies as st
from unit.commands.conversations import TALK, group_of, log_of, squeeze, turn, turns

from compactctl.commands.verify.verify import VerifyOptions, verify
from compactctl.errors import ChangedError
from compactctl.model.tags import TAG_NAMES
from compactctl.pipeline.document_records import (
    first_records,
    read_records,
    record_digest,
    with_records,
)

Records = list[dict[str, Any]]
Client = Callable[[Records], str]

CLIENTS: dict[str, Client] = {
    "same spelling": lambda records: json.dumps(records, indent=2),
    "one line": lambda records: json.dumps(records, separators=(",", ":")),
    "tabs": lambda records: json.dumps(records, indent="\t") + "\n",
    "sorted keys": lambda records: json.dumps(records, sort_keys=True),
    "without our tags": lambda records: json.dumps(
        [{key: value for key, value in r.items() if key not in TAG_NAMES} for r in records]
    ),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "session.json"
    place.write_text(json.dumps(TALK, indent=2))
    return place


def go_on(path: Path, client: Client, *numbers: int) -> None:
    path.write_text(client(json.loads(path.read_text()) + turns(*numbers)))


def records(path: Path) -> Records:
    found: Records = json.loads(path.read_text())
    return found


def verdict(path: Path) -> str:
    [transcript] = verify(VerifyOptions(paths=(str(path),))).transcripts
    return transcript.verdict


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_a_document_goes_on_is_compacted_again_and_goes_back(path: Path, client: Client) -> None:
    original = path.read_bytes()
    squeeze(path, "prune")
    go_on(path, client, 4, 5)
    assert verdict(path) == "proven"
    before_second = records(path)
    squeeze(path, "truncate")
    go_on(path, client, 6)
    assert verdict(path) == "proven"
    assert [entry.in_effect for entry in log_of(path).operations] == [True, True]
    rewind_file(path, output=str(path.with_name("once.json")))
    assert records(path.with_name("once.json")) == before_second + turn(6)
    rewind_file(path, all=True)
    assert records(path) == TALK + turns(4, 5, 6)
    assert path.read_bytes().startswith(original.rstrip(b"\n]"))


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_without_new_records_the_very_bytes_come_back(path: Path, client: Client) -> None:
    original = path.read_bytes()
    squeeze(path, "prune")
    go_on(path, client)
    rewind_file(path)
    assert path.read_bytes() == original
    go_on(path, client)
    rewind_file(path, to=log_of(path).operations[0].step.id)
    assert any(entry.in_effect for entry in log_of(path).operations)


def test_one_group_comes_back_under_what_was_said_since(path: Path) -> None:
    result = squeeze(path, "prune", "truncate")
    go_on(path, CLIENTS["tabs"], 4)
    rewind_file(path, group=group_of(result, "truncate"))
    assert records(path)[-4:] == turn(4)
    assert len(records(path)) == len(TALK) + 4
    rewind_file(path, all=True)
    assert records(path) == TALK + turn(4)


@pytest.mark.parametrize("name", ["same spelling", "one line", "tabs", "sorted keys"])
def test_originals_inside_a_document_come_back_record_by_record(path: Path, name: str) -> None:
    out, client = path.with_name("inline.json"), CLIENTS[name]
    squeeze(path, "prune", output=str(out), layout="inline")
    go_on(out, client, 4)
    squeeze(out, "truncate", output=str(out), layout="inline")
    go_on(out, client, 5)
    assert verdict(out) == "proven"
    rewind_file(out, output=str(path.with_name("once.json")))
    assert records(path.with_name("once.json"))[-8:] == turns(4, 5)
    rewind_file(out, all=True)
    assert records(out) == TALK + turns(4, 5)


def test_a_record_that_was_edited_is_named_by_its_number(path: Path) -> None:
    squeeze(path, "prune")
    document = records(path)
    document[4]["content"] = "Something else."
    path.write_text(json.dumps(document + turn(4)))
    with pytest.raises(ChangedError, match="record 5 was edited since operation"):
        rewind_file(path)
    assert verdict(path) == "changed"
    out = path.with_name("first.json")
    rewind_file(path, all=True, output=str(out))
    assert records(out) == TALK


def test_a_document_in_its_first_state_goes_on_too(path: Path) -> None:
    original = path.read_bytes()
    squeeze(path, "prune")
    path.write_bytes(original)
    go_on(path, CLIENTS["one line"], 4)
    assert squeeze(path, "truncate").compacted
    rewind_file(path, all=True)
    assert records(path) == TALK + turn(4)


@pytest.mark.parametrize("odd", HOSTILE)
def test_a_record_that_is_deep_or_has_many_digits_is_added(path: Path, odd: str) -> None:
    original = path.read_bytes()
    squeeze(path, "truncate")
    compacted = path.read_text()
    record = '{"role": "user", "content": "x", "odd": %s}' % HOSTILE[odd]  # noqa: UP031
    path.write_text(f"{compacted.rstrip().removesuffix(']')}, {record}]")
    if odd.startswith("endless"):
        # What is left out must not be known for what was there.
        with pytest.raises(ChangedError):
            rewind_file(path)
        path.write_text(compacted)
        rewind_file(path)
        assert path.read_bytes() == original
    else:
        rewind_file(path)
        assert path.read_text().rstrip().endswith(f"{record}\n]")
        assert path.read_bytes().startswith(original.rstrip(b"\n]"))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e6, 1e6) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@tries(60)
@given(st.lists(VALUES, min_size=1, max_size=4), st.lists(VALUES, max_size=3))
def test_records_are_added_and_removed_again(old: list[Any], new: list[Any]) -> None:
    document = json.dumps({"messages": old, "title": "x"}, indent=1).encode()
    grown = with_records(document, ("messages",), [json.dumps(each) for each in new])
    assert json.loads(grown) == {"messages": old + new, "title": "x"}
    assert first_records(grown, ("messages",), len(old)) == document
    spelled = [json.dumps(old + new, sort_keys=True, ensure_ascii=False).encode()]
    again = read_records(spelled, ())
    assert again is not None
    assert again.digests == tuple(record_digest(json.dumps(each)) for each in old + new)


@tries(60)
@given(VALUES, VALUES)
def test_only_equal_records_have_one_digest(one: Any, two: Any) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(two, sort_keys=True)
    if record_digest(json.dumps(one)) == record_digest(json.dumps(two)):
        assert same or one == two
    else:
        assert not same
