"""One compaction judged: what it lost, what it made up, and what was looked at again."""

from typing import Any

import pytest
from builders import (
    assistant,
    attached,
    call,
    conversation,
    result,
    summary,
    system,
    thinking,
    user,
)
from examples import tries
from hypothesis import given
from hypothesis import strategies as st

from compactctl.audit.audit import AuditInput, audit
from compactctl.audit.findings import Audit, LossKind
from compactctl.history.references import SourceRef
from compactctl.model.message import Message

CONFIG = "\n".join(f"setting_{n} = {n}" for n in range(30))
BEFORE = conversation(
    system("You are an agent."),
    user("Make the port configurable, but never change the default of 8080."),
    call("a", "Read", file_path="src/config.py"),
    result("a", CONFIG),
    thinking("I wonder about reset_everything."),
    call("b", "Edit", file_path="src/port.py", old_string="8080", new_string="load_server_port()"),
    result("b", "The file has been updated."),
    assistant("The port is read by load_server_port now."),
    call("c", "Bash", command="pytest tests"),
    result("c", "E   NameError: name 'load_server_port' is not defined\n1 failed", is_error=True),
    call("d", "TodoWrite", todos=[
        {"content": "Import load_server_port in main", "status": "pending"},
        {"content": "Read the settings", "status": "completed"},
    ]),
    result("d", "Todos have been modified."),
    call("e", "Bash", command="grep -rn load_server_port src"),
    result("e", "src/port.py:3: load_server_port()"),
)  # fmt: skip
GOOD = """
The port becomes configurable; the default of 8080 must never be changed.
src/port.py was edited: it calls load_server_port. src/config.py was read.
pytest tests failed with NameError: name 'load_server_port' is not defined.
Still to do: import load_server_port in main.
"""


def count(text: str) -> int:
    return len(text.split())


def audited(text: str | None, *later: Message, kept: tuple[Message, ...] = ()) -> Audit:
    fields: dict[str, Any] = {"before": BEFORE, "source": BEFORE, "later": conversation(*later)}
    return audit(AuditInput(after=(*kept, summary(text or "")), summary=text, **fields), count)


def lost(found: Audit) -> dict[LossKind, list[str]]:
    return {kind: [each.text for each in found.lost_of(kind)] for kind in found.known_counts}


def test_a_good_summary_loses_nothing_and_makes_nothing_up() -> None:
    found = audited(GOOD)
    assert (found.lost, found.invented) == ((), ())
    assert found.known_counts == {
        "rule": 1, "task": 1, "file": 1, "read": 1, "error": 1, "identifier": 1
    }  # fmt: skip


def test_a_bad_one_loses_everything() -> None:
    assert lost(audited("Some work was done.")) == {
        "rule": ["Make the port configurable, but never change the default of 8080."],
        "task": ["Import load_server_port in main"],
        "file": ["src/port.py"],
        "error": ["E   NameError: name 'load_server_port' is not defined"],
        "identifier": ["load_server_port"],
        "read": ["src/config.py"],
    }


def test_what_is_lost_names_its_line() -> None:
    spots = {each.kind: each.ref for each in audited("Some work was done.").lost}
    assert spots == {
        "rule": SourceRef(2), "task": SourceRef(11), "file": SourceRef(6), "error": SourceRef(9),
        "identifier": SourceRef(14), "read": SourceRef(3),
    }  # fmt: skip


def test_what_stays_is_told_as_well() -> None:
    found = audited("Some work was done.", kept=BEFORE[5:])
    assert [each.kind for each in found.lost] == ["rule", "read"]


def test_a_finished_task_and_an_error_that_was_overcome_are_no_loss() -> None:
    later = conversation(
        *BEFORE,
        call("f", "Bash", command="cd app && pytest tests -q"),
        result("f", "12 passed"),
        call("g", "TodoWrite", todos=[{"content": "Import it in main", "status": "completed"}]),
        result("g", "Todos have been modified."),
    )
    found = audit(AuditInput(before=later, after=(), summary="", source=later), count)
    assert found.known_counts["task"] == found.known_counts["error"] == 0


def test_of_a_pasted_document_only_what_demands_is_a_rule() -> None:
    pasted = (
        "The hook currently never writes. You must not add a dependency. " + "It is long. " * 200
    )
    before = conversation(user(pasted), assistant("Fine."))
    found = audit(AuditInput(before=before, after=(), summary="", source=before), count)
    assert [each.text for each in found.lost] == ["You must not add a dependency."]


def test_what_came_up_again_is_marked_and_stands_first() -> None:
    found = audited(
        "Some work was done on load_server_port.",
        assistant("Go on."),
        call("f", "Read", file_path="src/config.py"),
        result("f", "x = 1"),
    )
    assert [each.mentioned_again for each in found.lost_of("read")] == [SourceRef(2)]
    assert [each.mentioned_again for each in found.lost_of("file")] == [None]


@pytest.mark.parametrize(
    ("text", "kind", "claim"),
    [
        ('The user said "please delete all of it now".', "quote", "please delete all of it now"),
        ("See src/other.py.", "path", "src/other.py"),
        ("It calls drop_server_port.", "identifier", "drop_server_port"),
        ("It took 4711 tries.", "number", "4711"),
    ],
)
def test_what_is_in_no_message_is_made_up(text: str, kind: str, claim: str) -> None:
    invented = audited(f"{GOOD}\n{text}").invented or ()
    assert [(each.kind, each.text, each.line) for each in invented] == [(kind, claim, 7)]


def test_what_the_client_knows_beside_the_messages_is_not_made_up_but_for_numbers() -> None:
    text = f"{GOOD} It stands in src/other.py, 4711 lines of it."
    compaction = AuditInput(
        before=BEFORE,
        after=(summary(text),),
        summary=text,
        source=BEFORE,
        client_context="src/other.py 4711",
    )
    assert [each.kind for each in audit(compaction, count).invented or ()] == ["number"]


def test_of_a_summary_that_cannot_be_read_only_looks_are_judged() -> None:
    found = audited(None, call("f", "Read", file_path="src/config.py"), result("f", CONFIG))
    assert (found.known_counts, found.lost, found.invented) == ({}, (), None)
    assert len(found.rereads) == 1


def test_the_same_file_and_the_same_search_were_looked_at_again() -> None:
    found = audited(
        GOOD,
        call("f", "Read", file_path="src/config.py"),
        result("f", "\n".join(f"{n + 1}→{line}" for n, line in enumerate(CONFIG.split("\n")))),
        call("g", "Bash", command="grep -rn load_server_port src"),
        result("g", "src/port.py:3: load_server_port()"),
    )
    whats = [(each.what, each.ref, each.first_seen) for each in found.rereads]
    assert whats == [
        ("src/config.py", SourceRef(1), SourceRef(4)),
        ("grep -rn load_server_port src", SourceRef(3), SourceRef(14)),
    ]
    assert found.read_calls == 2
    assert found.reread_tokens == found.read_tokens > count(CONFIG)


@pytest.mark.parametrize(
    "later",
    [
        (call("f", "Read", file_path="src/config.py"), result("f", "all = 'new'\nnothing = 'old'")),
        (call("f", "Read", file_path="src/new.py"), result("f", CONFIG)),
        (call("f", "Read", file_path="src/config.py"), result("f", "No such file", is_error=True)),
        (call("f", "Bash", command="pytest tests"), result("f", "1 failed")),
    ],
    ids=["changed", "another file", "failed", "a run"],
)
def test_what_shows_something_new_is_no_second_look(later: tuple[Message, ...]) -> None:
    assert audited(GOOD, *later).rereads == ()


def test_what_is_still_there_or_was_looked_at_since_needs_no_excuse() -> None:
    read = (call("f", "Read", file_path="src/config.py"), result("f", CONFIG))
    again = (call("g", "Read", file_path="src/config.py"), result("g", CONFIG))
    assert audited(GOOD, *read, kept=BEFORE[2:4]).rereads == ()
    assert audited(GOOD, *read, kept=(attached("src/config.py", CONFIG),)).rereads == ()
    assert len(audited(GOOD, *read, *again).rereads) == 1


@tries()
@given(st.lists(st.sampled_from(BEFORE), unique=True), st.text())
def test_to_tell_everything_is_to_lose_nothing(chosen: list[Message], text: str) -> None:
    before = conversation(*chosen, user(text))
    whole = AuditInput(before=before, after=before, summary="", source=before)
    assert audit(whole, count).lost == ()


def test_a_claim_that_no_line_holds_as_it_stands_has_no_line() -> None:
    text = 'They said "please delete \x1b[33mall of it now".'
    assert [each.line for each in audited(f"{GOOD}\n{text}").invented or ()] == [0]
