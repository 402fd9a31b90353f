"""Where Claude Code cuts history off, and what it did not find, is named with what helps."""

import json
from typing import Any

from formats.claude_code.sessions import boundary, record, said, summarized, user
from formats.jsonl import read

from compactctl.model.transcript import FieldValue, RefusedRecord

LOST = "0b0b0b0b-0000-4000-8000-000000000000"
Json = dict[str, Any]


def refused(*records: object) -> tuple[RefusedRecord, ...]:
    return read("claude-code", *records).refused


def places(*records: object) -> list[tuple[str, int]]:
    return [(fault.rule, fault.line) for fault in refused(*records)]


def reported(uuid: str, parent: str, tokens: int) -> Json:
    usage = {"input_tokens": tokens, "output_tokens": 5}
    return said(uuid, parent, "Aye.", inner={"usage": usage, "stop_reason": "end_turn"})


def cut(before: int, after: int) -> list[Json]:
    """Return a session whose third record has lost its parent, with the size of two requests."""
    return [
        user("u1", None, "Row out."),
        reported("a1", "u1", before),
        user("u2", LOST, "And back."),
        reported("a2", "u2", after),
    ]


def test_a_record_without_its_parent_is_linked_to_the_one_before_it() -> None:
    [fault] = refused(*cut(900, 1_000))
    assert (fault.client, fault.rule, fault.line) == ("Claude Code", "parent-missing", 2)
    assert fault.values == (FieldValue(("parentUuid",), "a1"),)
    assert not fault.is_fatal


def test_a_smaller_request_shows_that_the_context_was_cleared() -> None:
    assert refused(*cut(1_000, 999)) == ()
    assert len(refused(*cut(1_000, 1_000))) == 1


def test_a_compaction_makes_requests_smaller() -> None:
    first, second, lost, answer = cut(1_000, 400)
    summary = [boundary("b", "a1"), summarized("s", "b", "They rowed out.")]
    assert places(first, second, *summary, lost, answer) == [("parent-missing", 4)]


def test_without_sizes_the_file_decides() -> None:
    first, last = user("u1", None, "Row out."), user("u2", LOST, "And back.")
    assert places(first, last) == [("parent-missing", 1)]


def test_every_cut_is_named() -> None:
    lines = [user("u1", None, "a"), user("u2", LOST, "b"), user("u3", LOST, "c")]
    faults = refused(*lines)
    assert [(fault.line, fault.values[0].value) for fault in faults] == [(1, "u1"), (2, "u2")]


def test_what_the_client_joins_or_never_sends_is_no_cut() -> None:
    times = [{"timestamp": f"2026-03-01T10:00:0{second}.000Z"} for second in (1, 3)]
    first, last = user("u1", None, "a", **times[0]), user("u2", LOST, "b", **times[1])
    assert refused(first, last) == ()
    # A session that goes on in another file begins with a record of which the parent is there.
    assert refused(user("u1", LOST, "a"), said("a1", "u1", "Aye.")) == ()
    side = user("x1", LOST, "Look around.", isSidechain=True)
    assert refused(user("u1", None, "a"), side, said("a1", "u1", "Aye.")) == ()
    notice = record("system", "n1", None, subtype="informational", content="Welcome.")
    assert refused(notice, user("u1", LOST, "a")) == ()
    # An abandoned branch is not sent either way.
    branch = said("a1", LOST, "Aye.")
    assert refused(user("u1", None, "a"), branch, said("a2", "u1", "Aye, aye.")) == ()


def test_a_torn_line_is_named_with_what_it_cuts_off() -> None:
    torn = json.dumps(said("a1", "u1", "Aye."))[:60].encode()
    faults = refused(user("u1", None, "a"), torn, user("u2", "a1", "b"), said("a2", "u2", "Aye."))
    assert [(fault.rule, fault.line) for fault in faults] == [("torn", 1), ("parent-missing", 2)]
    assert (faults[0].is_sent, faults[0].values) == (False, ())
    assert faults[1].values[0].value == "u1"
    # At the end it cuts nothing off.
    assert refused(user("u1", None, "a"), said("a1", "u1", "Aye."), torn) == ()


LINK = {"type": "pr-link", "sessionId": "s", "prNumber": 3, "prUrl": "https://host/3"}


def versioned(version: str) -> Json:
    return user("u1", None, "a", version=version)


def test_older_versions_do_not_find_a_session_that_begins_with_a_link() -> None:
    [fault] = refused(LINK, versioned("2.1.143"))
    assert (fault.rule, fault.line, fault.is_sent, fault.values) == ("header", 0, False, ())
    assert refused(LINK, versioned("2.1.197")) == ()
    assert refused(versioned("2.1.143"), LINK) == ()


def test_older_versions_skip_a_record_behind_a_byte_order_mark() -> None:
    marked = b"\xef\xbb\xbf" + json.dumps(versioned("2.1.100")).encode()
    [fault] = refused(marked)
    assert (fault.rule, fault.line) == ("bom", 0)
    assert fault.values == (FieldValue((), versioned("2.1.100")),)
    assert refused(b"\xef\xbb\xbf" + json.dumps(versioned("2.1.332")).encode()) == ()
