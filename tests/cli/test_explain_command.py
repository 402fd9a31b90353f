"""``compactctl view --message`` says of one message what other commands say of all of them."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask, Sample
from cli.screens.terminal import run_on_terminal
from unit.commands.client_sessions import clients

# Its stages take a tenth of the time that those of the default take, on the largest sample.
QUICK = ("--profile", "codebuddy")


def explained(ask: Ask, path: Path, message: object, *more: str) -> dict[str, Any]:
    shown = ask("view", path, "--message", str(message), "--json", *more)
    assert shown.code == 0, shown.err
    document: dict[str, Any] = shown.json
    return document


def viewed(ask: Ask, path: Path, *more: str) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = ask("view", path, "--json", *more).json["messages"]
    return messages


def kinds(found: dict[str, Any]) -> dict[str, list[Any]]:
    named: dict[str, list[Any]] = {}
    for link in found["links"]:
        named.setdefault(link["kind"], []).append(link["line"])
    return named


@pytest.mark.parametrize("profile", ["default", "agent-code"])
def test_the_fate_is_that_of_a_compaction(ask: Ask, desk: Path, profile: str) -> None:
    named = ("--profile", profile)
    rows = ask("compact", desk, "-n", "--explain", "--json", *named).json["messages"]
    for row in rows:
        if row["fate"] == "written":
            continue
        found = explained(ask, desk, row["id"], *named)
        fate = {name: row[name] for name in ("fate", "stage", "reason", "tokensAfter")}
        assert (found["fate"], found["profile"]) == (fate, profile)
        assert (found["line"], found["tokens"]) == (row["line"], row["tokens"])
        assert (found["sent"], found["hiddenBy"], found["wayBack"]) == (True, None, None)


def test_a_message_is_sent_since_the_round_after_it(ask: Ask, session: Path) -> None:
    since = explained(ask, session, 9, *QUICK)["since"]
    rounds = ask("stats", session, "--rounds", "--json").json["rounds"]
    assert since == {"first": 2, "requests": len(rounds), "isReported": True}
    first, second = (each["line"] for each in rounds[:2])
    assert first < 9 < second


def test_what_refers_to_a_message_is_named(ask: Ask, session: Path) -> None:
    shown, called = explained(ask, session, 9, *QUICK), explained(ask, session, 8, *QUICK)
    assert kinds(shown)["call"] == [8]
    assert kinds(called)["result"] == [9]
    assert kinds(shown)["reads again"] == kinds(called)["reads again"]
    assert min(kinds(shown)["reads again"]) > 9
    assert min(kinds(shown)["edits"]) > 9
    assert {each["what"] for each in shown["links"][1:]} == {"quayside/tides/windows.py"}
    text = ask("view", session, "--message", "9", *QUICK).out
    assert "called by     line 8 · assistant · Read\n" in text
    assert "more messages; see --json\n" in text


def test_a_later_read_that_shows_it_all_is_told_apart(ask: Ask, sample: Sample) -> None:
    found = explained(ask, sample("claude-code-session"), 13, *QUICK)
    covering = [each["line"] for each in found["links"] if each["covers"]]
    assert covering == kinds(found)["reads again"] == [395]


def test_the_way_back_of_a_hidden_message_leads_back(
    ask: Ask, compacted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(compacted.parent)
    hidden = viewed(ask, compacted, "--archived")[0]
    found = explained(ask, compacted, hidden["id"])
    assert (found["sent"], found["line"], found["fate"]) == (False, None, None)
    assert found["hiddenBy"] == found["wayBack"]["group"] == hidden["hiddenBy"]
    (instead,) = (each for each in found["links"] if each["kind"] == "stands for it")
    assert hidden["id"] in {
        each["id"] for each in explained(ask, compacted, instead["id"])["links"]
    }
    shown = ask("view", compacted.name, "--message", hidden["id"]).out
    command = shlex.split(shown.partition("\nrestore ")[2])
    assert command[:2] == ["compactctl", "rewind"]
    assert ask(*command[1:]).code == 0
    assert hidden["id"] in {each["id"] for each in viewed(ask, compacted)}


def test_what_compactctl_wrote_has_no_age(ask: Ask, compacted: Path) -> None:
    own = [each for each in viewed(ask, compacted) if each["tags"]]
    assert own
    for each in own:
        found = explained(ask, compacted, each["id"])
        assert (found["since"], found["sent"]) == (None, True)
        assert found["wayBack"]["way"] == "group"
        assert "hidden by it" in kinds(found)


def test_what_a_client_hid_is_undone_as_its_own(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(clients.claude_code())
    hidden = viewed(ask, path, "--archived")[0]
    found = explained(ask, path, hidden["id"])
    assert (found["sent"], found["stage"]) == (False, "claude-code")
    assert found["wayBack"] == {"way": "client", "group": hidden["hiddenBy"]}
    assert f"rewind {path} --client\n" in ask("view", path, "--message", hidden["id"]).out


def test_without_its_archive_only_what_is_gone_is_refused(ask: Ask, compacted: Path) -> None:
    hidden = viewed(ask, compacted, "--archived")[0]["id"]
    archive = compacted.with_name(f"{compacted.name}.archive")
    archive.rename(archive.with_name("elsewhere"))
    assert ask("view", compacted, "--message", "1").code == 0
    assert ask("view", compacted, "--message", hidden).code == 6
    moved = ("--archive", str(archive.with_name("elsewhere")))
    assert explained(ask, compacted, hidden, *moved)["sent"] is False


def test_a_message_is_named_by_line_id_or_how_an_id_begins(ask: Ask, session: Path) -> None:
    by_line = explained(ask, session, 9, *QUICK)
    assert explained(ask, session, by_line["id"], *QUICK) == by_line
    assert explained(ask, session, by_line["id"][:8], *QUICK) == by_line
    data = session.read_bytes()
    piped = ask("view", "-", "--message", "9", "--json", *QUICK, stdin=data)
    assert piped.json == {**by_line, "path": "-"}


@pytest.mark.parametrize("name", ["0", "99999", "nothing-like-it"])
def test_a_message_that_there_is_not_is_a_usage_error(ask: Ask, desk: Path, name: str) -> None:
    shown = ask("view", desk, "--message", name)
    assert (shown.code, shown.out) == (2, "")
    assert f"no message {name!r}" in shown.err


def test_a_line_with_several_messages_lists_their_ids(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    said = [
        {"role": role, "content": f"{role} {n}"} for n in range(4) for role in ("user", "assistant")
    ]
    path.write_text(json.dumps({"messages": said}) + "\n")
    shown = ask("view", path, "--message", "1")
    assert shown.code == 2
    assert "'1' means 8 messages; use an id: " in shown.err
    first = viewed(ask, path)[0]["id"]
    assert first in shown.err
    assert explained(ask, path, first)["role"] == "user"


def test_it_fits_a_narrow_terminal(session: Path) -> None:
    shown = run_on_terminal(40, session.parent, "view", session.name, "--message", "9", *QUICK)
    facts = shown[shown.index("sent  ") :]
    assert "called by" in facts
    wide = [line for line in facts.splitlines() if len(line) > 40]
    # An id is never broken: it is to be copied.
    assert [line.split()[0] for line in wide] == ["id"]
