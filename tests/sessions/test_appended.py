"""Sessions compacted by what is appended to them, and back again."""

import json
import os
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask
from sessions.homes import Home
from sessions.long_sessions import SAID, SMALL, gemini
from sessions.read_files import (
    APPENDED,
    NEWER,
    OLDER,
    PRUNE,
    SUMMARY,
    TELLS,
    Appended,
    KeptSession,
    codex_session,
    pi_session,
    sent,
    session,
    told,
)
from stage_examples import example_flags, why_idle

from compactctl.stages.registry import ALL_STAGES
from compactctl.stages.support.stage import Stage
from compactctl.store.files.locks import can_detect_writers


@dataclass(frozen=True, kw_only=True)
class Kept(KeptSession):
    """A session of a client, and what is done with it."""

    def compact(self, *stages: str) -> dict[str, Any]:
        return told(
            self.ask("compact", SAID.id, "--native", *self.client.insists, *stages, "--json")
        )

    def rewind(self, *words: str) -> dict[str, Any]:
        return told(self.ask("rewind", self.path, *self.client.insists, *words, "--json"))

    @property
    def bytes(self) -> bytes:
        return self.path.read_bytes()


@pytest.fixture(params=APPENDED, ids=lambda client: client.format)
def kept(request: pytest.FixtureRequest, home: Home, ask: Ask) -> Kept:
    client: Appended = request.param
    return Kept(client=client, path=client.session(home), ask=ask)


@pytest.mark.parametrize("stages", [PRUNE, SMALL, SUMMARY])
def test_it_reads_like_a_copy_and_no_byte_is_changed(
    kept: Kept, tmp_path: Path, stages: tuple[str, ...]
) -> None:
    before, copy = kept.bytes, tmp_path / "copy.jsonl"
    told(kept.ask("compact", kept.path, *stages, "-o", copy, "--json"))
    result = kept.compact(*stages)
    assert kept.bytes.startswith(before)
    assert kept.sent == sent(copy) != []
    assert result["output"] == str(kept.path)
    assert result["appendedLines"] == len(kept.bytes[len(before) :].splitlines())
    assert result["forkedFrom"] is None
    assert result["continueWith"].endswith(f"{kept.client.resume} {SAID.id}")
    assert list(kept.path.parent.iterdir()) == [kept.path]


def test_the_last_line_is_where_the_session_goes_on_and_tells_its_size(kept: Kept) -> None:
    result = kept.compact(*PRUNE)
    counts = json.loads(kept.bytes.splitlines()[-1])
    for name in kept.client.counts:
        counts = counts[name]
    sizes = [counts.get(name, 0) for name in ("input_tokens", "output_tokens", "input", "output")]
    assert result["restatedUsage"]["tokens"] == sum(sizes) < 90_000


def test_undone_while_it_is_the_end_it_is_cut_off(kept: Kept) -> None:
    if kept.client.insists:
        pytest.skip("the client may have it open")
    before = kept.bytes
    kept.compact(*PRUNE)
    after = kept.bytes
    result = kept.rewind()
    assert kept.bytes == before
    kept.rewind("--to", result["undone"][0])
    assert kept.bytes.startswith(before)
    assert len(kept.bytes.splitlines()) == len(after.splitlines())


def test_a_session_that_is_closed_gets_its_old_length_back(kept: Kept) -> None:
    before = kept.bytes
    compacted = kept.ask("compact", SAID.id, "--native", "--closed", *PRUNE)
    assert compacted.code == 0
    assert (" --closed\n" in compacted.out + compacted.err) == bool(kept.client.insists)
    told(kept.ask("rewind", kept.path, "--closed", "--json"))
    assert kept.bytes == before


def test_the_first_bytes_are_there_after_an_undo_by_appending(kept: Kept, tmp_path: Path) -> None:
    before = kept.bytes
    kept.compact(*SUMMARY)
    kept.goes_on("And now?")
    turn = kept.bytes.splitlines(keepends=True)[-1]
    kept.rewind()
    grown, out = kept.bytes, tmp_path / "first.jsonl"
    told(kept.ask("rewind", kept.path, "--all", "-o", out, "--json"))
    assert out.read_bytes().startswith(before)
    assert out.read_bytes().endswith(turn)
    assert b"compactctl" not in out.read_bytes()
    assert kept.bytes == grown


def test_undone_after_more_was_said_by_appending(kept: Kept) -> None:
    whole = kept.sent
    kept.compact(*SUMMARY)
    kept.goes_on("And now?")
    small, bytes_then = kept.sent, kept.bytes
    assert len(small) < len(whole)
    undone = kept.rewind()
    assert kept.bytes.startswith(bytes_then)
    assert undone["layout"] == "native"
    assert undone["appendedLines"] > 0
    assert kept.sent[: len(whole)] == whole
    assert kept.sent[len(whole) :] == small[-1:]
    again = kept.rewind("--to", undone["undone"][0])
    assert again["inEffect"] == undone["undone"]
    assert kept.sent == small
    kept.rewind()
    assert kept.sent[: len(whole)] == whole
    assert kept.bytes.startswith(bytes_then)
    assert kept.ask("verify", kept.path).code == 0


def test_compacted_again_and_taken_back_step_by_step(kept: Kept) -> None:
    whole = kept.sent
    kept.compact(*PRUNE)
    kept.goes_on("And now?")
    first = kept.sent
    kept.compact(*SUMMARY)
    kept.goes_on("And then?")
    second, now = kept.sent, kept.bytes
    assert len(second) < len(first)
    kept.rewind()
    assert kept.sent == [*first, second[-1]]
    kept.rewind()
    assert kept.sent == [*whole, first[-1], second[-1]]
    assert kept.bytes.startswith(now)
    log = told(kept.ask("log", kept.path, "--json"))
    assert [each["appended"] for each in log["operations"]] == [True] * 4
    assert [each["inEffect"] for each in log["operations"][:2]] == [False, False]
    assert log["byClient"] == []
    assert kept.rewind()["undone"] == []


# Stages that look for what these sessions do not have: copies, images, messages that are named.
IDLE = frozenset({"repair", "unsent", "drop", "dedup", "images", "span"})


@pytest.mark.each_choice
@pytest.mark.parametrize("stage", ALL_STAGES, ids=lambda stage: stage.name)
def test_a_second_run_has_nothing_to_do(kept: Kept, stage: Stage[Any]) -> None:
    options = ("--stages", stage.name, "--keep", "20%", *example_flags(stage.name))
    changed = kept.compact(*options)["compacted"]
    assert changed or stage.name in IDLE, why_idle(
        stage,
        f"a {kept.client.format} session, eight times a request, an answer of 18 words with a call"
        " that reads a file, and its result of 360 words"
        f" ({kept.client.session.__name__} in tests/sessions/read_files.py)",
    )
    once = kept.bytes
    assert not kept.compact(*options)["compacted"]
    assert kept.bytes == once


@pytest.mark.parametrize("stage", ["truncate", "summarize"])
def test_nor_has_one_whose_marker_stands_in_what_codex_compacted(
    home: Home, ask: Ask, stage: str
) -> None:
    path = codex_session(home)
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    said = [line["payload"] for line in lines if line["type"] == "response_item"]
    history = {"message": "", "replacement_history": said[:12]}
    compacted = {"timestamp": "t", "type": "compacted", "payload": history}
    kept = [line for line in lines if line.get("payload") not in said[:12]]
    place = next(at for at, line in enumerate(kept) if line["type"] == "response_item")
    numbered = enumerate([*kept[:place], compacted, *kept[place:]])
    path.write_text("".join(f"{json.dumps({**line, 'ordinal': at})}\n" for at, line in numbered))
    options = (path, "--native", "--stages", stage, "--keep-turns", "1", "--json")
    assert told(ask("compact", *options))["compacted"]
    once = path.read_bytes()
    assert not told(ask("compact", *options))["compacted"]
    assert path.read_bytes() == once


def test_a_record_without_its_line_end_gets_one_first(home: Home, ask: Ask) -> None:
    path = session(home)
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    before = path.read_bytes()
    told(ask("compact", path, "--native", *PRUNE, "--json"))
    assert path.read_bytes().startswith(before + b"\n{")
    told(ask("rewind", path, "--json"))
    assert path.read_bytes() == before


def test_a_new_session_of_it_reads_the_same(kept: Kept) -> None:
    kept.compact(*PRUNE)
    kept.goes_on("And now?")
    result = told(kept.ask("compact", kept.path, *SUMMARY, "--json"))
    assert result["forkedFrom"] == SAID.id
    fork = Path(result["output"])
    assert kept.ask("rewind", fork, "--json").code == 0
    assert sent(fork) == kept.sent


@pytest.mark.parametrize(
    ("version", "is_open", "message"),
    [(TELLS, True, "is open in Claude Code"), (OLDER, False, "does not report which sessions")],
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


@pytest.mark.parametrize(
    ("write", "insists"),
    [
        (session, False),
        (partial(session, version=OLDER), True),
        (codex_session, not can_detect_writers()),
        (pi_session, True),
    ],
)
def test_the_way_back_that_is_printed_can_be_gone(
    home: Home, ask: Ask, write: Callable[[Home], Path], *, insists: bool
) -> None:
    path = write(home)
    whole = sent(path)
    outcome = ask("compact", path, "--native", "--while-open", *PRUNE)
    [told] = re.findall("undo      compactctl (.+)", outcome.err)
    assert told.endswith(" --while-open") == insists
    outcome = ask(*shlex.split(told))
    assert outcome.code == 0, outcome.err
    assert sent(path) == whole
    for back in re.findall("redo      compactctl (.+)", outcome.err):
        assert ask(*shlex.split(back)).code == 0
        assert sent(path) != whole


def test_a_newer_client_gets_a_new_session_unless_one_insists(home: Home, ask: Ask) -> None:
    path = session(home, NEWER)
    before = path.read_bytes()
    result = told(ask("compact", path, "--native", *PRUNE, "--json"))
    assert result["forkedFrom"] == SAID.id
    assert "its client is of version 2.9.0" in result["warnings"][-1]
    assert path.read_bytes() == before
    told(ask("compact", path, "--native", "--force", *PRUNE, "--json"))
    assert path.read_bytes() != before


def test_a_file_without_a_version_is_not_appended_to_even_with_force(home: Home, ask: Ask) -> None:
    path = pi_session(home)
    lines = path.read_bytes().splitlines(keepends=True)
    header = {key: value for key, value in json.loads(lines[0]).items() if key != "version"}
    path.write_bytes(b"".join([json.dumps(header).encode() + b"\n", *lines[1:]]))
    outcome = ask("compact", path, "--native", "--force", "--while-open", *PRUNE, "--json")
    assert told(outcome)["forkedFrom"] == SAID.id


def test_nothing_is_said_of_a_version_when_nothing_is_to_be_done(home: Home, ask: Ask) -> None:
    for version in (NEWER, "1.0.98"):
        path = session(home, version)
        result = told(
            ask("compact", path, "--native", "--while-open", "--stages", "images", "--json")
        )
        assert not result["compacted"]
        undone = told(ask("rewind", path, "--client", "--native", "--while-open", "--json"))
        assert not undone["moved"]
        warnings = [*result["warnings"], *undone["warnings"]]
        assert not [text for text in warnings if version in text]


@pytest.mark.parametrize(
    ("write", "version", "note"),
    [
        (session, "1.0.98", "its client is of version 1.0.98"),
        (codex_session, "0.21.0", "its client is of version 0.21.0"),
    ],
)
def test_a_session_of_an_older_client_is_appended_to_with_a_note(
    home: Home, ask: Ask, write: Any, version: str, note: str
) -> None:
    path = write(home, version)
    before = path.read_bytes()
    result = told(ask("compact", path, "--native", "--while-open", *PRUNE, "--json"))
    assert result["output"] == str(path)
    assert path.read_bytes().startswith(before)
    assert note in result["warnings"][-1]
    assert "resume it with one of these" in result["warnings"][-1]


def _with_an_unknown_item(home: Home) -> Path:
    path = codex_session(home)
    lines = path.read_bytes().splitlines(keepends=True)
    odd = {"timestamp": "t", "ordinal": 99, "type": "response_item", "payload": {"type": "odd"}}
    path.write_bytes(b"".join((*lines, json.dumps(odd).encode(), b"\n")))
    return path


@pytest.mark.parametrize(
    ("write", "reason"),
    [
        (lambda home: pi_session(home, 2), "its file is of version 2"),
        (_with_an_unknown_item, "an item of an unknown type"),
    ],
)
def test_what_its_client_would_ignore_becomes_a_new_session(
    home: Home, ask: Ask, write: Callable[[Home], Path], reason: str
) -> None:
    path = write(home)
    before = path.read_bytes()
    result = told(ask("compact", path, "--native", "--while-open", *PRUNE, "--json"))
    assert path.read_bytes() == before
    assert result["forkedFrom"] == SAID.id
    assert reason in result["warnings"][-1]
    assert "a new session is written" in result["warnings"][-1]


@pytest.mark.parametrize(
    "more",
    [("--in-place",), ("-o", "x.jsonl"), ("--no-tags",), ("--redo",), ("--layout", "inline")],
)
def test_what_contradicts_it_is_refused(home: Home, ask: Ask, more: tuple[str, ...]) -> None:
    path = session(home)
    outcome = ask("compact", path, "--native", *more)
    assert outcome.code == 2
    assert "cannot be used together" in outcome.err


def test_other_clients_are_refused(home: Home, ask: Ask) -> None:
    outcome = ask("compact", gemini(home), "--native", *SMALL)
    assert outcome.code == 2
    assert "--native does not support the Gemini CLI session format" in outcome.err


def test_one_group_is_taken_back_and_the_other_stays(kept: Kept, tmp_path: Path) -> None:
    """The session is rewritten for it, as by a compaction in place."""
    copy, whole = tmp_path / "copy.jsonl", kept.sent
    both = ("--stages", "prune,truncate", *PRUNE[2:], "--truncate-fraction", "30%")
    copy.write_bytes(kept.bytes)
    told(kept.ask("compact", copy, "--in-place", *both, "--json"))
    kept.compact(*both)
    kept.goes_on("And now?")
    kept.client.goes_on(copy, "And now?")
    for path in (kept.path, copy):
        groups = told(kept.ask("log", path, "--json"))["operations"][0]["groups"]
        [prune] = [group["id"] for group in groups if group["stage"] == "prune"]
        told(kept.ask("rewind", path, "--closed", "--group", prune, "--json"))
    assert kept.sent == sent(copy)
    told(kept.ask("rewind", kept.path, "--closed", "--all", "--json"))
    assert kept.sent[: len(whole)] == whole


def test_originals_go_to_another_file(kept: Kept, tmp_path: Path) -> None:
    before, whole = kept.bytes, kept.sent
    kept.compact(*SUMMARY)
    kept.goes_on("And now?")
    now, out = kept.bytes, tmp_path / "originals.jsonl"
    assert kept.ask("rewind", kept.path, "-o", out).code == 0
    assert out.read_bytes().startswith(before)
    assert sent(out)[:-1] == whole
    assert kept.bytes == now


def test_what_was_rewritten_since_is_undone_with_what_was_appended(
    kept: Kept, tmp_path: Path
) -> None:
    whole, first = kept.sent, kept.bytes
    kept.compact(*PRUNE)
    kept.goes_on("And now?")
    told(kept.ask("compact", kept.path, *SUMMARY, "--in-place", "--json"))
    out = tmp_path / "first.jsonl"
    told(kept.ask("rewind", kept.path, "--all", "-o", out, "--json"))
    told(kept.ask("rewind", kept.path, "--all", "--json"))
    assert kept.bytes == out.read_bytes()
    assert kept.bytes.startswith(first)
    assert kept.sent[:-1] == whole


def test_the_growth_is_told_beforehand(kept: Kept) -> None:
    before = kept.bytes
    way: tuple[str | Path, ...] = ("compact", kept.path, "--native", *kept.client.insists, *PRUNE)
    planned = kept.ask(*way, "--dry-run").err
    assert kept.bytes == before
    assert kept.ask(*way).code == 0
    assert _told_growth(planned) == len(kept.bytes) - len(before)
    kept.goes_on("And now?")
    compacted = kept.bytes
    checked = kept.ask("rewind", kept.path, *kept.client.insists, "--check").err
    assert kept.bytes == compacted
    kept.rewind()
    assert _told_growth(checked) == len(kept.bytes) - len(compacted)


def _told_growth(text: str) -> int:
    [size] = re.findall(r"^appends   ([\d,]+) bytes to", text, re.MULTILINE)
    return int(size.replace(",", ""))
