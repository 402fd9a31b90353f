"""What Codex does not accept in a rollout is named, with what it accepts instead."""

import json
from typing import Any

import pytest
from formats.jsonl import read

from compactctl.model.transcript import FieldValue, RefusedRecord

ID = "0198c0de-1111-7222-8333-444455556666"
TIME = "2026-05-01T09:00:00.000Z"
Json = dict[str, Any]


def record(kind: str, payload: Json, **fields: object) -> Json:
    return {"timestamp": TIME, **fields, "type": kind, "payload": payload}


def said(text: str, **fields: object) -> Json:
    content = [{"type": "input_text", "text": text}]
    return record(
        "response_item", {"type": "message", "role": "user", "content": content}, **fields
    )


HEADER = record("session_meta", {"id": ID, "timestamp": TIME, "cwd": "/ferry", "cli_version": "1"})
CONTEXT = record("turn_context", {"cwd": "/ferry", "model": "gpt-5"})


def refused(*records: object) -> tuple[RefusedRecord, ...]:
    return read("codex", *records).refused


def numbers(*ordinals: int | None) -> list[tuple[int, object]]:
    """Return the lines whose numbers are refused, and those that are accepted instead."""
    lines: list[Json] = [
        said(f"message {index}", **({} if ordinal is None else {"ordinal": ordinal}))
        for index, ordinal in enumerate(ordinals)
    ]
    faults = refused(*lines)
    assert all(
        (fault.rule, fault.client, fault.is_sent) == ("ordinal", "Codex", True) for fault in faults
    )
    assert all(fault.values[0].path == ("ordinal",) for fault in faults)
    return [(fault.line, fault.values[0].value) for fault in faults]


def test_a_sound_session_is_accepted() -> None:
    assert refused(HEADER, CONTEXT, said("Row out.")) == ()
    assert numbers(None, None, None) == []
    assert numbers(0, 1, 2) == []


def test_numbers_may_have_gaps_and_need_not_begin_at_zero() -> None:
    assert numbers(0, 3, 7) == []
    assert numbers(5, 6) == []


def test_a_missing_number_is_the_next() -> None:
    assert numbers(0, 1, None, 3) == [(2, 2)]
    assert numbers(0, 1, None) == [(2, 2)]


def test_a_repeated_number_raises_those_behind_it() -> None:
    assert numbers(0, 1, 1, 3) == [(2, 2)]
    assert numbers(0, 1, 1, 2, 3, 9) == [(2, 2), (3, 3), (4, 4)]


def test_a_number_is_not_negative() -> None:
    assert numbers(-1, 0, 1) == [(0, 0), (1, 1), (2, 2)]


def test_what_compactctl_inserted_needs_no_number() -> None:
    ours = said("…", truncationParent="t1")
    assert refused(said("a", ordinal=0), ours, said("b", ordinal=1)) == ()


def test_a_timestamp_is_a_text() -> None:
    [fault] = refused(HEADER, said("Row out.", timestamp=1_777_626_000.25))
    assert (fault.line, fault.rule, fault.is_sent) == (1, "field-type", True)
    assert fault.values == (FieldValue(path=("timestamp",), value="2026-05-01T09:00:00.250Z"),)
    [event] = refused(HEADER, record("event_msg", {"type": "error"}, timestamp=1_777_626_000))
    assert not event.is_sent


@pytest.mark.parametrize("number", [0, -1, 1e18, 1e300])
def test_a_number_that_is_no_time_becomes_the_time_before_it(number: float) -> None:
    [fault] = refused(HEADER, said("Row out.", timestamp=number))
    assert fault.values == (FieldValue(path=("timestamp",), value=TIME),)


def test_a_byte_order_mark_hides_the_header() -> None:
    marked = b"\xef\xbb\xbf" + json.dumps(HEADER).encode()
    [fault] = refused(marked, said("Row out."))
    assert (fault.line, fault.rule) == (0, "bom")
    assert fault.values == (FieldValue(path=(), value=HEADER),)
    assert refused(HEADER, marked) == ()


def test_a_torn_header_is_written_anew() -> None:
    torn = json.dumps({**HEADER, "payload": {**HEADER["payload"], "text": "You are"}}).encode()
    [fault] = refused(torn[:-3], CONTEXT, said("Row out."))
    assert (fault.line, fault.rule, fault.is_sent) == (0, "header", True)
    assert fault.values[0].path == ()
    header: Any = fault.values[0].value
    assert (header["type"], header["timestamp"]) == ("session_meta", TIME)
    assert header["payload"] == {
        **HEADER["payload"],
        "originator": "codex_cli_rs",
        "source": "cli",
    }
    assert refused(header, CONTEXT, said("Row out.")) == ()


def test_what_is_torn_of_a_header_comes_from_the_session() -> None:
    torn = json.dumps(HEADER).encode()
    [fault] = refused(torn[: torn.index(b"0198c0de") + 4], CONTEXT, said("a", ordinal=1))
    header: Any = fault.values[0].value
    assert (header["ordinal"], header["payload"]["cwd"]) == (0, "/ferry")
    assert len(header["payload"]["id"]) == len(ID)


def test_another_torn_line_is_no_header() -> None:
    torn = json.dumps(said("Row out."))[:-5].encode()
    assert refused(torn, CONTEXT) == ()
    assert refused(HEADER, torn, CONTEXT) == ()
    assert refused(json.dumps(HEADER)[:-5].encode()) == ()


def test_a_header_with_padding_is_written_without_it() -> None:
    [fault] = refused(b"\0\0" + json.dumps(HEADER).encode(), CONTEXT)
    assert fault.values == (FieldValue(path=(), value=HEADER),)
    glued = json.dumps(HEADER).encode() + json.dumps(CONTEXT).encode()
    assert refused(glued, CONTEXT) == ()
