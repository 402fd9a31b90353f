"""What holds text of a transcript is open to nobody whom the transcript is not open to."""

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import pytest
from cli.asking import Ask
from conftest import ROOT

from compactctl.cli.group import COMMANDS, Commands

# Options that name what is read.
INPUTS = {
    "--archive",
    "--attach",
    "--baseline",
    "--files-from",
    "--from-error",
    "--plan",
    "--prices",
    "--profile",
    "--project",
    "--summary-file",
    "--system",
    "--template",
    "--tools",
    "--windows",
}
# A command on a transcript, with every option of it that names what is written, and what that is.
WRITING: tuple[tuple[str, ...], ...] = (
    ("stats", "run.jsonl", "--rounds-out", "rounds.parquet", "--html", "stats.html"),
    (
        *("compact", "run.jsonl", "--stages", "truncate", "--output", "small.jsonl"),
        *("--archived-out", "hidden.jsonl", "--plan-out", "plan.toml", "--html", "compact.html"),
    ),
    ("rewind", "small.jsonl", "--output", "back.jsonl"),
    ("compact", "run.jsonl", "--hide", "3..8", "--output", "tagged.jsonl"),
    ("rescue", "run.jsonl", "--output", "rescued.jsonl"),
    (
        *("eval", "run.jsonl", "--report", "eval.parquet", "--plot", "eval.svg"),
        *("--html", "eval.html"),
    ),
    (
        *("batch", "run.jsonl", "--out", "many", "--report", "batch.csv"),
        *("--report", "batch.parquet", "--report", "batch.md", "--report", "batch.jsonl"),
        *("--messages-out", "messages.parquet", "--rounds-out", "requests.parquet"),
        *("--junit", "junit.xml", "--html", "batch.html", "--stages", "truncate"),
    ),
    ("report", "batch.parquet", "--merge", "merged.parquet", "--html", "report.html"),
    ("limit-output", "run.jsonl", "--max-lines", "10", "--spill-dir", "spilled"),
)
OPEN = 0o666


@pytest.fixture(name="no_umask")
def _no_umask() -> Iterator[None]:
    mask = os.umask(0)
    yield
    os.umask(mask)


def outputs() -> Iterator[tuple[str, str]]:
    """Yield every command with an option of it that names a file or a folder to be written."""
    for name in COMMANDS:
        for option in Commands()[name].params:
            kinds = (option.metavar or "").split("|") if isinstance(option, click.Option) else ()
            flags = [each for each in option.opts if each.startswith("--")]
            if {"FILE", "DIR", "FOLDER", "PATH"}.intersection(kinds) and not INPUTS & {*flags}:
                yield name, flags[-1]


def test_every_option_that_names_an_output_is_tried() -> None:
    tried = {(words[0], word) for words in WRITING for word in words if word.startswith("--")}
    missing = set(outputs()) - tried
    assert not missing, (
        "tests/cli/test_modes.py: add each to its command in WRITING, or to INPUTS if it is read"
    )


@pytest.fixture
def written(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int) -> Sequence[Path]:
    """Return all files that the commands wrote, of a transcript of some mode."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "run.jsonl"
    path.write_bytes((ROOT / "sample_transcripts/openai-chat.jsonl").read_bytes())
    path.chmod(mode)
    for words in WRITING:
        assert ask(*words).code in (0, 1), words
    assert Path("back.jsonl").read_bytes() == path.read_bytes()
    return [each for each in tmp_path.rglob("*") if each.is_file() and each != path]


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("no_umask")
@pytest.mark.parametrize("mode", [0o600, pytest.param(0o640, marks=pytest.mark.long)])
def test_nothing_is_open_to_others(written: Sequence[Path], mode: int) -> None:
    wider = {str(path): oct(mode_of(path)) for path in written if mode_of(path) & ~mode}
    named = {word for words in WRITING for word in words[2:] if "." in word.strip(".0123456789")}
    assert not wider, "write these with the mode of their transcript: compactctl/store/files"
    missing = named - {path.name for path in written}
    assert not missing, "tests/cli/test_modes.py: the commands in WRITING wrote none of these"
    assert mode_of(Path("back.jsonl")) == mode


@pytest.mark.parametrize("mask", [0, 0o022, 0o077])
def test_a_restored_file_has_the_mode_of_its_transcript(
    ask: Ask, compacted: Path, mask: int
) -> None:
    compacted.chmod(OPEN)
    earlier = os.umask(mask)
    try:
        assert ask("rewind", compacted, "-o", compacted.with_name("back.jsonl")).code == 0
    finally:
        os.umask(earlier)
    assert mode_of(compacted.with_name("back.jsonl")) == OPEN


def test_of_several_transcripts_the_strictest_mode_counts(ask: Ask, desk: Path) -> None:
    desk.chmod(0o644)
    other = desk.with_name("other.jsonl")
    other.write_bytes(desk.read_bytes())
    other.chmod(0o600)
    report = desk.with_name("report.csv")

    assert ask("batch", desk, "--report", report).code == 0
    assert mode_of(report) == 0o644
    assert ask("batch", desk, other, "--report", report, "--force").code == 0
    assert mode_of(report) == 0o600
