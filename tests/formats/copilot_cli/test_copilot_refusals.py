"""What Copilot CLI does not accept in an event is named, with what it accepts instead."""

import json
from copy import deepcopy
from typing import Any

import pytest
from formats.copilot_cli.sessions import Record, accepted, answered, event, prompt, session
from formats.jsonl import read
from msgspec import UNSET

from compactctl.clients.copilot_cli.required_fields import find_faults
from compactctl.model.transcript import FieldValue, RefusedRecord

START = event("session.start", sessionId="s1", version=1, producer="copilot-agent")


def refused(*events: Record, version: str = "1.0.64") -> tuple[RefusedRecord, ...]:
    start = START | {"data": {**START["data"], "copilotVersion": version}}
    records = [accepted(record) for record in session(start, prompt("Row out."), *events)]
    return read("copilot-cli", *records).refused


def corrected(record: Record, *changes: Any) -> Record:
    """Return a record with these values at their paths."""
    copy = deepcopy(record)
    for change in changes:
        *outer, name = change.path
        holder: Any = copy
        for key in outer:
            holder = holder[key]
        if change.value is UNSET:
            del holder[name]
        else:
            holder[name] = change.value
    return copy


def test_a_sound_session_is_accepted() -> None:
    assert refused(answered("c1", result={"content": "x", "exitCode": 0})) == ()


@pytest.mark.parametrize(
    "fields",
    [
        {"data": None},
        {"data": {}},
        {"data": {"toolCallId": 3, "success": "yes", "result": {}}},
        {"data": {"toolCallId": "c1", "success": True, "error": {}}},
        {"id": "first"},
        {"id": None, "parentId": "root", "agentId": 5},
        {"timestamp": 1_777_626_000},
        {"timestamp": "yesterday"},
    ],
)
def test_the_values_make_an_event_acceptable(fields: Record) -> None:
    whole = accepted(session(answered("c1"))[0])
    assert list(find_faults(whole)) == []
    faults = list(find_faults({**whole, **fields}))
    assert faults
    assert list(find_faults(corrected({**whole, **fields}, *faults))) == []


def test_ids_stay_linked() -> None:
    first, second = (accepted(record) for record in session(prompt("a"), prompt("b")))
    first, second = {**first, "id": "one"}, {**second, "parentId": "one"}
    first, second = (corrected(record, *find_faults(record)) for record in (first, second))
    assert second["parentId"] == first["id"]


def test_a_missing_field_is_told_from_a_wrong_one() -> None:
    invoked = {**event("skill.invoked"), "data": {"name": "knots", "content": "Tie."}}
    [skill] = refused(invoked)
    assert (skill.line, skill.rule, skill.reason) == (
        2,
        "field-required",
        "skill.invoked has no path",
    )
    assert [(change.path, change.value) for change in skill.values] == [(("data", "path"), "")]
    [cleared] = refused(event("session.context_cleared", messagesCleared=1.5), version="1.0.102")
    assert (cleared.rule, cleared.is_sent) == ("field-value", True)
    assert [(change.path, change.value) for change in cleared.values] == [
        (("data", "messagesCleared"), 0)
    ]


NEGATIVE = answered("c1", result={"content": "x", "exitCode": -1})


@pytest.mark.parametrize(
    ("old", "path", "value"),
    [
        (NEGATIVE, ("data", "result", "exitCode"), 0),
        (
            event("session.compaction_complete", success=True, tokensRemoved=-5),
            ("data", "tokensRemoved"),
            0,
        ),
        (event("session.task_complete"), ("data", "summary"), ""),
        (event("assistant.idle", envelope={"ephemeral": False}), ("ephemeral",), UNSET),
    ],
)
def test_older_versions_refuse_more(old: Record, path: tuple[str, ...], value: object) -> None:
    [fault] = refused(old)
    assert fault.reason.endswith(", which older versions refuse")
    assert [(change.path, change.value) for change in fault.values] == [(path, value)]
    assert refused(old, version="1.0.102") == ()
    assert refused(old, version="unknown") == ()


def test_older_versions_refuse_damaged_lines() -> None:
    start, said = (accepted(record) for record in session(START, prompt("Row out.")))
    torn = json.dumps(said)[:40].encode()

    def faults(version: str) -> list[tuple[str, int]]:
        first = corrected(start, FieldValue(("data", "copilotVersion"), version))
        transcript = read("copilot-cli", first, torn + json.dumps(said).encode(), said)
        return [(fault.rule, fault.line) for fault in transcript.refused]

    assert faults("1.0.64") == [("torn", 1)]
    assert faults("1.0.102") == []


def test_what_was_loaded_since_is_accepted() -> None:
    resumed = event("session.resume", resumeTime="2026-01-02T03:04:06.000Z", eventCount=3)
    assert refused(NEGATIVE, resumed) == ()
    assert [fault.line for fault in refused(NEGATIVE, resumed, NEGATIVE)] == [4]
