"""Records what a client sends for small sessions, one for each side of its rules.

    python tests/clients/record.py PROGRAM [PROGRAM ...] [--only RULE[/SESSION]]

Each session is put into a home of its own and resumed against a model on loopback. What was sent
goes to tests/clients/recorded, beside what other versions sent. PROGRAM is the path of a client.
"""

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from clients.desk import Desk, version_of
from clients.given import model_of
from clients.recorded.clients import RECORDED_CLIENTS, RecordedClient
from clients.recorded.requests import (
    PROMPT,
    Piece,
    RecordedSession,
    Recording,
    Words,
    conversation_of,
    digest_of,
    marks_in,
    merged,
    read_rule,
    strings_of,
    write_rule,
)
from clients.recorded.rules import Rule
from clients.stub import Json, StubModel


def main() -> int:
    """Record the sessions with each program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", type=Path, nargs="+", metavar="PROGRAM")
    parser.add_argument("--only", default="", help="RULE, or RULE/SESSION")
    options = parser.parse_args()
    rule_name, _, session_name = options.only.partition("/")
    recorders = [Recorder.of(program) for program in options.programs]
    for client in RECORDED_CLIENTS:
        chosen = [recorder for recorder in recorders if recorder.client is client]
        for rule in client.rules if chosen else ():
            if rule_name in ("", rule.name):
                record_rule(client, rule, session_name, chosen)
    return 0


@dataclass(frozen=True, kw_only=True)
class Recorder:
    """A client of one version, and the model that it asks."""

    client: RecordedClient
    program: Path
    version: str
    model: StubModel

    @classmethod
    def of(cls, program: Path) -> "Recorder":
        """Find out whose program it is, and which version."""
        client = next(
            client for client in RECORDED_CLIENTS if client.client.program == program.name
        )
        version = version_of(program)
        return cls(client=client, program=program, version=version, model=StubModel())

    def recorded(self, rule: Rule[Any], name: str) -> Recording:
        """Resume a session with the model of its newest answer, and return what was sent."""
        session = rule.session(name)
        self.model.expect()
        with tempfile.TemporaryDirectory() as folder:
            desk = Desk(
                home=Path(folder) / "home",
                programs=self.program.parent,
                model=self.model,
                asked=model_of(session),
            )
            desk.project.mkdir(parents=True)
            printed = self.client.resume(rule, session, desk)
        asked = self.model.requests
        if rule.compacts:
            compacts = not any(map(self._asks_for_all, asked))
            return Recording(versions=(self.version,), compacts=compacts)
        requests = [request for request in asked if request.get("tools")]
        if not requests:
            return Recording(versions=(self.version,), refusal=refusal_in(printed))
        words = Words(session)
        return Recording(
            versions=(self.version,),
            pieces=tuple(map(words.canonical, self._before_prompt(requests[0]))),
            marks=marks_in(strings_of(conversation_of(requests[0]))),
        )

    def _asks_for_all(self, request: Json) -> bool:
        """Whether a request holds the beginning of the session, and the prompt behind it."""
        pieces = [*self.client.wire.request(request)]
        return pieces[:1] == [("text", "", "Q1 first")] and ("text", "", PROMPT) in pieces

    def _before_prompt(self, request: Json) -> Iterator[Piece]:
        pieces = [*self.client.wire.request(request)]
        last = max(at for at, piece in enumerate(pieces) if piece == ("text", "", PROMPT))
        yield from pieces[:last]


def record_rule(
    client: RecordedClient, rule: Rule[Any], only: str, recorders: Sequence[Recorder]
) -> None:
    """Record the sessions of a rule, beside what other versions sent."""
    sessions = read_rule(client.client.name, rule.name)
    with ThreadPoolExecutor(len(recorders)) as pool:
        for name in rule.writers:
            digest = digest_of(rule.session(name))
            earlier = sessions.get(name)
            requests = earlier.requests if earlier and earlier.digest == digest else ()
            if only in ("", name):
                record = partial(Recorder.recorded, rule=rule, name=name)
                for sent in pool.map(record, recorders):
                    requests = merged(requests, sent)
                    print(rule.name, name, *summary(sent), sep="\t", flush=True)  # noqa: T201
            sessions[name] = RecordedSession(digest=digest, requests=requests)
    written = {name: sessions[name] for name in rule.writers if sessions[name].requests}
    write_rule(client.client.name, rule.name, rule.about, written)


def refusal_in(printed: str) -> str:
    """Return what a client says where it resumes nothing, without warnings, our paths and ids."""
    said = next((line for line in printed.splitlines() if not line.startswith("⚠")), "")
    return re.sub(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b", "ID", re.sub(r":? ?/\S+", "", said))


def summary(recording: Recording) -> Iterator[str]:
    """Yield what was sent in few words."""
    yield recording.versions[-1]
    if recording.refusal:
        yield f"refused: {recording.refusal}"
    if recording.compacts is not None:
        yield f"compacts: {recording.compacts}"
    yield json.dumps([f"{kind[:6]} {call} {said}" for kind, call, said in recording.pieces])
    if recording.marks:
        yield " ".join(recording.marks)


if __name__ == "__main__":
    sys.exit(main())
