"""Which sessions are listed, in which order, and under which names."""

import re
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask
from cli.screens.runners import PIECES, commands_in
from cli.screens.terminal import run_on_terminal
from false_usage import LIES, with_usage
from hypothesis import given
from hypothesis import strategies as st
from real.choice import FILES, client_of
from sessions.bundled_sessions import ID, sample, session_in
from sessions.homes import DAY, HOUR, MINUTE, Home, Said, everything, many

from compactctl.clients.session import Session, SessionDetails, SessionEntry
from compactctl.clients.stores import ALL_STORES
from compactctl.commands.measuring.session_size import session_size
from compactctl.commands.sessions import SessionFilter, ShortIds, parse_since, sessions
from compactctl.errors import UsageError
from compactctl.store.client_folders import UserEnvironment

NOW = 1_800_000_000.0
TOO_SMALL = ["three", "a hundredth", "the answer", "what is new", "zero", "negative", "text"]


def titles(home: Home, most: int = 0, **wanted: Any) -> list[str]:
    chosen = SessionFilter(**wanted, limit=most)
    rows = sessions(chosen, UserEnvironment(home=home.root), home.now).rows
    return [row.session.details.title for row in rows]


@pytest.fixture
def several(home: Home) -> Home:
    """Return a home with sessions that differ in everything that can be asked for."""
    home.claude(Said(name="1", title="Tides", project="/p/one", context=190_000, age=HOUR))
    home.codex(Said(name="2", title="Berths", project="/p/one/sub", context=100_000, age=DAY))
    home.pi(Said(name="3", title="Pilots and tides", project="/p/one-more", age=2 * DAY))
    home.vscode(Said(name="4", title="Chat", project="/p/two", age=30 * DAY))
    home.claude(Said(name="5", title="Printed", age=MINUTE), entrypoint="sdk-cli")
    return home


def test_the_newest_come_first(several: Home) -> None:
    assert titles(several) == ["Tides", "Berths", "Pilots and tides", "Chat"]
    assert titles(several, most=2) == ["Tides", "Berths"]
    assert titles(several, hidden=True)[0] == "Printed"


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"clients": ("claude", "pi")}, ["Tides", "Pilots and tides"]),
        ({"clients": ("vscode-chat",)}, ["Chat"]),
        ({"project": "/p/one"}, ["Tides", "Berths"]),
        ({"project": "/p/one/sub/"}, ["Berths"]),
        ({"project": "/"}, ["Tides", "Berths", "Pilots and tides", "Chat"]),
        ({"over": 0.9}, ["Tides"]),
        ({"over": 0.2}, ["Tides", "Berths", "Pilots and tides"]),
        ({"words": ("tides",)}, ["Tides", "Pilots and tides"]),
        ({"words": ("TIDES", "pilot")}, ["Pilots and tides"]),
        ({"words": ("two", "vscode")}, ["Chat"]),
        ({"words": (Said(name="2").id[:6],)}, ["Berths"]),
        ({"words": ("nothing",)}, []),
    ],
)
def test_what_is_asked_for_is_listed(
    several: Home, wanted: dict[str, Any], expected: list[str]
) -> None:
    assert titles(several, **wanted) == expected


def test_sessions_since_a_time(several: Home) -> None:
    assert titles(several, since=several.now - 36 * HOUR) == ["Tides", "Berths"]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30m", 30 * MINUTE), ("12h", 12 * HOUR), ("2d", 2 * DAY), ("1w", 7 * DAY), (" 9 S ", 9)],
)
def test_an_age(text: str, seconds: float) -> None:
    assert parse_since(text, NOW) == NOW - seconds


def test_a_date() -> None:
    assert parse_since("2027-01-15T08:00:00+00:00", NOW) == NOW
    assert abs(parse_since("2027-01-15", NOW) - NOW) <= DAY
    for wrong in ("", "soon", "2x", "d", "2026-13-01", "0001-01-01"):
        with pytest.raises(UsageError):
            parse_since(wrong, NOW)


def test_a_project_by_another_name_of_its_folder(home: Home, tmp_path: Path) -> None:
    project, link = tmp_path / "project", tmp_path / "link"
    project.mkdir()
    link.symlink_to(project)
    home.claude(Said(project=str(project)))
    assert len(titles(home, project=str(link))) == 1


def test_a_folder_with_a_long_name(home: Home) -> None:
    project = "/p" + "/long_name" * 30
    home.claude(Said(project=project))
    home.claude(Said(name="other", project="/p"))
    assert len(titles(home, project=project)) == 1


@given(st.lists(st.text("abc-", max_size=14), unique=True, min_size=1))
def test_no_other_session_is_called_as_one_is(ids: list[str]) -> None:
    entries = [SessionEntry(client="pi", id=each, path=Path("x"), modified=0) for each in ids]
    short_ids = ShortIds(entries)
    for entry in entries:
        row = short_ids.row(Session(entry=entry, details=SessionDetails()))
        others = [each for each in ids if each.startswith(row.short_id) and each != entry.id]
        assert entry.id.startswith(row.short_id)
        assert others == [] or row.short_id == entry.id


def test_what_was_not_looked_at_is_told(home: Home) -> None:
    many(home, 30, n_bytes=0)
    home.claude(Said(name="program", age=0), entrypoint="sdk-cli")
    result = sessions(SessionFilter(), UserEnvironment(home=home.root), home.now)
    assert (len(result.rows), result.n_sessions, result.unread, result.hidden) == (20, 31, 10, 1)


def test_the_list_on_a_terminal(home: Home, ask: Ask) -> None:
    everything(home)
    outcome = ask("sessions")
    assert (outcome.code, outcome.err) == (0, "")
    for store in ALL_STORES:
        assert store.title in outcome.out, "tests/sessions/homes.py: add its session to WRITERS"
    assert f"inspect   compactctl stats {Said(name='codex').id[:8]}" in outcome.out


@pytest.mark.parametrize("width", [40, 80, 100])
def test_the_list_fits(home: Home, tmp_path: Path, width: int) -> None:
    home.codex(Said(title="A title that is long enough to be cut on a narrow terminal"))
    shown = run_on_terminal(width, tmp_path, "sessions", HOME=str(home.root))
    assert Said().id[:8] in shown
    assert "A title that is" in shown
    assert max(map(len, re.sub(r"\x1b\[\d*m", "", shown).splitlines())) <= width


def test_an_unknown_client_is_named(ask: Ask) -> None:
    outcome = ask("sessions", "--client", "cladue")
    assert outcome.code == 2
    assert "no client named 'cladue'; did you mean claude?" in outcome.err


@pytest.mark.parametrize("share", ["0.9", "90%"])
def test_a_share_as_people_write_it(several: Home, ask: Ask, share: str) -> None:
    assert several.root.is_dir()
    shown = ask("sessions", "--over", share).out
    assert "Tides" in shown
    assert "Berths" not in shown


def test_nothing_to_list(home: Home, ask: Ask) -> None:
    said = ask("sessions").out
    assert said.startswith("no sessions found in:\n")
    # Every store is named, with what moves it, and no editor that is not there.
    for place in ("~/.claude/projects", "~/.codex/sessions", "~/.local/share/opencode",
                  "~/.pi/agent/sessions", "~/.copilot/session-state", "~/.gemini/tmp",
                  "~/.qwen/projects", "~/.cline/data/sessions"):  # fmt: skip
        assert f"\n  {place}\n" in said
    assert "/User" not in said
    assert "Code/User" in ask("sessions", "--client", "roo").out
    (home.root / ".config" / "VSCodium" / "User").mkdir(parents=True)
    assert "\n  ~/.config/VSCodium/User/workspaceStorage\n" in ask("sessions").out
    assert ask("sessions", "--client", "codex").out.count("\n  ") == 2
    home.claude(Said())
    assert "no session matches (1 session searched)" in ask("sessions", "nothing").out


def test_what_could_not_be_read_is_a_warning(home: Home, ask: Ask) -> None:
    home.text(home.root / ".local/share/opencode/opencode.db", "no database" * 99, 0)
    outcome = ask("sessions", "--json")
    assert outcome.code == 0
    assert outcome.err.startswith("warning: ")
    assert "opencode.db: cannot be read" in outcome.err


def test_what_a_session_says_is_not_obeyed(home: Home, ask: Ask) -> None:
    home.codex(Said(prompt="\x1b[31mred\x07 [bold]x[/bold]\u202e", project="/p/\x1b]0;x"))
    outcome = ask("sessions")
    assert "\x1b" not in outcome.out
    assert "\u202e" not in outcome.out
    assert "[bold]x[/bold]" in outcome.out


def test_a_session_holds_no_command_for_who_runs_the_program(home: Home, ask: Ask) -> None:
    for number, piece in enumerate((*PIECES, "".join(PIECES))):
        home.codex(Said(name=str(number), title=f"{piece} {piece}", project=f"/p/{piece}"))
    for arguments in (("--limit", "0"), ("--json",)):
        assert commands_in(ask("sessions", *arguments).out) == []
    assert commands_in(ask("stats", Said(name="0").id[:8]).err) == []


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_sizes_too_small_are_doubted(tmp_path: Path, client: str) -> None:
    path, whole = tmp_path / "run.jsonl", sample(client)
    path.write_bytes(whole)
    size = session_size(session_in(path, client))
    assert size is not None
    assert size.certainty == "exact"
    for name in TOO_SMALL:
        path.write_bytes(with_usage(whole, LIES[name]))
        session = session_in(path, client)
        size = session_size(session)
        assert size is not None, name
        assert size.certainty == "at least", name
        assert size.tokens > 3 * (session.details.context or 0), name


def test_the_list_says_so_once(home: Home, ask: Ask) -> None:
    folder = home.root / ".claude" / "projects" / "-p"
    folder.mkdir(parents=True)
    path = folder / f"{ID}.jsonl"
    path.write_bytes(with_usage(sample("claude-code"), LIES["three"]))
    outcome = ask("sessions", "--over", "0.9")
    assert ID[:8] in outcome.out
    assert "≥" in outcome.out
    assert outcome.err.count("warning: ") == 1
    assert "1 session is larger than the recorded usage" in outcome.err
    (session,) = ask("sessions", "--json").json["sessions"]
    assert (session["contextTokens"], session["windowRatio"]) == (None, None)
    assert session["contextAtLeast"] > 10_000


def test_sizes_of_real_sessions_are_believed() -> None:
    clients = {store.client for store in ALL_STORES}
    paths = [path for path in FILES if client_of(path) in clients]
    sizes = {path: session_size(session_in(path, client_of(path))) for path in paths}
    doubted = [path for path, size in sizes.items() if size and size.certainty == "at least"]
    assert (bool(paths), doubted) == (True, [])


def test_a_suggested_id_means_one_session_among_those_of_all_clients(home: Home, ask: Ask) -> None:
    said = Said(name="codex")
    home.codex(said)
    other = home.claude(Said())
    other.rename(other.with_name(f"{said.id[:9]}0000-4000-8000-000000000000.jsonl"))
    shown = ask("sessions", "--client", "codex").out
    suggested = re.search(r"compactctl stats (\S+)", shown)
    assert suggested is not None
    assert ask("stats", suggested[1]).code == 0
