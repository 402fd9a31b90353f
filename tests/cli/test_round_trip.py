"""From a transcript to a smaller one and back, as the quick start describes it."""

import json
import re
import shutil
from pathlib import Path

import pytest
from changed_lines import unexplained
from cli.asking import Ask, Sample, archives
from file_commands import load_file

NAMES = (
    "claude-code-session",
    "codex-session",
    "openai-chat",
    "openai-chat-conversations",
    "anthropic-messages",
    "neurolink",
    "damaged",
)


@pytest.mark.each_choice
@pytest.mark.parametrize("layout", ["split", "inline"])
@pytest.mark.parametrize("name", NAMES)
def test_every_bundled_transcript_comes_back_byte_for_byte(
    ask: Ask, sample: Sample, name: str, layout: str
) -> None:
    original = sample(name)
    before = original.read_bytes()
    small = original.with_name("small.jsonl")
    done = ask("compact", original, "-o", small, "--keep", "1%", "--layout", layout)
    assert done.code == 0
    assert original.read_bytes() == before
    if "nothing was changed" not in done.out:
        assert small.read_bytes() != before
        if layout == "split":
            files = (load_file(path) for path in (original, small))
            assert unexplained(*files) == []
        assert ask("rewind", small).code == 0
    assert small.read_bytes() == before


def test_a_summary_of_the_client_that_is_shortened_inline_comes_back(
    ask: Ask, sample: Sample
) -> None:
    original = sample("neurolink")
    small, smaller, back = (original.with_name(f"{name}.jsonl") for name in "abc")
    to_inline = ("--layout", "inline", "--target")
    assert ask("compact", original, "-o", small, *to_inline, "1k").code == 0
    assert '"condenseId":"a4feaa334a17","editId":' in small.read_text()
    assert ask("verify", small).code == 0
    assert ask("compact", small, "-o", smaller, *to_inline, "800").code == 0
    assert ask("rewind", smaller, "--all", "-o", back).code == 0
    assert back.read_bytes() == original.read_bytes()
    assert ask("rewind", smaller).code == 0
    assert smaller.read_bytes() == small.read_bytes()


def test_what_is_written_is_told_with_the_way_back(ask: Ask, desk: Path) -> None:
    outcome = ask("compact", desk, "--target", "5k")
    small = desk.with_name("openai-chat.compacted.jsonl")
    assert f"wrote     {small} (" in outcome.err
    assert f"archive   {small}.archive\n" in outcome.err
    undo = re.search(r"undo      compactctl rewind (.+)\n", outcome.err)
    assert undo is not None
    assert undo[1] == str(small)


def test_a_compaction_that_ran_twice_is_in_effect_once(ask: Ask, desk: Path) -> None:
    small = desk.with_name("openai-chat.compacted.jsonl")
    for target in ("5k", "4k", "5k"):
        assert ask("compact", desk, "--target", target).code == 0
    entries = ask("log", small, "--json").json["operations"]
    assert [entry["inEffect"] for entry in entries] == [False, False, True]
    assert entries[0]["id"] == entries[2]["id"]
    groups = ask("log", small).out.partition("Groups")[2].splitlines()[3:]
    assert len(groups) == len(set(groups)) == len(entries[2]["groups"]) > 0


def test_in_place_and_back(ask: Ask, desk: Path) -> None:
    before = desk.read_bytes()
    assert ask("compact", desk, "--target", "5k", "--in-place").code == 0
    assert desk.read_bytes() != before
    assert ask("rewind", desk).code == 0
    assert desk.read_bytes() == before


def test_a_dry_run_and_a_check_write_nothing(ask: Ask, desk: Path, compacted: Path) -> None:
    before = {path: path.read_bytes() for path in desk.parent.rglob("*") if path.is_file()}
    outcome = ask("compact", desk, "--target", "4k", "-n")
    assert "dry run: no transcript was written" in outcome.err
    assert "checked only: nothing was written" in ask("rewind", compacted, "--check").err
    assert {path: path.read_bytes() for path in desk.parent.rglob("*") if path.is_file()} == before


def test_the_view_shows_what_is_hidden_and_by_what(ask: Ask, compacted: Path) -> None:
    assert "[Previous conversation summary]" in ask("view", compacted).out
    hidden = ask("view", compacted, "--archived").out
    assert "MV Holvenness" in hidden
    assert re.search(r"── #\d+ · user · hidden by [0-9a-f]{12}, summarize", hidden)
    everything = ask("view", compacted, "--all").out
    assert hidden.split("\n")[1] in everything


def test_the_view_gives_back_raw_lines(ask: Ask, desk: Path) -> None:
    assert ask("view", desk, "--jsonl").out == desk.read_text()


def test_hidden_lines_carry_the_tag_of_what_hides_them(ask: Ask, compacted: Path) -> None:
    records = [
        json.loads(each)
        for each in ask("view", compacted, "--all", "--jsonl").out.split("\n")
        if each
    ]
    hiding = {record.get("condenseId") for record in records} - {None}
    hidden = {record.get("condenseParent") for record in records} - {None}
    assert hiding
    assert hidden == hiding


def test_nothing_hidden_is_said(ask: Ask, desk: Path) -> None:
    outcome = ask("view", desk, "--archived")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err.endswith("nothing is hidden\n")


def test_the_log_lists_operations_and_groups(ask: Ask, compacted: Path) -> None:
    shown = ask("log", compacted).out
    assert re.search(r"1  [0-9a-f]{12}  20.* in effect\n", shown)
    assert "summarize" in shown
    assert "truncate" in shown
    ask("rewind", compacted)
    assert "to the original" in ask("log", compacted).out


def test_a_group_comes_back_alone(ask: Ask, desk: Path, compacted: Path) -> None:
    found = ask("log", compacted, "--json").json
    summarize = next(g for g in found["operations"][0]["groups"] if g["stage"] == "summarize")
    outcome = ask("rewind", compacted, "--group", summarize["id"])
    assert outcome.code == 0
    assert "MV Holvenness" in ask("view", compacted).out
    assert ask("rewind", compacted, "--all").code == 0
    assert compacted.read_bytes() == desk.read_bytes()


def test_a_group_brought_back_claims_no_savings_it_does_not_know(ask: Ask, compacted: Path) -> None:
    group = ask("log", compacted, "--json").json["operations"][0]["groups"][0]["id"]
    ask("rewind", compacted, "--group", group)
    *_, last = ask("log", compacted).out.split("\n\n")[0].split("\n")
    assert f"without group {group}" in last
    assert not re.search(r"\d,\d{3}", last)


def test_a_rewind_can_be_undone(ask: Ask, compacted: Path) -> None:
    small = compacted.read_bytes()
    back = ask("rewind", compacted)
    again = re.search(r"redo      compactctl (rewind .+ --to [0-9a-f]{12})\n", back.err)
    assert again is not None
    assert ask(*again[1].split()).code == 0
    assert compacted.read_bytes() == small


def test_lines_appended_since_survive(ask: Ask, desk: Path, compacted: Path) -> None:
    line = b'{"role":"user","content":"one more thing"}\n'
    compacted.write_bytes(compacted.read_bytes() + line)
    outcome = ask("rewind", compacted)
    assert "appended since the compaction" in outcome.out
    assert compacted.read_bytes() == desk.read_bytes() + line


def test_a_rewind_names_the_file_that_was_meant(ask: Ask, desk: Path, compacted: Path) -> None:
    assert f"did you mean {compacted.name}?" in ask("rewind", desk).err


def test_an_archive_is_needed_beside_the_transcript(ask: Ask, compacted: Path) -> None:
    shutil.rmtree(f"{compacted}.archive")
    assert ask("rewind", compacted).code == 6
    assert archives(compacted) == []


def test_a_summary_written_elsewhere_is_used(ask: Ask, desk: Path, tmp_path: Path) -> None:
    (tmp_path / "summary.md").write_text("MV Holvenness got berth N4.")
    small = tmp_path / "small.jsonl"
    outcome = ask(
        *("compact", desk, "--stages", "summarize", "-o", small),
        *("--summary-file", tmp_path / "summary.md"),
    )
    assert outcome.code == 0
    assert "MV Holvenness got berth N4." in small.read_text()


def test_conversations_are_told_apart(ask: Ask, desk: Path, sample: Sample) -> None:
    assert "══" not in ask("view", desk).out
    shown = ask("view", sample("openai-chat-conversations")).out
    assert [f"══ conversation {n + 1}\n" in shown for n in range(13)] == [True] * 12 + [False]
