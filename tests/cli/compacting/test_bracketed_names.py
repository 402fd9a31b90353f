"""Files and folders whose names are patterns to a shell: they are found by their names."""

import shutil
from pathlib import Path

import pytest
from cli.asking import SAMPLES, Ask

SMALL = ("--stages", "window", "--window-max", "4", "--keep-turns", "0")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return a transcript with such a name, in a folder with such a name."""
    folder = tmp_path / "runs[1]"
    folder.mkdir()
    return Path(shutil.copy(SAMPLES / "openai-chat.jsonl", folder / "run[2]*?.jsonl"))


def test_what_was_compacted_beside_a_transcript_is_named(ask: Ask, run: Path) -> None:
    assert ask("compact", run, *SMALL).code == 0
    compacted = run.with_name("run[2]*?.compacted.jsonl")
    refused = ask("rewind", run)
    assert refused.code == 6
    assert f"did you mean {compacted.name}?" in refused.err
    assert ask("verify", compacted).code == 0
    assert ask("rewind", compacted).code == 0
    assert compacted.read_bytes() == run.read_bytes()


def test_an_archive_in_the_users_folder_is_found(
    ask: Ask, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert ask("compact", run, "--in-place", *SMALL).code == 0
    archive = run.with_name(f"{run.name}.archive")
    away = tmp_path / "state" / "compactctl" / "archives" / "elsewhere" / archive.name
    away.parent.mkdir(parents=True)
    archive.rename(away)
    assert f"{away} matches; pass it with --archive" in ask("rewind", run).err


@pytest.mark.parametrize(
    ("where", "options"),
    [
        ("runs[1]", ()),
        ("runs[1]/*.jsonl", ()),
        ("runs[1]", ("--include", "run[2]*?.jsonl")),
        ("runs[1]/run[2]*?.jsonl", ()),
    ],
)
def test_a_batch_takes_it(
    ask: Ask, run: Path, where: str, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run.parent.parent)
    done = ask("batch", where, *options, "--json", "--no-cache")
    assert done.code == 0, done.err
    assert len(done.json["files"]) == 1


def test_a_batch_leaves_it_out(ask: Ask, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(run.parent.parent)
    shutil.copy(run, run.with_name("other.jsonl"))
    done = ask("batch", "runs[1]", "--exclude", run.name, "--json", "--no-cache")
    assert len(done.json["files"]) == 1
