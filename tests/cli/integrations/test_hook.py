"""``hook``: what was lost, how to search it, and never in the way of the client."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask, Sample
from unit.commands.client_sessions import clients

RULE = "Never push to the branch harbour-main without asking me."
ASKED = {"type": "user", "message": {"role": "user", "content": RULE}}
ANSWERED = {
    "type": "assistant",
    "message": {"role": "assistant", "content": [{"type": "text", "text": "I shall ask first."}]},
}


def told(transcript: Path, event: str, **more: str) -> bytes:
    told = {"session_id": "5", "transcript_path": str(transcript), "hook_event_name": event}
    return json.dumps({**told, **more}).encode()


def answer(ask: Ask, *arguments: str, stdin: bytes) -> Any:
    outcome = ask("client", "hook", *arguments, stdin=stdin)
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.json if outcome.out else None


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """Return a session of Claude Code in which a rule is given, before it is compacted."""
    path = tmp_path / "session.jsonl"
    parent = None
    with path.open("w") as stream:
        for number, record in enumerate((ASKED, ANSWERED)):
            ids = {"uuid": f"u{number}", "parentUuid": parent, "sessionId": "5", "cwd": "/w"}
            at = f"2026-01-01T00:00:0{number}Z"
            stream.write(json.dumps({**record, **ids, "timestamp": at}) + "\n")
            parent = f"u{number}"
    return path


@pytest.mark.parametrize("client", ["claude-code", "codex"])
@pytest.mark.parametrize("trigger", ["manual", "auto"])
def test_before_a_compaction_nothing_is_said(
    ask: Ask, session: Path, client: str, trigger: str
) -> None:
    before = session.read_bytes()
    assert answer(ask, client, stdin=told(session, "PreCompact", trigger=trigger)) is None
    assert session.read_bytes() == before
    assert list(session.parent.iterdir()) == [session]


@pytest.mark.parametrize(("client", "key"), [("claude-code", "reason"), ("codex", "stopReason")])
def test_a_compaction_by_hand_is_refused_where_that_was_asked_for(
    ask: Ask, session: Path, client: str, key: str
) -> None:
    by_hand = told(session, "PreCompact", trigger="manual")
    assert (
        f"compactctl compact {session}" in answer(ask, client, "--block-manual", stdin=by_hand)[key]
    )
    by_itself = told(session, "PreCompact", trigger="auto")
    assert answer(ask, client, "--block-manual", stdin=by_itself) is None
    spaced = session.rename(session.with_name("two words.jsonl"))
    by_hand = told(spaced, "PreCompact", trigger="manual")
    assert (
        f"compactctl compact '{spaced}'"
        in answer(ask, client, "--block-manual", stdin=by_hand)[key]
    )


def test_after_it_what_its_summary_does_not_tell_is_said(ask: Ask, session: Path) -> None:
    poor = told(session, "PostCompact", compact_summary="Everything is fine.")
    message = answer(ask, "claude-code", stdin=poor)["systemMessage"]
    assert "1 rule (Never push to the branch harbour-main" in message
    assert "view claude-code:. --archived --grep" in message
    good = told(session, "PostCompact", compact_summary=f"The user said: {RULE}")
    assert answer(ask, "claude-code", stdin=good) is None


def test_the_agent_of_pi_is_told_how_to_search_though_nothing_was_lost(
    ask: Ask, session: Path
) -> None:
    good = told(session, "PostCompact", compact_summary=f"The user said: {RULE}")
    assert "view pi:. --archived --grep" in ask("client", "hook", "pi", stdin=good).out
    assert ask("client", "hook", "opencode", stdin=good).out == ""


@pytest.mark.parametrize("client", ["opencode", "pi"])
def test_a_compaction_in_the_file_is_audited(ask: Ask, excerpt: Sample, client: str) -> None:
    compacted = excerpt("claude-code-session")
    assert ask("compact", compacted, "--stages", "truncate", "--target", "40k").code == 0
    path = compacted.with_name("claude-code-session.compacted.jsonl")
    outcome = ask("client", "hook", client, stdin=told(path, "PostCompact"))
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("The summary omits: ")
    assert outcome.out.count("\n") == 1
    assert len(outcome.out) <= 2_001


def test_the_agent_is_told_how_to_search_only_after_a_compaction(ask: Ask, session: Path) -> None:
    said = answer(ask, "codex", stdin=told(session, "SessionStart", source="compact"))
    output = said["hookSpecificOutput"]
    assert output["hookEventName"] == "SessionStart"
    assert "view codex:. --archived --grep" in output["additionalContext"]
    assert answer(ask, "codex", stdin=told(session, "SessionStart", source="startup")) is None


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [
        (("no-client",), b"{}"),
        (("codex", "--no-such-option"), b"{}"),
        ((), b"{}"),
        (("codex",), told(Path("/no/such.jsonl"), "PostCompact")),
        (("codex",), told(Path("/dev/null"), "PostCompact")),
    ],
    ids=["client", "option", "nothing", "no file", "no transcript"],
)
def test_whatever_goes_wrong_the_client_goes_on(
    ask: Ask, arguments: tuple[str, ...], stdin: bytes
) -> None:
    outcome = ask("client", "hook", *arguments, stdin=stdin)
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err.startswith("compactctl: ")
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize("stdin", [b"", b"[", b"{}", b'{"hook_event_name": 7}', b"\xff"])
def test_nothing_is_said_of_what_is_not_told(ask: Ask, stdin: bytes) -> None:
    assert answer(ask, "claude-code", stdin=stdin) is None


def test_a_summary_that_is_in_the_file_by_then_is_compared_with_what_it_stands_for(
    ask: Ask, tmp_path: Path
) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(clients.claude_code())
    later = answer(ask, "claude-code", stdin=told(path, "PostCompact"))
    assert "The summary omits: " in later["systemMessage"]
    same = told(path, "PostCompact", compact_summary=clients.SUMMARY)
    assert answer(ask, "claude-code", stdin=same) == later
    # Of another one it is not known yet what it stands for: all that is sent now.
    other = told(path, "PostCompact", compact_summary="Nothing.")
    assert answer(ask, "claude-code", stdin=other) != later


def test_of_a_session_without_messages_nothing_is_said(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b'{"type":"summary","summary":"Harbour","leafUuid":"u9"}\n')
    stdin = told(path, "PostCompact", compact_summary="Nothing.")
    assert answer(ask, "claude-code", stdin=stdin) is None
