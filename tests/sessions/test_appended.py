"""A session of Claude Code compacted by what is appended to it, and back again."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask, Outcome
from sessions.homes import Home
from sessions.long_sessions import SAID, SMALL, codex
from sessions.read_files import NEWER, OLDER, PRUNE, SUMMARY, TELLS, goes_on, sent, session


def told(outcome: Outcome) -> dict[str, Any]:
    assert outcome.code == 0, outcome.err
    found: dict[str, Any] = json.loads(outcome.out)
    return found


@pytest.mark.parametrize("stages", [PRUNE, SMALL, SUMMARY])
def test_it_reads_like_a_copy_and_no_byte_is_changed(
    home: Home, ask: Ask, tmp_path: Path, stages: tuple[str, ...]
) -> None:
    path = session(home)
    before = path.read_bytes()
    copy = tmp_path / "copy.jsonl"
    told(ask("compact", path, *stages, "-o", copy, "--json"))
    result = told(ask("compact", SAID.id, "--native", *stages, "--json"))
    assert path.read_bytes().startswith(before)
    assert sent(path) == sent(copy) != []
    assert result["output"] == str(path)
    assert result["appendedLines"] == len(path.read_bytes()[len(before) :].splitlines())
    assert result["forkedFrom"] is None
    assert result["continueWith"].endswith(f"claude --resume {SAID.id}")
    assert list(path.parent.iterdir()) == [path]


def test_the_last_line_is_where_the_session_goes_on_and_tells_its_size(
    home: Home, ask: Ask
) -> None:
    path = session(home)
    result = told(ask("compact", path, "--native", *PRUNE, "--json"))
    last = json.loads(path.read_bytes().splitlines()[-1])
    assert last["uuid"] == "end"
    assert last["message"]["usage"]["input_tokens"] < 90_000
    assert result["restatedUsage"]["tokens"] == sum(
        last["message"]["usage"][name] for name in ("input_tokens", "output_tokens")
    )


def test_undone_while_it_is_the_end_it_is_cut_off(home: Home, ask: Ask) -> None:
    path = session(home)
    before = path.read_bytes()
    told(ask("compact", path, "--native", *PRUNE, "--json"))
    after = path.read_bytes()
    result = told(ask("rewind", path, "--json"))
    assert path.read_bytes() == before
    told(ask("rewind", path, "--to", result["undone"][0], "--json"))
    assert sent(path) != []
    assert path.read_bytes().startswith(before)
    assert len(path.read_bytes().splitlines()) == len(after.splitlines())


def test_undone_after_more_was_said_by_appending(home: Home, ask: Ask) -> None:
    path = session(home)
    whole = sent(path)
    told(ask("compact", path, "--native", *SUMMARY, "--json"))
    goes_on(path, "And now?")
    small, bytes_then = sent(path), path.read_bytes()
    assert len(small) < len(whole)
    undone = told(ask("rewind", path, "--json"))
    assert path.read_bytes().startswith(bytes_then)
    assert undone["layout"] == "native"
    assert undone["appendedLines"] > 0
    assert sent(path)[: len(whole)] == whole
    assert sent(path)[len(whole) :] == small[-1:]
    again = told(ask("rewind", path, "--to", undone["undone"][0], "--json"))
    assert again["inEffect"] == undone["undone"]
    assert sent(path) == small
    told(ask("rewind", path, "--json"))
    assert sent(path)[: len(whole)] == whole
    assert path.read_bytes().startswith(bytes_then)
    assert ask("verify", path).code == 0


def test_compacted_again_and_taken_back_step_by_step(home: Home, ask: Ask) -> None:
    path = session(home)
    whole = sent(path)
    told(ask("compact", path, "--native", *PRUNE, "--json"))
    goes_on(path, "And now?")
    first = sent(path)
    told(ask("compact", path, "--native", *SUMMARY, "--json"))
    goes_on(path, "And then?")
    second, now = sent(path), path.read_bytes()
    assert len(second) < len(first)
    told(ask("rewind", path, "--json"))
    assert sent(path) == [*first, second[-1]]
    told(ask("rewind", path, "--json"))
    assert sent(path) == [*whole, first[-1], second[-1]]
    assert path.read_bytes().startswith(now)
    log = told(ask("log", path, "--json"))["operations"]
    assert [each["appended"] for each in log] == [True] * 4
    assert [each["inEffect"] for each in log[:2]] == [False, False]
    assert ask("rewind", path).code == 0
    assert "nothing to undo" in ask("rewind", path).out


def test_a_second_run_has_nothing_to_do(home: Home, ask: Ask) -> None:
    path = session(home)
    told(ask("compact", path, "--native", *PRUNE, "--json"))
    once = path.read_bytes()
    again = told(ask("compact", path, "--native", *PRUNE, "--json"))
    assert not again["compacted"]
    assert path.read_bytes() == once


def test_a_record_without_its_line_end_gets_one_first(home: Home, ask: Ask) -> None:
    path = session(home)
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    before = path.read_bytes()
    told(ask("compact", path, "--native", *PRUNE, "--json"))
    assert path.read_bytes().startswith(before + b"\n{")
    told(ask("rewind", path, "--json"))
    assert path.read_bytes() == before


def test_a_new_session_of_it_reads_the_same(home: Home, ask: Ask) -> None:
    path = session(home)
    told(ask("compact", path, "--native", *PRUNE, "--json"))
    goes_on(path, "And now?")
    result = told(ask("compact", path, *SUMMARY, "--json"))
    assert result["forkedFrom"] == SAID.id
    fork = Path(result["output"])
    assert ask("rewind", fork, "--json").code == 0
    assert sent(fork) == sent(path)


@pytest.mark.parametrize(
    ("version", "is_open", "message"),
    [(TELLS, True, "is open in Claude Code"), (OLDER, False, "does not tell which sessions")],
)
def test_an_open_session_is_appended_to_by_those_who_insist(
    home: Home, ask: Ask, *, version: str, is_open: bool, message: str
) -> None:
    path = session(home, version)
    before = path.read_bytes()
    if is_open:
        home.claude_is_open(SAID, os.getpid())
    outcome = ask("compact", path, "--native", *PRUNE)
    assert outcome.code == 2
    assert message in outcome.err
    assert path.read_bytes() == before
    told(ask("compact", path, "--native", "--while-open", *PRUNE, "--json"))
    assert path.read_bytes() != before
    refused = ask("rewind", path)
    assert refused.code == 2
    assert message in refused.err
    told(ask("rewind", path, "--while-open", "--json"))
    assert path.read_bytes().startswith(before)


def test_a_newer_client_gets_a_new_session_unless_one_insists(home: Home, ask: Ask) -> None:
    path = session(home, NEWER)
    before = path.read_bytes()
    result = told(ask("compact", path, "--native", *PRUNE, "--json"))
    assert result["forkedFrom"] == SAID.id
    assert "2.1.330" in result["warnings"][-1]
    assert path.read_bytes() == before
    told(ask("compact", path, "--native", "--force", *PRUNE, "--json"))
    assert path.read_bytes() != before


def test_an_older_client_is_refused(home: Home, ask: Ask) -> None:
    path = session(home, "1.0.98")
    outcome = ask("compact", path, "--native", *PRUNE)
    assert outcome.code == 2
    assert "2.0.76" in outcome.err


@pytest.mark.parametrize(
    "more",
    [("--in-place",), ("-o", "x.jsonl"), ("--no-tags",), ("--redo",), ("--layout", "inline")],
)
def test_what_contradicts_it_is_refused(home: Home, ask: Ask, more: tuple[str, ...]) -> None:
    path = session(home)
    outcome = ask("compact", path, "--native", *more)
    assert outcome.code == 2
    assert "contradict" in outcome.err


def test_other_clients_are_refused(home: Home, ask: Ask) -> None:
    outcome = ask("compact", codex(home), "--native", *SMALL)
    assert outcome.code == 2
    assert "leave out --native" in outcome.err


def test_one_group_is_not_taken_back_by_itself(home: Home, ask: Ask) -> None:
    path = session(home)
    told(ask("compact", path, "--native", *PRUNE, "--json"))
    group = told(ask("log", path, "--json"))["operations"][0]["groups"][0]["id"]
    outcome = ask("rewind", path, "--group", group)
    assert outcome.code == 2
    assert "cannot be taken back by itself" in outcome.err
    assert "--group GROUP" not in ask("log", path).out


def test_originals_go_to_another_file(home: Home, ask: Ask, tmp_path: Path) -> None:
    path = session(home)
    before, whole = path.read_bytes(), sent(path)
    told(ask("compact", path, "--native", *SUMMARY, "--json"))
    goes_on(path, "And now?")
    now, out = path.read_bytes(), tmp_path / "originals.jsonl"
    assert ask("rewind", path, "-o", out).code == 0
    assert out.read_bytes().startswith(before)
    assert sent(out)[:-1] == whole
    assert path.read_bytes() == now


def test_what_was_rewritten_since_is_undone_first(home: Home, ask: Ask) -> None:
    path = session(home)
    whole = sent(path)
    told(ask("compact", path, "--native", *PRUNE, "--json"))
    goes_on(path, "And now?")
    told(ask("compact", path, *SUMMARY, "--in-place", "--json"))
    outcome = ask("rewind", path, "--all")
    assert outcome.code == 2
    assert "one step after another" in outcome.err
    assert ask("rewind", path).code == 0
    assert ask("rewind", path).code == 0
    assert sent(path)[:-1] == whole


def test_a_dry_run_appends_nothing(home: Home, ask: Ask) -> None:
    path = session(home)
    before = path.read_bytes()
    result = told(ask("compact", path, "--native", *PRUNE, "--dry-run", "--json"))
    assert result["compacted"]
    assert path.read_bytes() == before
