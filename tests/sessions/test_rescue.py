"""A session that is full goes on after one command."""

import json
import os
import time
from pathlib import Path

import pytest
from cli.asking import Ask
from excerpts import excerpt
from formats.claude_code.sessions import said, user
from formats.jsonl import write_lines
from sessions.bundled_home import fill_home
from sessions.homes import Home, Said
from sessions.long_sessions import SAID
from sessions.read_files import PRUNE, session

FULL = "32ee9a45-aee0-53d4-a587-c28c937c29ee"
SMALL = "7dd60ebd-c0d2-5cc5-9f84-72e7c31d3824"


@pytest.fixture
def full(home: Home) -> Path:
    """Return the file of a session that is full, in a home with others."""
    fill_home(home.root)
    (path,) = home.root.rglob(f"{FULL}.jsonl")
    return path


@pytest.fixture
def shorter(full: Path) -> Path:
    """Return the same without its second half, which is soon compacted and has still to shrink."""
    changed = full.stat().st_mtime
    # The last line has the title.
    lines = full.read_bytes().splitlines(keepends=True)
    full.write_bytes(b"".join([*lines[:300], lines[-1]]))
    os.utime(full, (changed, changed))
    return full


def last_line(text: str) -> str:
    return text.rstrip("\n").rpartition("\n")[2]


def test_the_newest_session_goes_on_with_the_command_of_the_last_line(full: Path, ask: Ask) -> None:
    before = full.read_bytes()
    outcome = ask("rescue", "latest")
    assert outcome.code == 0
    *_, new = last_line(outcome.out).split()
    assert last_line(outcome.out) == (f"continue  cd /home/dev/quayside && claude --resume {new}")
    assert f"undo      compactctl rewind {new}" in outcome.out.splitlines()
    assert full.read_bytes() == before
    assert ask("check", new).code == 0
    assert ask("rewind", new).code == 0
    assert ask("check", new).code == 1


@pytest.mark.parametrize(("client", "length"), [("claude-code", 160), ("codex", 190)])
def test_a_second_rescue_offers_the_first_result(
    home: Home, ask: Ask, client: str, length: int
) -> None:
    """As long as neither the session nor what was made of it changed."""
    said = Said(name=client, title="Harbour")
    path = home.claude(said) if client == "claude-code" else home.codex(said)
    data = excerpt(f"{client}-session", length)
    # A client that was killed leaves a last line without an end.
    path.write_bytes(data.rstrip(b"\n") if client == "claude-code" else data)
    first = ask("rescue", path, "--json", "--target", "10%")
    assert first.code == 0, first.err
    new = first.json["compact"]["forkedTo"]
    before = sorted(home.root.rglob("*"))
    again = ask("rescue", path)
    assert again.code == 0
    assert f"rescued before, as session {new}" in again.out
    assert new in last_line(again.out)
    assert ask("rescue", path, "--json").json["earlier"] == new
    assert sorted(home.root.rglob("*")) == before
    # With more in the session it is rescued again, and what was undone is no result either.
    whole = path.read_bytes()
    path.write_bytes(whole.rstrip(b"\n") + b"\n" + whole.splitlines(keepends=True)[-1])
    assert ask("rescue", path, "-n", "--json").json["earlier"] is None
    path.write_bytes(whole)
    assert ask("rewind", new).code == 0
    assert ask("rescue", path, "--json").json["earlier"] is None


def test_a_session_with_room_is_left_alone_and_told_how_to_go_on(full: Path, ask: Ask) -> None:
    before = sorted(full.parents[3].rglob("*"))
    outcome = ask("rescue", SMALL)
    assert outcome.code == 0
    assert "nothing to rescue" in outcome.out
    assert last_line(outcome.out) == f"continue  codex resume {SMALL}"
    assert sorted(full.parents[3].rglob("*")) == before


@pytest.mark.usefixtures("shorter")
@pytest.mark.parametrize(
    ("session", "said"),
    [
        (
            SMALL,
            "Error: Error during compaction: Error: Conversation too long. Press esc twice to go",
        ),
        (SMALL, "Context limit reached · /compact or /clear to continue"),
        (
            SMALL,
            "Codex ran out of room in the model's context window. Start a new thread or clear",
        ),
        (FULL, "prompt is too long: 205,000 tokens > 200,000 maximum"),
    ],
)
def test_what_the_client_said_is_understood(ask: Ask, session: str, said: str) -> None:
    outcome = ask("rescue", session, "--from-error", said, "--json")
    assert outcome.code == 0
    document = outcome.json
    assert document["continueWith"].endswith(document["compact"]["forkedTo"])
    assert document["compact"]["fits"]


@pytest.mark.usefixtures("shorter")
@pytest.mark.parametrize("sent", [20_000, 250_000, 400_000])
def test_no_more_is_free_than_the_error_leaves(ask: Ask, sent: int) -> None:
    counted = ask("stats", SMALL, "--json").json["estimatedInputTokens"]
    said = f"prompt is too long: {sent} tokens > {sent - 1_000} maximum"
    document = ask("rescue", SMALL, "-n", "--from-error", said, "--json").json
    assert document["uncountedTokens"] == max(0, sent - counted)
    left = document["compact"]["largestRequestTokens"] + document["uncountedTokens"]
    shown = ask("rescue", SMALL, "-n", "--from-error", said).out
    assert f"{left:,} tokens" in shown
    is_full = left >= document["compact"]["fit"]["baseTokens"]
    assert (" tokens: still " in shown or "nothing can be removed" in shown) == is_full


def test_a_session_in_a_database_with_room_is_resumed_too(home: Home, ask: Ask) -> None:
    said = Said(name="berths", title="Berths", project="/srv/ledger", context=61_300)
    home.opencode(said)
    answer = ask("rescue", "opencode:latest")
    assert answer.out.startswith("nothing to rescue: ")
    assert "\ncontinue  cd /srv/ledger && opencode -s ses_" in answer.out


def test_of_two_that_changed_at_once_one_has_to_be_named(full: Path, home: Home, ask: Ask) -> None:
    now = time.time()
    os.utime(full, (now, now))
    home.claude(Said(name="other", title="The other one", age=60))
    outcome = ask("rescue", "latest")
    assert outcome.code == 2
    assert "The other one" in outcome.err
    assert FULL[:8] in outcome.err


def test_a_dry_run_writes_nothing(shorter: Path, ask: Ask) -> None:
    before = sorted(shorter.parents[3].rglob("*"))
    outcome = ask("rescue", FULL, "-n")
    assert (outcome.code, " free before Claude Code compacts" in outcome.out) == (0, True)
    assert "dry run" in outcome.err
    assert sorted(shorter.parents[3].rglob("*")) == before


def test_in_place_it_is_the_same_session(shorter: Path, ask: Ask) -> None:
    before = shorter.read_bytes()
    outcome = ask("rescue", FULL, "--in-place", "--target", "60k")
    assert last_line(outcome.out).endswith(f"claude --resume {FULL}")
    assert len(shorter.read_bytes()) < len(before)
    assert ask("rewind", FULL).code == 0
    assert shorter.read_bytes() == before


def test_natively_it_is_the_same_session_with_more_behind_it(full: Path, ask: Ask) -> None:
    before = full.read_bytes()
    refused = ask("rescue", FULL, "--native")
    assert refused.code == 2
    assert "--while-open" in refused.err
    assert full.read_bytes() == before
    outcome = ask("rescue", FULL, "--native", "--while-open")
    assert outcome.code == 0
    assert full.read_bytes().startswith(before)
    appended = len(full.read_bytes()[len(before) :].splitlines())
    assert f"appended  {appended} lines to {full}" in outcome.out
    assert last_line(outcome.out).endswith(f"claude --resume {FULL}")
    assert ask("check", FULL).code == 0
    assert ask("rewind", FULL, "--while-open").code == 0
    assert full.read_bytes().startswith(before)
    assert ask("check", FULL).code == 1


@pytest.mark.usefixtures("full")
@pytest.mark.parametrize(
    ("named", "options", "answer"),
    [
        (FULL, ("--in-place",), "--native and --in-place cannot be used together"),
        (FULL, ("-o", "small.jsonl"), "--native and --output cannot be used together"),
        (FULL, ("--redo",), "--native and --redo cannot be used together"),
    ],
)
def test_natively_is_refused_where_it_cannot_be(
    ask: Ask, named: str, options: tuple[str, ...], answer: str
) -> None:
    refused = ask("rescue", named, "--native", "--while-open", *options)
    assert (refused.code, answer in refused.err) == (2, True)


@pytest.mark.long
def test_natively_a_client_that_is_too_new_gets_a_new_session_unless_forced(
    full: Path, ask: Ask
) -> None:
    full.write_bytes(full.read_bytes().replace(b'"version":"2.1.80"', b'"version":"2.9.0"'))
    before = full.read_bytes()
    told = ask("rescue", FULL, "--native", "--while-open")
    assert (told.code, "a new session is written" in told.err) == (0, True)
    assert full.read_bytes() == before
    assert ask("rescue", FULL, "--native", "--while-open", "--force").code == 0
    assert full.read_bytes().startswith(before)
    assert len(full.read_bytes()) > len(before)


def test_what_the_client_compacted_is_made_from_its_originals(full: Path, ask: Ask) -> None:
    outcome = ask("rescue", SMALL, "--redo", "--target", "20k", "--json")
    document = outcome.json["compact"]
    assert [each["client"] for each in document["redone"]] == ["codex"]
    new = document["forkedTo"]
    assert [each["kind"] for each in ask("log", new, "--json").json["operations"]] == [
        "undo",
        "compact",
    ]
    assert ask("rewind", new, "--all").code == 0
    (path,) = full.parents[3].rglob(f"*{SMALL}.jsonl")
    restored = Path(document["output"]).read_bytes().splitlines()
    assert restored[1:] == path.read_bytes().splitlines()[1:]


def test_another_file_may_be_named(shorter: Path, ask: Ask, tmp_path: Path) -> None:
    out = tmp_path / "small.jsonl"
    outcome = ask("rescue", FULL, "-o", out)
    assert outcome.code == 0
    assert "continue " not in outcome.out
    assert f"undo      compactctl rewind {out}" in outcome.out.splitlines()
    assert out.stat().st_size < shorter.stat().st_size


def test_a_record_with_bytes_that_are_not_utf8_is_linked(ask: Ask, tmp_path: Path) -> None:
    usage = {"usage": {"input_tokens": 900, "output_tokens": 5}}
    records = [
        user("u1", None, "Row out."),
        said("a1", "u1", "Aye.", inner=usage),
        json.dumps(user("u2", "lost", "Gr_e")).encode().replace(b"_", b"\xfc"),
        said("a2", "u2", "Aye.", inner=usage),
    ]
    path = write_lines(tmp_path / "run.jsonl", *records)
    before, new, back = path.read_bytes(), tmp_path / "new.jsonl", tmp_path / "back.jsonl"
    assert ask("rescue", path, "-o", new).code == 0
    assert new.read_bytes() == before.replace(b'"lost"', b'"a1"')
    assert ask("rewind", new, "-o", back).code == 0
    assert back.read_bytes() == before


def test_a_file_outside_of_stores_is_compacted_beside_itself(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(excerpt("claude-code-session", 300))
    outcome = ask("rescue", path)
    assert outcome.code == 0
    assert "continue " not in outcome.out
    assert (tmp_path / "run.compacted.jsonl").exists()


LAYOUTS = {"new session": (), "in place": ("--in-place",), "native": ("--native",)}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("told", "asked"),
    [
        (("claude-opus-4-6", 250_000), " --model 'claude-opus-4-6[1m]'"),
        (("claude-opus-4-6", 150_000), ""),
        # It has the long window without being asked for it.
        (("claude-opus-4-7", 250_000), ""),
    ],
)
def test_the_client_is_asked_for_the_window_that_the_figures_assume(
    home: Home, ask: Ask, layout: str, told: tuple[str, int], asked: str
) -> None:
    path = session(home)
    model, answered = told
    data = path.read_bytes().replace(b"claude-sonnet-4-5", model.encode())
    path.write_bytes(data.replace(b'"input_tokens": 90000', b'"input_tokens": %d' % answered))
    outcome = ask("compact", path, *PRUNE, *LAYOUTS[layout], "--json")
    document = outcome.json
    resumed = document["forkedTo"] or SAID.id
    assert document["continueWith"].endswith(f"claude --resume {resumed}{asked}")
    assert last_line(outcome.err).endswith(f"claude --resume {resumed}{asked}")


def test_the_window_is_asked_for_also_where_nothing_was_to_be_done(home: Home, ask: Ask) -> None:
    path = session(home)
    data = path.read_bytes().replace(b"claude-sonnet-4-5", b"claude-opus-4-6")
    path.write_bytes(data.replace(b'"input_tokens": 90000', b'"input_tokens": 250000'))
    outcome = ask("rescue", SAID.id)
    assert "nothing to rescue" in outcome.out
    assert last_line(outcome.out).endswith(
        f"claude --resume {SAID.id} --model 'claude-opus-4-6[1m]'"
    )


@pytest.mark.parametrize("words", [150_000, 1])
@pytest.mark.parametrize("unread", ["", "Some text that no client writes. " * 9_000])
def test_a_session_that_is_too_large_is_so_with_unread_text(
    tmp_path: Path, ask: Ask, words: int, unread: str
) -> None:
    inner = {"model": "claude-sonnet-4-5", **({"body": unread} if unread else {})}
    newest = user("u2", "a1", "oar42 sail " * words)
    answer = said("a1", "u1", "Aye.", inner=inner)
    path = write_lines(tmp_path / "run.jsonl", user("u1", None, "Row out."), answer, newest)
    is_large = words > 1
    rescued = ask("rescue", path, "--dry-run")
    assert (rescued.code, "over 167,000" in rescued.out) == (5 if is_large else 0, is_large)
    compacted = ask("compact", path, "--dry-run").out
    assert ("over the target" in compacted) == is_large
    assert ("whether that fits is unknown" in compacted) == (bool(unread) and not is_large)


@pytest.mark.parametrize("window", [(), ("--target", "150k"), ("--target", "30%")])
@pytest.mark.parametrize(
    "said",
    [
        "prompt is too long",
        "prompt is too long: 231000 tokens > 200000 maximum",
        "prompt is too long: 200100 tokens > 200000 maximum",
        "Context limit reached · /compact or /clear to continue",
    ],
)
def test_with_the_error_no_less_is_freed_than_without(
    full: Path, ask: Ask, said: str, window: tuple[str, ...]
) -> None:
    def left(*options: str) -> int:
        document = ask("rescue", full, "-n", "--json", *window, *options).json
        tokens: int = document["compact"]["largestRequestTokens"]
        return tokens

    assert left("--from-error", said) <= left()
