"""``--layout messages``: what is sent after a compaction, for a pipe, and nothing else."""

import json
from pathlib import Path

import pytest
from cli.asking import SAMPLES, Ask, Sample

# One of each shape: records, a log of events, a document.
TRANSCRIPTS = sorted(path.stem for path in SAMPLES.glob("*.jsonl") if path.stem != "damaged")


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_it_is_what_view_shows_of_the_compacted_file(
    ask: Ask, excerpt: Sample, tmp_path: Path, name: str
) -> None:
    sample = excerpt(name)
    printed = ask("compact", sample, "--keep", "40%", "--layout", "messages")
    written = tmp_path / "small.jsonl"
    assert ask("compact", sample, "--keep", "40%", "--no-tags", "-o", written).code == 0
    assert (printed.code, printed.out) == (0, ask("view", "--jsonl", written).out)
    assert printed.out.endswith("\n")
    assert all(isinstance(json.loads(line), dict) for line in printed.out.splitlines())


def test_a_pipe_gets_the_same_as_a_file_and_nothing_is_written(ask: Ask, desk: Path) -> None:
    before = sorted(desk.parent.iterdir())
    stages = ("--stages", "truncate", "--layout", "messages")
    printed = ask("compact", desk, *stages)
    assert "condenseId" not in printed.out
    assert ask("compact", *stages, stdin=desk.read_bytes()).out == printed.out
    assert ask("compact", desk, *stages, "-o", "-").out == printed.out
    assert sorted(desk.parent.iterdir()) == before


def test_without_anything_to_do_all_that_is_sent_is_printed(ask: Ask, desk: Path) -> None:
    printed = ask("compact", desk, "--stages", "drop", "--layout", "messages")
    assert printed.out == ask("view", desk, "--jsonl").out


@pytest.mark.parametrize("where", [("--in-place",), ("-o", "out.jsonl")], ids=" ".join)
def test_it_is_no_transcript_to_be_kept(ask: Ask, desk: Path, where: tuple[str, ...]) -> None:
    refused = ask("compact", desk, "--layout", "messages", *where)
    assert refused.code == 2
    assert f"--layout messages and {where[0].replace('-o', '--output')}" in refused.err


def test_a_document_and_messages_do_not_share_standard_output(ask: Ask, desk: Path) -> None:
    assert ask("compact", desk, "--layout", "messages", "--json").code == 2
    assert ask("compact", desk, "--layout", "messages", "--json", "-n").code == 0
