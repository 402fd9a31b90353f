"""The functions that take files: what they write by default, and what each keyword changes."""

from pathlib import Path

import pytest
from formats.jsonl import write_lines
from library.loops import loop
from sessions.homes import Home, Said, many

import compactctl
from compactctl.errors import CompactctlError, UsageError


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return a transcript of 20 calls."""
    return write_lines(tmp_path / "run.jsonl", *loop(20))


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


ARCHIVED = {"run.jsonl", "run.compacted.jsonl", "run.compacted.jsonl.archive"}


def test_a_file_is_compacted_beside_it_and_restored(run: Path) -> None:
    before = run.read_bytes()
    result = compactctl.compact(run, target=3_000, stages="distill")
    assert run.read_bytes() == before
    assert names(run.parent) == ARCHIVED
    compacted = run.with_name("run.compacted.jsonl")
    assert compacted.stat().st_size < len(before)
    assert result.options.output.layout == "split"
    compactctl.rewind(compacted)
    assert compacted.read_bytes() == before


def test_in_place(run: Path) -> None:
    before = run.read_bytes()
    compactctl.compact(run, in_place=True, target=3_000, stages="distill")
    assert names(run.parent) == {"run.jsonl", "run.jsonl.archive"}
    assert run.stat().st_size < len(before)


def test_an_archive_within_the_file(run: Path) -> None:
    output = run.with_name("small.jsonl")
    compactctl.compact(run, output=output, layout="inline", target=3_000, stages="distill")
    assert names(run.parent) == {"run.jsonl", "small.jsonl"}
    compactctl.rewind(output, output=run.with_name("restored.jsonl"))
    assert run.with_name("restored.jsonl").read_bytes() == run.read_bytes()


def test_a_dry_run_writes_nothing(run: Path) -> None:
    result = compactctl.compact(run, dry_run=True, target=3_000, stages="distill")
    assert names(run.parent) == {"run.jsonl"}
    assert result.fits
    assert result.written is None


def test_only_force_overwrites_a_file(run: Path) -> None:
    output = run.with_name("small.jsonl")
    output.write_text("mine\n")
    with pytest.raises(CompactctlError, match=r"small\.jsonl"):
        compactctl.compact(run, output=output, target=3_000, stages="distill")
    assert output.read_text() == "mine\n"
    compactctl.compact(run, output=output, target=3_000, stages="distill", force=True)
    restored = run.with_name("restored.jsonl")
    restored.write_text("mine\n")
    with pytest.raises(CompactctlError, match=r"restored\.jsonl"):
        compactctl.rewind(output, output=restored)
    assert restored.read_text() == "mine\n"
    compactctl.rewind(output, output=restored, force=True)
    assert restored.read_bytes() == run.read_bytes()


def test_standard_output_is_for_the_command(run: Path) -> None:
    with pytest.raises(UsageError, match=r"^output='-' is for the command line; "):
        compactctl.compact(run, output="-")


def test_compactions_are_undone_one_at_a_time_or_all_at_once(run: Path) -> None:
    states = [run.read_bytes()]
    for target in (4_000, 2_000):
        compactctl.compact(run, in_place=True, target=target, stages="distill")
        states.append(run.read_bytes())
    proof = compactctl.rewind(run, check=True)
    assert (proof.written, len(proof.in_effect), len(proof.undone)) == (None, 1, 1)
    assert run.read_bytes() == states[2]
    compactctl.rewind(run)
    assert run.read_bytes() == states[1]
    compactctl.compact(run, in_place=True, target=2_000, stages="distill")
    compactctl.rewind(run, to=proof.in_effect[0])
    assert run.read_bytes() == states[1]
    compactctl.compact(run, in_place=True, target=2_000, stages="distill")
    result = compactctl.rewind(run, all=True)
    assert (len(result.undone), run.read_bytes()) == (2, states[0])


def test_a_group_that_does_not_exist_is_not_restored(run: Path) -> None:
    compactctl.compact(run, in_place=True, target=3_000, stages="distill")
    with pytest.raises(UsageError, match="no-such"):
        compactctl.rewind(run, group="no-such")


def test_a_transcript_is_measured_for_the_named_model(run: Path) -> None:
    sent = compactctl.stats(run, model="gpt-4.1")
    assert (sent.measure.model.name, sent.messages) == ("gpt-4.1", 42)


def test_a_format_is_detected_unless_it_is_named(run: Path) -> None:
    assert compactctl.load(run).format == "openai-chat"
    assert compactctl.load(run, format="neurolink").format == "neurolink"


def test_the_newest_20_sessions_are_listed(home: Home) -> None:
    many(home, 21, n_bytes=0)
    home.pi(Said(name="tides", project="/p/tides"))
    assert len(compactctl.list_sessions()) == 20
    assert len(compactctl.list_sessions(most=0)) == 22
    assert len(compactctl.list_sessions(most=3)) == 3
    (by_client,) = compactctl.list_sessions(clients="pi", most=0)
    (by_project,) = compactctl.list_sessions(project=Path("/p/tides"))
    assert by_client == by_project
    assert by_client.session.id == Said(name="tides").id
    assert len(compactctl.list_sessions(clients=["pi", "codex"], most=0)) == 11
