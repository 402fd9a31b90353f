"""One message as it is explained: whether it is sent, its fate, its links and the way back."""

from typing import Any

import pytest
from builders import call, user
from unit.views.measurements import measured
from unit.views.results.screens import words

from compactctl.commands.inspect.explain import (
    ExplainOptions,
    ExplainResult,
    LinkKind,
    MessageLink,
    RestoreCommand,
    SentSince,
    Way,
)
from compactctl.commands.measuring.timeline import TimelineMessage
from compactctl.commands.operations.states import HiddenBy
from compactctl.commands.planning.fates import MessageFate
from compactctl.commands.reading.transcript import InputOptions
from compactctl.model.message import MessageId, Origin, Tags
from compactctl.records import replace
from compactctl.views.results.explain import explain_document, explain_messages, explain_terminal

ENTRY = TimelineMessage(
    message=replace(call("c", "Read", file_path="a"), id=MessageId("m7")),
    tokens=1_200,
    category="tool calls",
    tools=("Read",),
    first_round=2,
    is_sent=True,
)
RESULT = ExplainResult(
    options=ExplainOptions(input=InputOptions(path="my run.jsonl"), message="7"),
    format="codex",
    measure=measured(),
    entry=ENTRY,
    line=1_007,
    hidden=None,
    sent_since=SentSince(first=2, requests=1_500, is_reported=True),
    fate=None,
    omissions=(),
    links=(),
    restore=None,
    warnings=(),
)


def lines(**changes: Any) -> list[str]:
    return words(explain_terminal(replace(RESULT, **changes)))


def entry(**changes: Any) -> TimelineMessage:
    return replace(ENTRY, **changes)


def test_what_a_message_is_and_takes() -> None:
    assert lines() == [
        "my run.jsonl: line 1,007 · assistant Read · 1,200 tokens",
        "sent yes, since request 2 of 1,500",
        "id m7",
        "category tool calls",
        "counted with o200k_base (exact)",
    ]
    archived = lines(line=None, entry=entry(tokens=1, is_sent=False), sent_since=None)
    assert archived[0] == "my run.jsonl: in the archive · assistant Read · 1 token"


@pytest.mark.parametrize(
    ("fields", "mark"),
    [
        ({"origin": Origin(is_summary=True)}, " · summary"),
        ({"tags": Tags(is_truncation_marker=True)}, " · marker"),
        ({"tags": Tags(edit_id="g")}, " · rewritten"),
        ({}, ""),
    ],
)
def test_what_stands_for_others_is_marked(fields: dict[str, Any], mark: str) -> None:
    message = replace(user("x"), id=MessageId("m7"), **fields)
    first, *_ = lines(entry=entry(message=message, tools=()))
    assert first == f"my run.jsonl: line 1,007 · user{mark} · 1,200 tokens"


@pytest.mark.parametrize(
    ("is_sent", "since", "hidden", "said"),
    [
        (True, None, None, "yes, with the next request"),
        (
            True,
            SentSince(first=2, requests=9, is_reported=False),
            None,
            "yes, since request 2 of 9, counted by answers",
        ),
        (False, None, None, "no, not on the branch of the next request"),
        (False, None, HiddenBy(group="g1", tag=""), "no, hidden by g1"),
        (False, None, HiddenBy(group="g1", tag="", stage="dedup"), "no, hidden by g1 (dedup)"),
        (
            False,
            SentSince(first=2, requests=9, is_reported=True),
            HiddenBy(group="g1", tag=""),
            "no, hidden by g1; sent since request 2 of 9",
        ),
    ],
)
def test_whether_and_since_when_it_is_sent(
    is_sent: bool,  # noqa: FBT001 - a case of the table
    since: SentSince | None,
    hidden: HiddenBy | None,
    said: str,
) -> None:
    found = lines(entry=entry(is_sent=is_sent), sent_since=since, hidden=hidden)
    assert found[1] == f"sent {said}"


FATE = MessageFate(
    line=7, id="m7", role="user", tools=(), tokens_after=1, fate="kept", stage="", reason="new"
)


@pytest.mark.parametrize(
    ("fate", "said"),
    [
        (FATE, "kept: new"),
        (replace(FATE, fate="hidden", stage="drop"), "hidden by drop: new"),
        (replace(FATE, fate="rewritten", stage="strip"), "rewritten by strip, 1 token left: new"),
    ],
)
def test_what_a_compaction_would_do_to_it(fate: MessageFate, said: str) -> None:
    assert lines(fate=fate)[2] == f"would be {said} (profile default)"
    document = explain_document(replace(RESULT, fate=fate))["fate"]
    assert document == {
        "fate": fate.fate, "stage": fate.stage, "reason": "new", "tokensAfter": 1,
    }  # fmt: skip


def link(kind: LinkKind, line: int | None = 8, **changes: Any) -> MessageLink:
    base = MessageLink(kind=kind, id=MessageId("m8"), line=line, role="tool", what="Read")
    return replace(base, **changes)


def test_links_are_in_the_order_of_their_kinds() -> None:
    links = (
        link("hidden by it", None, what="g1"),
        link("reads again", covers=True, what="a.py"),
        link("call", 1_006),
        link("reads again", 12, what="a.py"),
    )
    assert lines(links=links)[2:-3] == [
        "called by line 1,006 · tool · Read",
        "read again line 8 · tool · a.py, all of it",
        "line 12 · tool · a.py",
        "replaces m8 · tool · g1",
    ]


@pytest.mark.parametrize(
    ("count", "more"),
    [(5, []), (6, ["and 1 more message; see --json"]), (7, ["and 2 more messages; see --json"])],
)
def test_five_links_of_a_kind_are_listed(count: int, more: list[str]) -> None:
    found = lines(links=tuple(link("edits", number) for number in range(count)))
    assert len(found) == 5 + 5 + len(more)
    assert found[2].startswith("edited later line 0 ")
    assert found[7:-3] == more


@pytest.mark.parametrize(
    ("way", "options"),
    [
        ("group", " --group 'g 1'"),
        ("operation", ""),
        ("client", " --client"),
        ("client, all", " --client --all"),
    ],
)
def test_how_to_bring_it_back(way: Way, options: str) -> None:
    restore = RestoreCommand(way=way, group="g 1")
    assert lines(restore=restore)[5:] == [f"restore compactctl rewind 'my run.jsonl'{options}"]


def test_a_document_says_the_same() -> None:
    hidden = HiddenBy(group="g1", tag="", stage="dedup")
    document = explain_document(
        replace(
            RESULT,
            hidden=hidden,
            entry=entry(is_sent=False, message=replace(ENTRY.message, conversation=1)),
            links=(link("call"),),
            restore=RestoreCommand(way="group", group="g1"),
            warnings=("odd",),
        )
    )
    assert {name: document[name] for name in ("id", "line", "conversation", "role", "tools")} == {
        "id": "m7", "line": 1_007, "conversation": 2, "role": "assistant", "tools": ["Read"],
    }  # fmt: skip
    assert (document["sent"], document["hiddenBy"], document["stage"]) == (False, "g1", "dedup")
    assert document["since"] == {"first": 2, "requests": 1_500, "isReported": True}
    assert document["links"][0]["kind"] == "call"
    assert document["wayBack"] == {"way": "group", "group": "g1"}
    assert (document["tokens"], document["category"]) == (1_200, "tool calls")
    plain = explain_document(RESULT)
    assert (plain["sent"], plain["hiddenBy"], plain["stage"], plain["fate"]) == (
        True,
        None,
        None,
        None,
    )
    assert list(explain_messages(replace(RESULT, warnings=("odd",)))) == ["warning: odd"]
