"""A transcript that was moved or renamed, or that its client wrote anew, and its archive."""

import json
from pathlib import Path

import pytest
from cli.asking import Ask, Sample, archives
from formats.jsonl import write_lines

SMALL = ("--stages", "window", "--window-max", "4", "--keep-turns", "0")


@pytest.fixture
def moved(ask: Ask, sample: Sample) -> Path:
    """Return a compacted transcript that was renamed without its archive."""
    path = sample("openai-chat")
    assert ask("compact", path, "--in-place", *SMALL).code == 0
    return path.rename(path.with_name("renamed.jsonl"))


def archive_of(moved: Path) -> Path:
    return moved.with_name("openai-chat.jsonl.archive")


@pytest.mark.parametrize("command", [("view", "--archived"), ("rewind",)])
def test_an_archive_that_fits_is_named(ask: Ask, moved: Path, command: tuple[str, ...]) -> None:
    outcome = ask(*command, moved)
    assert outcome.code == 6
    assert f"{archive_of(moved)} matches; pass it with --archive" in outcome.err


def test_log_names_it_as_well(ask: Ask, moved: Path) -> None:
    outcome = ask("log", moved)
    assert f"{archive_of(moved)} matches" in outcome.out
    assert "in effect" in ask("log", moved, "--archive", archive_of(moved)).out


@pytest.mark.parametrize("folder", [".", "/"])
def test_a_folder_without_a_name_is_one_without_archives(
    ask: Ask, sample: Sample, folder: str
) -> None:
    outcome = ask("log", sample("openai-chat"), "--archive", folder)
    assert (outcome.code, outcome.err) == (0, "")
    assert "was never compacted" in outcome.out


def test_one_that_does_not_fit_is_not_named(ask: Ask, moved: Path, sample: Sample) -> None:
    archives(moved.with_name("openai-chat.jsonl"))[0].unlink()
    other = sample("anthropic-messages")
    assert ask("compact", other, *SMALL).code == 0
    outcome = ask("rewind", moved)
    assert (outcome.code, "put " in outcome.err) == (6, True)


def test_with_its_archive_named_everything_is_there(ask: Ask, moved: Path, sample: Sample) -> None:
    named = ("--archive", archive_of(moved))
    assert ask("view", moved, "--archived", *named).out
    assert ask("rewind", moved, *named, "--check").code == 0
    compacted = moved.read_bytes()
    assert ask("rewind", moved, *named).code == 0
    assert moved.read_bytes() == sample("openai-chat").read_bytes()
    # The archive came along: from now on it is found.
    operation = ask("log", moved, "--json").json["operations"][0]["id"]
    assert ask("rewind", moved, "--to", operation).code == 0
    assert moved.read_bytes() == compacted
    assert ask("verify", moved).code == 0


def test_the_originals_are_had_of_what_its_client_wrote_anew(
    ask: Ask, sample: Sample, tmp_path: Path
) -> None:
    path = sample("openai-chat")
    original, out = path.read_bytes(), tmp_path / "originals.jsonl"
    assert ask("compact", path, "--in-place", *SMALL).code == 0
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    anew = [{"id": f"new{n}", **record} for n, record in enumerate(records)]
    said = {"role": "user", "content": "And now?"}
    write_lines(path, *(*anew, said))

    outcome = ask("rewind", path)
    assert outcome.code == 8
    assert "was edited since operation" in outcome.err
    assert "-o FILE writes the originals" in outcome.err
    assert ask("rewind", path, "-o", out).code == 0
    assert out.read_bytes() == original

    write_lines(path, *anew[:1])
    outcome = ask("rewind", path, "--check")
    assert outcome.code == 8
    assert "was edited since operation" in outcome.err


def test_a_run_with_nothing_to_do_has_nothing_to_undo(
    ask: Ask, sample: Sample, tmp_path: Path
) -> None:
    path, out = sample("openai-chat"), tmp_path / "out.jsonl"
    assert ask("compact", path, "-o", out, "--target", "90%").code == 0
    outcome = ask("rewind", out)
    assert (outcome.code, "nothing to undo" in outcome.out) == (0, True)
    assert out.read_bytes() == path.read_bytes()


def test_a_document_is_shown_with_a_message_a_line(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    messages = [
        {"role": "user", "content": [{"type": "text", "text": f"question\n{n} " + "word " * 60}]}
        if n % 2 == 0
        else {"role": "assistant", "content": [{"type": "text", "text": f"answer {n}"}]}
        for n in range(12)
    ]
    path.write_text(json.dumps({"model": "m", "messages": messages}, indent=2))
    lines = ask("view", path, "--jsonl").out.splitlines()
    assert [json.loads(line) for line in lines] == messages

    small = tmp_path / "small.json"
    assert ask("compact", path, "-o", small, *SMALL).code == 0
    shown = ask("view", small, "--archived", "--jsonl").out
    hidden = [json.loads(line) for line in shown.splitlines()]
    assert hidden
    assert all(record.pop("truncationParent") for record in hidden)
    assert all(record in messages for record in hidden)
    assert ask("view", small, "--archived", "--jsonl", "--grep", "question").out.count("\n") < len(
        messages
    )
