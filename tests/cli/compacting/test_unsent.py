"""The stage unsent: what a client keeps and never sends leaves the file, and comes back."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask, Sample
from file_commands import load_file
from formats.claude_code import sessions as claude
from formats.codex import rollouts as codex
from formats.copilot_cli import sessions as copilot
from formats.gemini_cli import talks as gemini
from formats.jsonl import write_lines
from formats.opencode import sessions as opencode
from formats.pi import sessions as pi
from sessions.homes import Home, Said

from compactctl.commands.reading.proof import expected_messages
from compactctl.views.terminal.text import size_text

Json = dict[str, Any]
# What the records below keep beside what they send, and nothing else has.
SCREEN = "only on the screen"
UNSENT = ("--stages", "unsent")


def _claude() -> list[Json]:
    copy = {"file": {"content": SCREEN}}
    return [
        {"type": "file-history-snapshot", "messageId": "u", "snapshot": {"a": 1}},
        claude.user("u", None, "Read it"),
        claude.called("a", "u", "call"),
        claude.record("progress", "p", "a", data={"type": "hook_progress", "text": SCREEN}),
        claude.answered("r", "p", "call", toolUseResult=copy),
        claude.record("progress", "q", "r", data={"type": "bash_progress", "text": SCREEN}),
        claude.said("s", "q", "It says ok."),
    ]


def _codex() -> list[Json]:
    return [
        codex.record("session_meta", id="s", base_instructions={"text": "base"}),
        codex.message("user", "Read it"),
        codex.event("user_message", message="Read it"),
        codex.call("c"),
        codex.event("exec_command_end", call_id="c", aggregated_output=SCREEN),
        codex.output("c", "ok"),
        codex.item("ghost_snapshot", ghost_commit={"id": "g"}),
        codex.message("assistant", "It says ok."),
    ]


def _pi() -> list[Json]:
    answered = pi.answered("c")
    answered["message"] |= {"details": {"diff": SCREEN}}
    return [pi.HEADER, *pi.chained(pi.prompt("Read it"), pi.called("c"), answered, pi.said("So."))]


def _opencode() -> list[Json]:
    read = opencode.tool("c", "read", {"filePath": "a"}, output="ok", metadata={"preview": SCREEN})
    asked = opencode.user(opencode.message_id(0), opencode.text("Read it"))
    asked["info"]["summary"] = {"title": "T", "diffs": [{"before": SCREEN}]}
    # What a call had until it was interrupted is sent, and stands where others keep a copy.
    half = {"interrupted": True, "output": "half of it"}
    ran = opencode.tool("d", "bash", {}, status="error", error="aborted", metadata=half)
    messages = [asked, opencode.assistant(opencode.message_id(1), read, ran)]
    return [{"info": opencode.SESSION, "messages": messages}]


def _copilot() -> list[Json]:
    answered = copilot.answered("c")
    answered["data"]["result"]["detailedContent"] = SCREEN
    return copilot.session(
        copilot.prompt("Read it"),
        copilot.called("c"),
        copilot.event("hook.start", input=SCREEN),
        answered,
        copilot.event("hook.end", output=SCREEN),
        copilot.said("It says ok."),
    )


def _gemini() -> list[Json]:
    tool = gemini.tool("c", "read_file", {"p": 1}, gemini.answered("c", "read_file", output="ok"))
    shown = gemini.gemini("g", "It says ok.", tool | {"resultDisplay": SCREEN})
    return [gemini.SESSION, gemini.user("u", {"text": "Read it"}), shown]


CLIENTS: dict[str, Callable[[], list[Json]]] = {
    "claude-code": _claude,
    "codex": _codex,
    "pi": _pi,
    "opencode": _opencode,
    "copilot-cli": _copilot,
    "gemini-cli": _gemini,
}
EACH = pytest.mark.parametrize("client", CLIENTS)


def written(path: Path, records: list[Json]) -> Path:
    return write_lines(path, *records)


def records_of(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def client() -> str:
    """Return whose session it is, unless a test is about several."""
    return "claude-code"


@pytest.fixture
def session(tmp_path: Path, client: str) -> Path:
    return written(tmp_path / "run.jsonl", CLIENTS[client]())


@EACH
def test_it_goes_while_all_that_is_sent_stays(ask: Ask, session: Path, client: str) -> None:
    before = session.read_bytes()
    sent = load_file(session).transcript
    assert SCREEN in before.decode()
    done = ask("compact", session, *UNSENT, "--in-place", "--json").json
    now = load_file(session).transcript
    assert SCREEN not in session.read_text()
    assert sent.format == now.format == client
    assert [m.id for m in now.effective] == [m.id for m in sent.effective]
    assert [m.content for m in expected_messages(now.effective)] == [
        m.content for m in expected_messages(sent.effective)
    ]
    assert not now.opaque
    assert (done["before"]["bytes"], done["after"]["bytes"]) == (
        len(before),
        session.stat().st_size,
    )
    assert done["restatedUsage"] is None
    again = ask("compact", session, *UNSENT, "--in-place")
    assert "nothing was changed" in again.out
    assert ask("verify", session).code == 0
    (operation,) = ask("log", session, "--json").json["operations"]
    assert [(g["stage"], g["messages"]) for g in operation["groups"]] == [("unsent", 0)]
    assert ask("rewind", session).code == 0
    assert session.read_bytes() == before


def test_what_followed_a_record_of_progress_follows_what_that_followed(
    ask: Ask, session: Path
) -> None:
    before = records_of(session)
    assert ask("compact", session, *UNSENT, "--in-place").code == 0
    after = records_of(session)
    assert [(r.get("uuid"), r.get("parentUuid")) for r in after] == [
        (None, None), ("u", None), ("a", "u"), ("r", "a"), ("s", "r"),
    ]  # fmt: skip
    # Nothing else of these records changed.
    kept = {r["uuid"]: r for r in before if "uuid" in r}
    for record in after[1:]:
        old = {k: v for k, v in kept[record["uuid"]].items() if k != "toolUseResult"}
        assert record | {"parentUuid": old["parentUuid"]} == old


@pytest.mark.parametrize(
    ("client", "mark"), [("claude-code", "file-history-snapshot"), ("codex", "ghost_snapshot")]
)
def test_the_states_by_which_a_client_undoes_its_changes_go_only_when_asked_for(
    ask: Ask, session: Path, client: str, mark: str
) -> None:
    assert ask("compact", session, *UNSENT, "--in-place").code == 0
    assert mark in session.read_text(), client
    assert "--unsent-snapshots" in ask("compact", session, *UNSENT, "--in-place").out
    assert ask("compact", session, *UNSENT, "--unsent-snapshots", "--in-place").code == 0
    assert mark not in session.read_text()


def test_it_tells_the_size_of_the_file_before_and_after(ask: Ask, session: Path) -> None:
    shown = ask("compact", session, *UNSENT, "--dry-run").out
    assert "never sent: 2 progress records" in shown
    assert f"\nfile  {size_text(session.stat().st_size)} → " in shown


@pytest.mark.parametrize("layout", ["--native", "--layout=inline", "-o-"])
def test_where_nothing_can_leave_the_file_it_says_so(
    ask: Ask, excerpt: Sample, layout: str
) -> None:
    session = excerpt("claude-code-session")
    before = session.read_bytes()
    made = ask("compact", session, *UNSENT, layout, "--while-open", "--dry-run")
    assert made.code == 0, made.err
    assert "every record stays in the file" in made.out
    assert "nothing was changed" in made.out
    assert session.read_bytes() == before


def test_together_with_other_stages_each_group_comes_back_by_itself(
    ask: Ask, tmp_path: Path
) -> None:
    records = _claude()
    for turn in range(4):
        last = records[-1]["uuid"]
        records += [
            claude.user(f"u{turn}", last, "And this? " * 200),
            claude.called(f"a{turn}", f"u{turn}", f"c{turn}"),
            claude.answered(f"r{turn}", f"a{turn}", f"c{turn}", SCREEN, toolUseResult={"x": 1}),
            claude.said(f"s{turn}", f"r{turn}", "It says so. " * 200),
        ]
    session = written(tmp_path / "run.jsonl", records)
    before = session.read_bytes()
    both = ("--stages", "unsent,truncate", "--keep-turns", "1")
    done = ask("compact", session, *both, "--in-place", "--json").json
    groups = {stage["name"]: stage["group"] for stage in done["stages"]}
    assert "toolUseResult" not in session.read_text()
    small = load_file(session).transcript.effective
    assert len(small) < 20
    assert ask("rewind", session, "--group", groups["truncate"]).code == 0
    assert "toolUseResult" not in session.read_text()
    assert len(load_file(session).transcript.effective) == 20
    assert ask("rewind", session, "--to", done["operation"]).code == 0
    assert ask("rewind", session, "--group", groups["unsent"]).code == 0
    assert [m.id for m in load_file(session).transcript.effective] == [m.id for m in small]
    assert session.read_text().count("toolUseResult") > 0
    assert ask("rewind", session, "--all").code == 0
    assert session.read_bytes() == before


def test_a_session_in_its_store_becomes_a_new_one(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    home = Home(root=tmp_path)
    more = {"type": "progress", "uuid": "p", "parentUuid": None, "data": {"text": SCREEN}}
    session = home.claude(Said(), more)
    before = session.read_bytes()
    assert SCREEN in before.decode()
    done = ask("compact", session, *UNSENT, "--json").json
    assert session.read_bytes() == before
    assert Path(done["output"]).parent == session.parent
    assert SCREEN not in Path(done["output"]).read_text()
    assert done["after"]["bytes"] == Path(done["output"]).stat().st_size
