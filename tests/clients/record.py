"""Records what Claude Code sends for small sessions, one for each side of its rules.

    python tests/clients/record.py --client CLAUDE [--client CLAUDE] [--only RULE[/SESSION]]

Each session is put into a home of its own and resumed against a model on loopback. What was sent
goes to tests/clients/recorded/claude-code, beside what other versions sent.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from clients.desk import Desk
from clients.given import claude_code_folder, model_of
from clients.pieces import request_pieces
from clients.recorded.drafts import MODEL, SESSION
from clients.recorded.requests import (
    PROMPT,
    Piece,
    RecordedSession,
    Recording,
    Words,
    digest_of,
    marks_in,
    merged,
    read_rule,
    strings_of,
    write_rule,
)
from clients.recorded.sessions import RULES, Rule
from clients.running import ClaudeCode
from clients.stub import Json, StubModel


def main() -> int:
    """Record the sessions with each client."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--client", type=Path, action="append", required=True)
    parser.add_argument("--only", default="", help="RULE, or RULE/SESSION")
    options = parser.parse_args()
    rule_name, _, session_name = options.only.partition("/")
    rules = [rule for rule in RULES if rule_name in ("", rule.name)]
    recorders = [Recorder.of(program) for program in options.client]
    for rule in rules:
        record_rule(rule, session_name, recorders)
    return 0


@dataclass(frozen=True, kw_only=True)
class Recorder:
    """A client of one version, and the model that it asks."""

    program: Path
    version: str
    model: StubModel

    @classmethod
    def of(cls, program: Path) -> "Recorder":
        """Find out which version it is."""
        done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
        return cls(program=program, version=done.stdout.split()[0], model=StubModel())

    def recorded(self, session: bytes, window: str) -> Recording:
        """Resume a session with the model of its newest answer, and return what was sent."""
        with tempfile.TemporaryDirectory() as folder:
            desk = Desk(
                home=Path(folder) / "home",
                programs=self.program.parent,
                model=self.model,
                asked=model_of(session) or MODEL,
            )
            desk.project.mkdir(parents=True)
            path = desk.home / claude_code_folder(desk) / f"{SESSION}.jsonl"
            path.parent.mkdir(parents=True)
            path.write_bytes(session)
            self.model.expect()
            if window == "by itself":
                ClaudeCode().ask(desk, PROMPT, SESSION, model_of(session), {})
                compacts = not any(asks_for_all(asked) for asked in self.model.requests)
                return Recording(versions=(self.version,), compacts=compacts)
            limit = None if window == "1M" else 0
            printed = ClaudeCode().say(desk, PROMPT, session=SESSION, limit=limit)
        requests = [request for request in self.model.requests if request.get("tools")]
        if not requests:
            return Recording(versions=(self.version,), refusal=refusal_in(printed))
        words = Words(session)
        return Recording(
            versions=(self.version,),
            pieces=tuple(map(words.canonical, before_prompt(requests[0]))),
            marks=marks_in(strings_of(requests[0]["messages"])),
        )


def record_rule(rule: Rule, only: str, recorders: Sequence[Recorder]) -> None:
    """Record the sessions of a rule, beside what other versions sent."""
    sessions = read_rule(rule.name)
    with ThreadPoolExecutor(len(recorders)) as pool:
        for name in rule.writers:
            session = rule.session(name)
            digest = digest_of(session)
            earlier = sessions.get(name)
            requests = earlier.requests if earlier and earlier.digest == digest else ()
            if only in ("", name):
                record = partial(Recorder.recorded, session=session, window=rule.window)
                for sent in pool.map(record, recorders):
                    requests = merged(requests, sent)
                    print(rule.name, name, *summary(sent), sep="\t", flush=True)  # noqa: T201
            sessions[name] = RecordedSession(digest=digest, requests=requests)
    written = {name: sessions[name] for name in rule.writers if sessions[name].requests}
    write_rule(rule.name, rule.about, written)


def asks_for_all(request: Json) -> bool:
    """Whether a request holds the beginning of the session, and the prompt behind it."""
    pieces = [*request_pieces(request)]
    return pieces[:1] == [("text", "", "Q1 first")] and ("text", "", PROMPT) in pieces


def refusal_in(printed: str) -> str:
    """Return what a client says where it resumes nothing, without its warnings and our paths."""
    said = next(line for line in printed.splitlines() if not line.startswith("⚠"))
    return re.sub(r":? ?/\S+", "", said).replace(SESSION, "ID")


def before_prompt(request: Json) -> Iterator[Piece]:
    """Yield what a request holds before the prompt."""
    pieces = [*request_pieces(request)]
    last = max(at for at, piece in enumerate(pieces) if piece == ("text", "", PROMPT))
    yield from pieces[:last]


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
