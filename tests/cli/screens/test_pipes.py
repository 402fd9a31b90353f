"""Standard input and output: data goes through, the rest stays out of its way."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from cli.asking import Ask
from cli.screens.terminal import PLAIN, run_piped
from forked import completed

FULL = Path("/dev/full")


def without_reader(
    *arguments: str | Path, streams: Sequence[int] = (1,)
) -> CompletedProcess[bytes]:
    """Run the program with nobody at the other end of some of its standard streams."""
    reader, writer = os.pipe()
    os.close(reader)
    given = dict.fromkeys(streams, writer)
    done = completed(tuple(map(str, arguments)), Path.cwd(), PLAIN, streams=given)
    os.close(writer)
    return done


# What is asked of a transcript of 14,225 tokens -> the exit code.
VERDICTS = {
    ("stats",): 0,
    ("stats", "--json"): 0,
    ("view", "--jsonl"): 0,
    ("view", "--json"): 0,
    ("check", "--trigger", "100"): 1,
    ("check", "--trigger", "100", "--json"): 1,
    ("stats", "--fail-over", "0.01"): 1,
    ("batch", "--fail-over-tokens", "10"): 1,
    ("batch", "--json", "--fail-over-tokens", "10"): 1,
    ("compact", "-n", "--target", "300", "--require-fit"): 5,
    ("stats", "--counter", "no-such"): 2,
}


@pytest.mark.parametrize("streams", [(1,), (2,), (1, 2)])
@pytest.mark.parametrize("arguments", VERDICTS)
def test_a_closed_pipe_changes_no_verdict(
    desk: Path, arguments: tuple[str, ...], streams: Sequence[int]
) -> None:
    command, *options = arguments
    done = without_reader(command, desk, *options, streams=streams)
    assert done.returncode == VERDICTS[arguments]
    assert b"roken pipe" not in done.stderr


def test_a_closed_pipe_stops_no_work(ask: Ask, desk: Path, tmp_path: Path) -> None:
    out, report = desk.with_name("out.jsonl"), tmp_path / "report.csv"
    assert without_reader("compact", desk, "--target", "5k", "-o", out).returncode == 0
    assert ask("verify", out).code == 0
    done = without_reader("batch", desk.parent, "--fail-over-tokens", "10", "--report", report)
    assert done.returncode == 1
    assert report.read_text().count("\n") == 3


def test_a_reader_may_have_enough_of_a_compaction(desk: Path) -> None:
    before = desk.read_bytes()
    done = without_reader("compact", desk, "--target", "5k", "--layout", "inline", "-o", "-")
    assert done.returncode == 0
    assert desk.read_bytes() == before


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("stats", "--help")])
@pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
def test_help_that_is_refused_is_told(arguments: tuple[str, ...]) -> None:
    with FULL.open("wb") as full:
        done = completed(arguments, Path.cwd(), PLAIN, streams={1: full.fileno()})
    assert (done.returncode, done.stderr.count(b"\n")) == (74, 1)


@pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
def test_a_full_disk_behind_standard_error_changes_no_verdict(desk: Path) -> None:
    path = str(desk)
    with FULL.open("wb") as full:
        for arguments, code in (
            (("check", path, "--trigger", "100"), 1),
            (("compact", path, "-n"), 0),
        ):
            done = completed(arguments, Path.cwd(), PLAIN, streams={2: full.fileno()})
            assert done.returncode == code


@pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
def test_a_full_disk_behind_standard_output_is_told(desk: Path) -> None:
    with FULL.open("wb") as full:
        done = completed(("stats", str(desk)), Path.cwd(), PLAIN, streams={1: full.fileno()})
    assert done.returncode == 74
    assert done.stderr == (
        b"compactctl: standard output: No space left on device; make room and run it again\n"
    )


def with_closed(stream: int, *arguments: str | Path) -> CompletedProcess[bytes]:
    """Run the program with one of its standard streams closed."""
    return completed(tuple(map(str, arguments)), Path.cwd(), PLAIN, streams={stream: None})


def test_closed_standard_output_is_told(desk: Path) -> None:
    done = with_closed(1, "stats", desk)
    assert (done.returncode, done.stderr) == (
        74,
        b"compactctl: standard output: Bad file descriptor; redirect it to a file\n",
    )


def test_closed_standard_error_changes_no_exit_code(desk: Path, tmp_path: Path) -> None:
    found = with_closed(2, "stats", desk)
    assert (found.returncode, found.stdout.split()[0]) == (0, b"14,225")
    assert with_closed(2, "stats", tmp_path / "nothing").returncode == 3


def test_closed_standard_input_is_no_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = with_closed(0, "stats")
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"no input: no transcript in " in done.stderr


@pytest.mark.parametrize("stream", [1, 2])
def test_what_is_meant_for_a_closed_stream_gets_into_no_file(
    ask: Ask, desk: Path, stream: int
) -> None:
    before, out = desk.read_bytes(), desk.with_name("out.jsonl")
    with_closed(stream, "compact", desk, "--target", "5k", "-o", out)
    assert ask("verify", out).code == 0
    assert ask("rewind", out).code == 0
    assert (desk.read_bytes(), out.read_bytes()) == (before, before)


def test_stats_reads_standard_input(ask: Ask, desk: Path) -> None:
    outcome = ask("stats", "-", stdin=desk.read_bytes())
    assert outcome.code == 0
    assert outcome.out.startswith("14,225 of 128,000 tokens (11%): fits\n")


def test_a_pipe_takes_a_compaction_and_gives_it_back(desk: Path) -> None:
    before = desk.read_bytes()
    compaction = run_piped("compact", "-", "--layout", "inline", "--target", "5k", stdin=before)
    assert compaction.returncode == 0
    assert b"distill" in compaction.stderr
    assert all(json.loads(line) for line in compaction.stdout.splitlines())
    assert compaction.stdout != before
    back = run_piped("rewind", "-", stdin=compaction.stdout)
    assert (back.returncode, back.stdout) == (0, before)
    assert b"SHA-256 verified" in back.stderr


def test_a_pipe_leaves_no_file(ask: Ask, desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(desk.parent)
    ask("compact", "-", "--layout", "inline", "--target", "5k", stdin=desk.read_bytes())
    assert list(desk.parent.iterdir()) == [desk]


def test_an_unchanged_transcript_goes_through_a_pipe(desk: Path) -> None:
    done = run_piped("compact", "-", "--layout", "inline", stdin=desk.read_bytes())
    assert (done.returncode, done.stdout) == (0, desk.read_bytes())
    assert b"nothing was changed" in done.stderr


def test_standard_input_needs_a_place_for_its_archive(ask: Ask, desk: Path) -> None:
    split = ("compact", "-", "--target", "5k", "--layout", "split")
    outcome = ask(*split, stdin=desk.read_bytes())
    assert outcome.code == 2
    assert "--layout inline" in outcome.err


def test_a_pipe_brings_no_archive_along(ask: Ask, compacted: Path) -> None:
    outcome = ask("rewind", stdin=compacted.read_bytes())
    assert outcome.code == 6
    assert "archive not found; name the file instead" in outcome.err
    assert "name the file instead" in ask("log", stdin=compacted.read_bytes()).out


def test_standard_input_into_a_file_gets_an_archive(ask: Ask, desk: Path) -> None:
    out = desk.with_name("out.jsonl")
    done = ask("compact", "-", "--target", "5k", "-o", out, stdin=desk.read_bytes())
    assert done.code == 0
    assert ask("rewind", out).code == 0
    assert out.read_bytes() == desk.read_bytes()


def test_a_dry_run_of_standard_input_may_answer_in_json(ask: Ask, desk: Path) -> None:
    outcome = ask("compact", "-", "--layout", "inline", "-n", "--json", stdin=desk.read_bytes())
    assert outcome.code == 0
    assert outcome.json["dryRun"] is True


def test_the_restored_state_goes_to_standard_output(ask: Ask, compacted: Path, desk: Path) -> None:
    outcome = ask("rewind", compacted, "-o", "-")
    assert outcome.out == desk.read_text()
    assert "SHA-256 verified" in outcome.err
