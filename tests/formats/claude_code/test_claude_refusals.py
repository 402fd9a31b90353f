"""Where Claude Code cuts history off, and what it did not find, is named with what helps."""

import json
from typing import Any

import pytest
from formats.claude_code.sessions import (
    answered,
    boundary,
    called,
    record,
    said,
    summarized,
    user,
)
from formats.jsonl import decoded, raw_lines, read

from compactctl.clients.registry import format_named
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
    assert fault.reason == "its parent is not in the file, so the client sends nothing before it"


@pytest.mark.parametrize(
    ("before", "after", "rule", "kind"),
    [
        (1_000, 1_000, "parent-missing", "cut off"),
        (1_000, 999, "context-cleared", "context cleared"),
        (0, 1_000, "context-cleared", "cut off"),
        (1_000, 0, "context-cleared", "cut off"),
        (0, 0, "context-cleared", "cut off"),
    ],
)
def test_only_usage_that_does_not_shrink_proves_that_the_context_was_not_cleared(
    before: int, after: int, rule: str, kind: str
) -> None:
    [fault] = refused(*cut(before, after))
    assert (fault.rule, fault.line, fault.is_fatal) == (rule, 2, False)
    assert bool(fault.values) == (rule == "parent-missing")
    assert fault.island is not None
    assert (fault.island.kind, fault.island.messages) == (kind, ("u1", "a1"))


def test_a_compaction_makes_requests_smaller() -> None:
    first, second, lost, answer = cut(1_000, 400)
    summary = [boundary("b", "a1"), summarized("s", "b", "They rowed out.")]
    assert places(first, second, *summary, lost, answer) == [("context-cleared", 4)]
    smaller = reported("a3", "s", 300)
    assert places(first, second, *summary, smaller, lost, answer) == [("parent-missing", 5)]


def test_every_cut_that_is_proven_is_named_and_one_that_is_not() -> None:
    lines = [*cut(900, 1_000), user("u3", LOST, "b"), reported("a3", "u3", 1_100)]
    faults = refused(*lines)
    assert [(fault.line, fault.values[0].value) for fault in faults] == [(2, "a1"), (4, "a2")]
    assert [fault.island and fault.island.messages for fault in faults] == [
        ("u1", "a1"),
        ("u2", "a2"),
    ]
    first, second, *rest = lines
    smaller = {**second, "message": {**second["message"], "usage": {"input_tokens": 2_000}}}
    assert places(first, smaller, *rest) == [("context-cleared", 2), ("parent-missing", 4)]


def test_results_beside_a_cut_off_path_would_be_sent_again() -> None:
    talk = [
        user("u1", None, "Look twice."),
        called("a1", "u1", "c1", "both"),
        called("a2", "a1", "c2", "both"),
        answered("r1", "a1", "c1"),
        answered("r2", "a2", "c2"),
        reported("a3", "r2", 900),
        record("system", "n", "a3", subtype="turn_duration"),
    ]
    [fault] = refused(*talk, user("u2", LOST, "And back."), reported("a4", "u2", 900))
    assert fault.island is not None
    assert set(fault.island.messages) == {"u1", "a1", "a2", "r1", "r2", "a3"}


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


def torn_talk(torn: bytes, before: int, after: int) -> list[object]:
    return [
        *cut(before, before)[:2],
        user("u2", "a1", "b"),
        torn,
        user("u3", "a2", "c"),
        reported("a3", "u3", after),
    ]


def test_a_torn_line_is_named_with_what_it_cuts_off() -> None:
    torn = json.dumps(said("a2", "u2", "Aye."))[:60].encode()
    faults = refused(*torn_talk(torn, 900, 1_000))
    assert [(fault.rule, fault.line) for fault in faults] == [("torn", 3), ("parent-missing", 4)]
    assert (faults[0].is_sent, faults[0].values) == (False, ())
    assert faults[1].values[0].value == "u2"
    # At the end it cuts nothing off.
    assert refused(user("u1", None, "a"), said("a1", "u1", "Aye."), torn) == ()


WHOLE = json.dumps(said("a2", "u2", "Aye."))


@pytest.mark.parametrize(
    ("torn", "is_proof"),
    [
        (WHOLE[40:], True),
        (WHOLE.replace(": ", ":")[30:], True),
        (f"{WHOLE[:46]}{WHOLE}", True),
        # The start of one record may hold the other.
        (f"{WHOLE[:50]}{WHOLE}", False),
        (json.dumps(said("x2", "u2", "Aye.", held={"uuid": "a2"}))[:-1], False),
        (json.dumps(said("a2", None, "Aye."))[:-1], False),
        (WHOLE[: WHOLE.index('"uuid"')], False),
        (json.dumps(user("u9", "a2", "Aye."))[:90], False),
        (json.dumps(said("x2", "u2", 'It says {"uuid": "a2"} there.'))[2:], False),
    ],
)
def test_a_torn_line_with_the_missing_record_proves_what_usage_does_not(
    torn: str, *, is_proof: bool
) -> None:
    expected = [("torn", 3), ("parent-missing", 4)] if is_proof else [("context-cleared", 4)]
    for before, after in ((900, 0), (0, 900), (0, 0), (900, 800)):
        faults = refused(*torn_talk(torn.encode(), before, after))
        assert [(fault.rule, fault.line) for fault in faults] == expected
        island = faults[-1].island
        is_cleared = not is_proof and (before, after) == (900, 800)
        assert island is not None
        assert island.kind == ("context cleared" if is_cleared else "cut off")


def torn(record: Json, start: int = 0) -> bytes:
    """Return a record without its end and, if it lost that too, its start."""
    return json.dumps(record)[start : None if start else -1].encode()


def talk(name: str, tokens: int, **inner: object) -> list[Json]:
    """Return a request and its answer, ``{name}u`` and ``{name}a``."""
    answer = reported(f"{name}a", f"{name}u", tokens)
    answer["message"] |= inner
    return [user(f"{name}u", None, "Row out."), answer]


def goes_on(parent: str, tokens: int, **inner: object) -> list[Json]:
    """Return another request, ``Ru``, and its answer ``Ra``."""
    first, answer = talk("R", tokens, **inner)
    return [first | {"parentUuid": parent}, answer]


SPLIT = len('{"parentUuid": "')
NO_USAGE: Json = {"usage": {}}
SUMMARY = summarized("s", LOST, "They rowed out.")


@pytest.mark.parametrize(
    ("records", "joined"),
    [
        # The damaged record has the parent that the cut one is joined to, wherever that stands.
        pytest.param(
            [
                user("u1", None, "a"),
                torn(said("a1", "u1", "Aye.")),
                *talk("B", 5_000),
                *goes_on("a1", 1_300),
            ],
            {4: "u1"},
            id="another talk in between",
        ),
        pytest.param(
            [
                user("u1", None, "a"),
                torn(said("a1", "u1", "Aye.")),
                user("u2", "a1", "b"),
                said("a2", "u2", "Aye."),
                user("u3", "a1", "c"),
                said("a3", "u3", "Aye."),
            ],
            {4: "u1"},
            id="rewound to the damaged record",
        ),
        pytest.param(
            [
                *talk("A", 900),
                torn(user("u2", "Aa", "b")),
                torn(said("a2", "u2", "Aye.")),
                *goes_on("a2", 300),
            ],
            {4: "Aa"},
            id="one damaged record after another",
        ),
        pytest.param(
            [
                *talk("A", 900),
                torn(user("u2", "Aa", "b"), SPLIT),
                torn(said("a2", "u2", "Aye."), SPLIT),
                *goes_on("a2", 300),
            ],
            {},
            id="two with unreadable parents",
        ),
        pytest.param(
            [*talk("A", 90_000), torn(user("Qu", None, "b")), *goes_on("Qu", 2_000)],
            {},
            id="a damaged start of another talk",
        ),
        pytest.param(
            [
                *talk("A", 900),
                torn(user("Qu", None, "b")),
                torn(said("Qa", "Qu", "Aye."), 90),
                *goes_on("Qa", 2_000),
            ],
            {},
            id="a damaged start before a lost record",
        ),
        pytest.param(
            [
                *talk("A", 90_000),
                torn(boundary("b", "Aa")),
                SUMMARY | {"parentUuid": "b"},
                reported("a2", "s", 5_000),
            ],
            {},
            id="a damaged boundary",
        ),
        pytest.param(
            [
                *talk("A", 90_000),
                torn(user("u2", "Aa", "b", toolUseResult={"uuid": "gone"})),
                *goes_on("gone", 2_000),
            ],
            {},
            id="the uuid of what a damaged record holds",
        ),
        pytest.param(
            [*talk("A", 90_000), *goes_on("gone", 2_000), torn(user("gone", "Ra", "b"))],
            {},
            id="a damaged record that follows",
        ),
        # Requests are compared that the two rows belong to.
        pytest.param(
            [*talk("A", 900), user("Qu", None, "b"), *goes_on(LOST, 950)],
            {},
            id="a talk without an answer",
        ),
        pytest.param(
            [
                *talk("A", 50_000),
                user("Ru", LOST, "b"),
                user("u2", "Aa", "c"),
                reported("a2", "u2", 51_000),
                user("u3", "Ru", "d"),
                reported("a3", "u3", 3_000),
            ],
            {},
            id="a branch behind the cut",
        ),
        pytest.param(
            [
                *talk("A", 900),
                user("u2", "Aa", "b"),
                said("a2", "u2", "Aye."),
                *goes_on(LOST, 950),
            ],
            {},
            id="no size before",
        ),
        pytest.param(
            [
                *talk("A", 900),
                *goes_on(LOST, 0, **NO_USAGE),
                user("u2", "Ra", "b"),
                reported("a2", "u2", 950),
            ],
            {},
            id="no size behind",
        ),
        pytest.param([*talk("A", 900), *goes_on(LOST, 950, model="small")], {}, id="another model"),
        pytest.param([*talk("A", 900), SUMMARY, reported("a2", "s", 950)], {}, id="a summary"),
        # What followed a row does not come before it.
        pytest.param(
            [
                *talk("A", 900),
                reported("Ra", "Ru", 1_000),
                user("Ru", LOST, "b"),
                user("u2", "Ra", "c"),
                reported("a2", "u2", 1_100),
            ],
            {3: "Aa"},
            id="the answer first",
        ),
        pytest.param(
            [*({**record, "isSidechain": None} for record in talk("A", 900)), *goes_on(LOST, 950)],
            {2: "Aa"},
            id="no side",
        ),
    ],
)
def test_two_talks_are_not_joined(records: list[object], joined: dict[int, str]) -> None:
    faults = refused(*records)
    cuts = [fault for fault in faults if fault.island is not None]
    assert {cut.line: cut.values[0].value for cut in cuts if cut.values} == joined
    assert [cut.rule for cut in cuts] == ["parent-missing" if joined else "context-cleared"]
    # What is listed as not sent is of the same kind.
    islands = format_named("claude-code").islands(decoded(raw_lines(*records)))
    kinds = {name: island.kind for island in islands for name in island.messages}
    for cut in cuts:
        assert cut.island is not None
        assert kinds[cut.island.messages[-1]] == cut.island.kind


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
