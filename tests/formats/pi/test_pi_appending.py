"""What is appended to a session of pi is read by the client, which bridges no damage."""

import json
from typing import Any

import pytest

from compactctl.clients.pi.native import PiNativeAppend


def _line(**entry: Any) -> bytes:
    return f"{json.dumps(entry)}\n".encode()


def _said(name: str, parent: str | None) -> bytes:
    message = {"role": "user", "content": [{"type": "text", "text": name}]}
    return _line(type="message", id=name, parentId=parent, message=message)


def test_an_entry_whose_parent_was_damaged_is_told_which_one_it_follows() -> None:
    header = _line(type="session", version=3, id="s", timestamp="t", cwd="/w")
    damaged = b'{"type": "message", "id": "b", "parentId": "a", "mess\n'
    kept = {"summary": "short", "firstKeptEntryId": "d", "tokensBefore": 9}
    compaction = _line(type="compaction", id="x", parentId="d", timestamp="t", **kept)
    start = (header, _said("a", None), damaged, _said("c", "b"), _said("d", "c"))
    now = (*start, compaction, _said("e", "x"))
    block = PiNativeAppend().lines_to_append(now, (*start, _said("e", "d")), "0123456789ab")
    parents = {entry["id"]: entry["parentId"] for entry in map(json.loads, block)}
    assert parents == {"c": "a", "e": "d"}
    assert json.loads(block[-1])["id"] == "e"


def test_appended_entries_are_normalized_to_their_place() -> None:
    header = _line(type="session", version=3, id="s", timestamp="t", cwd="/w")
    now = (header, _said("a", None), _said("b", "a"), _said("c", "b"))
    wanted = (header, _said("a", None), _said("n", "a"), _said("c", "n"))
    block = PiNativeAppend().lines_to_append(now, wanted, "0123456789ab")
    assert PiNativeAppend().lines_to_append(now, now, "0123456789ab") == []
    assert PiNativeAppend().normalized(now) is now
    names = [json.loads(line)["id"] for line in PiNativeAppend().normalized((*now, *block))]
    assert names == ["s", "a", "b", "n", "c"]


def test_nothing_is_carried_over_an_edit_by_the_client() -> None:
    edit = _line(type="context_edit", id="e", parentId="a", targetId="a", replacement=None)
    block = (_said("a", None),)

    assert [*PiNativeAppend().carry(block, (_said("b", "a"),), "0123456789ab")][:1] == [*block]
    with pytest.raises(ValueError, match="compacted by the client"):
        list(PiNativeAppend().carry(block, (edit,), "0123456789ab"))
