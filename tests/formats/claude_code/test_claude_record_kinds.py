"""Every kind of record of Claude Code is known, and what is not followed is said."""

from typing import get_args

import pytest
from formats.claude_code.sessions import attached, read, record, said, user

from compactctl.clients.claude_code.record_kinds import (
    ATTACHMENTS,
    RECORDS,
    SUBTYPES,
    Form,
    unmodeled,
)
from compactctl.clients.records.record_kinds import Effect

UNMODELED_RECORDS = [name for name in RECORDS if unmodeled(name, "")]
UNMODELED_ATTACHMENTS = [name for name in ATTACHMENTS if unmodeled("attachment", name)]


def test_every_kind_says_what_it_is() -> None:
    assert {kind.effect for kind in (*RECORDS.values(), *SUBTYPES.values())} == {*get_args(Effect)}
    assert {kind.form for kind in ATTACHMENTS.values()} == {*get_args(Form)}


@pytest.mark.parametrize("name", ATTACHMENTS)
def test_only_attachments_that_are_read_have_paths(name: str) -> None:
    kind = ATTACHMENTS[name]
    assert bool(kind.paths) == (kind.form not in ("unread", "unsent", "statement"))
    assert len(kind.paths) == 2 or kind.form not in ("file", "list")


@pytest.mark.parametrize("name", UNMODELED_RECORDS)
def test_a_record_that_is_not_followed_is_named_once(name: str) -> None:
    row = {"type": name, "sessionId": "s"}
    found = read(user("u", None, "go"), row, row, said("a", "u", "done"))

    [warning] = found.warnings
    assert warning.startswith(f"line 2: {name}: ")


@pytest.mark.parametrize("name", UNMODELED_ATTACHMENTS)
def test_a_statement_that_is_not_followed_is_named(name: str) -> None:
    found = read(user("u", None, "go"), attached("x", "u", name), said("a", "x", "done"))

    [warning] = found.warnings
    assert warning.startswith(f"line 2: attachment/{name}: ")


@pytest.mark.parametrize("name", [n for n, kind in SUBTYPES.items() if kind.effect == "never sent"])
def test_notices_are_neither_sent_nor_missed(name: str) -> None:
    row = record("system", "s", "u", subtype=name, content="words " * 40)
    found = read(user("u", None, "go"), row, said("a", "s", "done"))

    assert [message.id for message in found.effective] == ["u", "a"]
    assert not found.unread.lost


@pytest.mark.parametrize(
    "row",
    [
        record("never-seen", "x", "u", text="words " * 40),
        {"type": "never-seen", "sessionId": "s", "said": ["words " * 40]},
        record("system", "x", "u", subtype="never_seen", content="words " * 40),
        attached("x", "u", "never_seen", text="words " * 40),
    ],
)
def test_what_is_unknown_may_be_sent(row: dict[str, object]) -> None:
    found = read(user("u", None, "go"), row, said("a", "u", "done"))

    assert found.unread.lost
