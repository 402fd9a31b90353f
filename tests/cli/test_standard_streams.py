"""What goes to standard output and comes from standard input, one thing each."""

import io
import json
import os
from pathlib import Path

import pytest
from cli.asking import Ask

from compactctl.__main__ import run

STAGES = ("--stages", "summarize", "--counter", "chars/4")


def test_a_transcript_and_a_document_need_an_output_each(ask: Ask, desk: Path) -> None:
    asked = ("compact", desk, *STAGES, "-o", "-", "--layout", "inline")
    both = ask(*asked, "--json")
    assert (both.code, both.out) == (2, "")
    assert "--json and a transcript both need standard output; name a file with -o" in both.err
    piped = ask(*asked)
    assert piped.code == 0
    assert all(json.loads(line) for line in piped.out.splitlines())


def test_a_document_that_settings_ask_for_gives_way_to_a_transcript(
    ask: Ask, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("compact", desk, *STAGES, "-o", "-", "--layout", "inline")
    plain = ask(*asked)
    monkeypatch.setenv("COMPACTCTL_JSON", "1")
    assert ask(*asked) == plain
    document = ask("compact", desk, *STAGES, "-n").json
    assert document["schema"].startswith("compactctl.compact/")


def test_a_check_of_a_rewind_writes_nothing_so_that_it_may_be_a_document(
    ask: Ask, desk: Path
) -> None:
    inline = ask("compact", desk, *STAGES, "-o", "-", "--layout", "inline").out.encode()
    checked = ask("rewind", "-", "--check", "--json", stdin=inline)
    assert checked.code == 0, checked.err
    assert checked.json["path"] == "-"
    refused = ask("rewind", "-", "--json", stdin=inline)
    assert refused.code == 2
    assert "--json and a transcript both need standard output" in refused.err
    assert ask("rewind", "-", stdin=inline).out.encode() == desk.read_bytes()


def test_what_cannot_be_read_from_standard_input_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    closed = os.open(tmp_path / "out", os.O_WRONLY | os.O_CREAT)
    with io.FileIO(os.dup(closed), "r") as raw:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(raw)))
        assert run(["stats"]) == 3
    os.close(closed)
    assert "standard input: cannot be read (Bad file descriptor)" in capfd.readouterr().err
