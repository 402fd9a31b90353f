"""A session is read as its client sent it, by requests that were recorded with the client.

``record.py`` records them; no client is needed here.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from clients.pieces import Piece
from clients.recorded.clients import RECORDED_CLIENTS, RecordedClient
from clients.recorded.requests import (
    OF_CLIENT,
    Recording,
    Words,
    digest_of,
    marks_in,
    marks_of_texts,
    newest,
    read_rule,
    strings_of,
)
from clients.recorded.rules import Rule
from clients.stub import Json

from compactctl.clients.sizes import client_sizes
from compactctl.commands.inspect.view import ViewOptions, view
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import CompactctlError
from compactctl.library.transcripts import load
from compactctl.tokens.budget import Budget
from compactctl.tokens.models.lookup import resolve_model
from compactctl.views.results.view import view_document


@dataclass(frozen=True, kw_only=True)
class Case:
    """A session of a client's rule, and what was recorded for it."""

    client: RecordedClient
    rule: Rule[Any]
    name: str

    @property
    def session(self) -> bytes:
        """The session as it lies in its file."""
        return self.rule.session(self.name)

    @property
    def version(self) -> str:
        """The newest version with which the client's rules were recorded."""
        return newest_version(self.client.client.name)

    def recording(self) -> Recording:
        """Return what the newest version sent."""
        recorded = read_rule(self.client.client.name, self.rule.name)[self.name]
        assert recorded.digest == digest_of(self.session), "record it again with record.py"
        return recorded.of(self.version)


@cache
def newest_version(client: str) -> str:
    """Return the newest version with which a client's rules were recorded."""
    rules = next(recorded.rules for recorded in RECORDED_CLIENTS if recorded.client.name == client)
    return newest(
        recording
        for rule in rules
        for session in read_rule(client, rule.name).values()
        for recording in session.requests
    )


def list_cases(*, compacts: bool) -> list[Any]:
    """Return the sessions of all rules that say what is sent, or when a client compacts."""
    return [
        pytest.param(
            Case(client=client, rule=rule, name=name),
            id=f"{client.client.name}-{rule.name}-{name}",
        )
        for client in RECORDED_CLIENTS
        for rule in client.rules
        if rule.compacts == compacts
        for name in rule.writers
    ]


Shown = Callable[[RecordedClient, bytes], tuple[list[Json], bool]]


@pytest.fixture
def shown(tmp_path: Path) -> Shown:
    """Return a function for the messages that ``view`` shows of a client's session.

    It also returns whether it warns that something in the session is not followed.
    """

    def view_session(client: RecordedClient, session: bytes) -> tuple[list[Json], bool]:
        path = tmp_path / "session.jsonl"
        path.write_bytes(session)
        options = ViewOptions(
            input=InputOptions(path=str(path), format=client.format or client.client.name)
        )
        try:
            document = view_document(view(options))
        except CompactctlError:
            return [], False
        is_warned = any("this is not followed" in str(warning) for warning in document["warnings"])
        return document["messages"], is_warned

    return view_session


@pytest.mark.parametrize("case", list_cases(compacts=False))
def test_it_is_shown_as_it_was_sent(case: Case, shown: Shown) -> None:
    recording, words = case.recording(), Words(case.session)
    if case.name in case.client.unchecked:
        return
    messages, is_warned = shown(case.client, case.session)
    pieces = case.client.wire.shown(messages, case.session)
    sent, seen = comparable(case.client, recording.pieces, map(words.canonical, pieces))
    if difference := first_difference(sent, seen):
        said = f"{case.rule.name} ({case.rule.about}): {difference}"
        pytest.fail(f"{said} in {case.version}", pytrace=False)
    if is_warned:
        return
    marks = {*marks_in(strings_of([message["parts"] for message in messages]))}
    assert marks <= {*recording.marks}, f"{case.rule.name}: this is not sent"
    sent_marks = marks_of_texts(case.session) & {*recording.marks}
    assert marks >= sent_marks, f"{case.rule.name}: this is sent"
    # Of names alone some are enough: the sentence around them is the client's.
    assert bool(marks) == bool(recording.marks), case.rule.name


@pytest.mark.parametrize("case", list_cases(compacts=True))
def test_it_compacts_where_it_did(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(case.session)
    name = case.client.client.name
    transcript = load(path, format=name)
    assert transcript.session.model is not None
    model = resolve_model(transcript.session.model)
    budget = Budget(window=model.window, output_reserve=0, source="", max_output=model.max_output)
    rule = client_sizes(name).rule(case.version)
    assert rule is not None
    usage = transcript.effective[-1].usage
    threshold = rule.threshold_tokens(budget)
    assert usage is not None
    assert threshold is not None
    assert (usage.context >= threshold) == case.recording().compacts


def comparable(
    client: RecordedClient, sent: Iterable[Piece], seen: Iterable[Piece]
) -> tuple[list[Piece], list[Piece]]:
    """Return both without what the client says in words of its own, which need not be shown."""
    if client.made_up is not None:
        words = Words(b"")
        of_client = {words.canonical(("result", "", text))[2] for text in client.made_up}
        return [
            piece
            for piece in sent
            if not (piece[0].startswith(OF_CLIENT) and piece[2] in of_client)
        ], [*seen]
    made_up = {call for kind, call, _ in sent if kind == f"{OF_CLIENT}result"}
    return [piece for piece in sent if not piece[0].startswith(OF_CLIENT)], [
        (kind, call, said)
        for kind, call, said in seen
        if call not in made_up
        or not (kind == f"{OF_CLIENT}result" or (kind == "result" and not said))
    ]


def first_difference(sent: Iterable[Piece], shown: Iterable[Piece]) -> str:
    """Say which piece is the first that is not the same; "" for none."""
    for number, (piece, other) in enumerate(zip_longest(sent, shown), 1):
        if piece != other:
            return f"piece {number}: sent is {piece}, shown is {other}"
    return ""
