"""A session is read as Claude Code sent it, by requests that were recorded with the client.

``record.py`` records them; no client is needed here.
"""

from collections.abc import Callable, Collection, Iterable
from itertools import zip_longest
from pathlib import Path

import pytest
from clients.pieces import shown_pieces
from clients.recorded.requests import (
    OF_CLIENT,
    Piece,
    Words,
    digest_of,
    marks_in,
    marks_of_texts,
    newest,
    read_rule,
    strings_of,
    values_of,
)
from clients.recorded.sessions import COMPACTS_AT, RULES, Rule
from clients.stub import Json

from compactctl.clients.claude_code.record_kinds import unmodeled
from compactctl.clients.sizes import client_sizes
from compactctl.commands.inspect.view import ViewOptions, view
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import CompactctlError
from compactctl.library.transcripts import load
from compactctl.tokens.budget import Budget
from compactctl.tokens.models.lookup import resolve_model
from compactctl.views.results.view import view_document

RECORDED = {rule.name: read_rule(rule.name) for rule in RULES}
VERSION = newest(
    recording
    for sessions in RECORDED.values()
    for session in sessions.values()
    for recording in session.requests
)
CASES = [
    pytest.param(rule, name, id=f"{rule.name}-{name}")
    for rule in RULES
    if rule is not COMPACTS_AT
    for name in rule.writers
]
View = Callable[[bytes], list[Json]]


@pytest.fixture
def viewed(tmp_path: Path) -> View:
    """Return a function that returns the messages which ``view`` shows of a session."""

    def view_session(session: bytes) -> list[Json]:
        path = tmp_path / "session.jsonl"
        path.write_bytes(session)
        options = ViewOptions(input=InputOptions(path=str(path), format="claude-code"))
        try:
            messages: list[Json] = view_document(view(options))["messages"]
        except CompactctlError:
            return []
        return messages

    return view_session


# The client resumes no session of a subagent, whose own file is shown as its requests were.
SUBAGENTS = frozenset({"only_a_sidechain"})
# Not followed here: the client pairs a result with a call behind it.
NOT_MODELED = frozenset({"result_before_its_call"})


@pytest.mark.parametrize(("rule", "name"), CASES)
def test_it_is_shown_as_it_was_sent(rule: Rule, name: str, viewed: View) -> None:
    session = rule.session(name)
    recorded = RECORDED[rule.name][name]
    assert recorded.digest == digest_of(session), "record it again with record.py"
    recording, words = recorded.of(VERSION), Words(session)
    if name in SUBAGENTS:
        assert recording.refusal
        return
    # What the client adds in words of its own stands nowhere in a session: it need not be shown, or
    # as a result in other words.
    sent = [piece for piece in recording.pieces if not piece[0].startswith(OF_CLIENT)]
    made_up = {call for kind, call, _ in recording.pieces if kind == f"{OF_CLIENT}result"}
    messages = viewed(session)
    if name in NOT_MODELED:
        return
    pieces = map(words.canonical, shown_pieces(messages, session))
    shown = [piece for piece in pieces if not is_in_other_words(piece, made_up)]
    if difference := first_difference(sent, shown):
        pytest.fail(f"{rule.name} ({rule.about}): {difference}", pytrace=False)
    if is_warned_of(session):
        return
    marks = {*marks_in(strings_of([message["parts"] for message in messages]))}
    assert marks <= {*recording.marks}, f"{rule.name}: this is not sent"
    assert marks >= marks_of_texts(session) & {*recording.marks}, f"{rule.name}: this is sent"
    # Of names alone some are enough: the sentence around them is the client's.
    assert bool(marks) == bool(recording.marks), rule.name


@pytest.mark.parametrize("name", COMPACTS_AT.writers)
def test_it_compacts_where_it_did(name: str, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(COMPACTS_AT.session(name))
    transcript = load(path, format="claude-code")
    assert transcript.session.model is not None
    model = resolve_model(transcript.session.model)
    budget = Budget(window=model.window, output_reserve=0, source="", max_output=model.max_output)
    rule = client_sizes("claude-code").rule(VERSION)
    assert rule is not None
    usage = transcript.effective[-1].usage
    threshold = rule.threshold_tokens(budget)
    assert usage is not None
    assert threshold is not None
    assert (usage.context >= threshold) == RECORDED[COMPACTS_AT.name][name].of(VERSION).compacts


def is_warned_of(session: bytes) -> bool:
    """Whether a session has records of which ``stats`` says that they are not followed."""
    records = values_of(session)
    return any(
        unmodeled(record.get("type", ""), record.get("attachment", {}).get("type", ""))
        for record in records
    )


def is_in_other_words(piece: Piece, calls: Collection[str]) -> bool:
    """Whether a piece stands for the result of one of these calls, without a word of its own."""
    kind, call, said = piece
    return call in calls and (kind == f"{OF_CLIENT}result" or (kind == "result" and not said))


def first_difference(sent: Iterable[Piece], shown: Iterable[Piece]) -> str:
    """Say which piece is the first that is not the same; "" for none."""
    for number, (piece, other) in enumerate(zip_longest(sent, shown), 1):
        if piece != other:
            return f"piece {number}: Claude Code {VERSION} sends {piece}, shown is {other}"
    return ""
