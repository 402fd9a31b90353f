"""Archives of sessions in clients' stores lie in the user's state folder, and are found there."""

import shutil
import stat
from pathlib import Path

import pytest
from cli.asking import Ask
from sessions.homes import Home, Said
from sessions.long_sessions import EACH, SAID, SMALL, WRITERS, forked, in_place, state_of

from compactctl.store.archive.names import SUFFIX, archive_folder, transcript_of
from compactctl.store.client_folders import archives_folder, this_machine

READING = (
    ("stats",),
    ("view",),
    ("view", "--archived"),
    ("log",),
    ("check",),
    ("rewind", "--check"),
    ("verify",),
)
HIDDEN = "the tide turns"


def beside_of(path: Path) -> Path:
    return path.with_name(path.name + SUFFIX)


@EACH
def test_work_in_place_leaves_nothing_among_a_clients_files(
    home: Home, ask: Ask, client: str
) -> None:
    path = WRITERS[client](home)
    before = path.read_bytes()
    names = set(path.parent.iterdir())
    in_place(ask, path)
    assert set(path.parent.iterdir()) == names
    (folder,) = (each.parent for each in state_of(home).rglob("*.parquet"))
    assert folder == archive_folder(path)
    assert transcript_of(folder) == path
    assert ask("rewind", path).code == 0
    assert path.read_bytes() == before


@EACH
def test_a_new_session_has_its_archive_in_the_state_folder(
    home: Home, ask: Ask, client: str
) -> None:
    WRITERS[client](home)
    result = forked(ask, SAID.id)
    fork, archive = Path(result["output"]), Path(result["archive"])
    assert archive == archive_folder(fork)
    assert archive.is_relative_to(state_of(home))
    assert not [each for each in fork.parent.iterdir() if each.name.endswith(SUFFIX)]


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_commands_that_read_find_it(home: Home, ask: Ask, command: tuple[str, ...]) -> None:
    path = WRITERS["claude-code"](home)
    in_place(ask, path)
    name, *options = command
    outcome = ask(name, path, *options)
    assert outcome.code == 0, outcome.err
    if "--archived" in options:
        assert HIDDEN in outcome.out
    if name == "log":
        assert "truncate" in outcome.out


def test_all_of_it_is_for_its_owner_alone(home: Home, ask: Ask) -> None:
    in_place(ask, WRITERS["claude-code"](home))
    for path in (home.root / ".local" / "state" / "compactctl", *state_of(home).rglob("*")):
        if not path.name.startswith("displaced-"):
            wanted = 0o700 if path.is_dir() else 0o600
            assert stat.S_IMODE(path.stat().st_mode) == wanted, path


def test_the_state_folder_moves_with_its_variable(
    home: Home, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = WRITERS["claude-code"](home)
    in_place(ask, path)
    assert archive_folder(path).is_relative_to(tmp_path / "state" / "compactctl")
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    assert archives_folder(this_machine()) == state_of(home)


def test_an_archive_beside_a_session_goes_on_working(home: Home, ask: Ask) -> None:
    path = WRITERS["claude-code"](home)
    before = path.read_bytes()
    in_place(ask, path)
    shutil.move(archive_folder(path), beside_of(path))
    assert ask("verify", path).code == 0
    assert ask("rewind", path, "--all").code == 0
    assert path.read_bytes() == before
    assert len(list(beside_of(path).glob("*.parquet"))) == 2
    assert archive_folder(path) == beside_of(path)


def test_a_store_behind_a_link_has_one_archive(home: Home, ask: Ask, tmp_path: Path) -> None:
    path = WRITERS["claude-code"](home)
    real = tmp_path / "disk"
    shutil.move(home.root / ".claude", real)
    (home.root / ".claude").symlink_to(real)
    in_place(ask, path)
    by_disk = real / path.relative_to(home.root / ".claude")
    assert archive_folder(by_disk) == archive_folder(path)
    assert ask("verify", by_disk).code == 0


def test_an_archive_of_a_session_that_was_renamed_is_found(home: Home, ask: Ask) -> None:
    path = WRITERS["claude-code"](home)
    in_place(ask, path)
    renamed = path.rename(path.with_name(f"{Said(name='other').id}.jsonl"))
    outcome = ask("verify", path.parent)
    assert outcome.code == 1
    assert "under an earlier name of the transcript" in outcome.out
    assert ask("verify", path.parent, "--repair").code == 0
    assert archive_folder(renamed).is_relative_to(state_of(home))
    assert ask("rewind", renamed, "--check").code == 0


@pytest.mark.parametrize("is_there", [True, False])
def test_the_folder_of_the_archives_stands_for_their_sessions(
    home: Home, ask: Ask, monkeypatch: pytest.MonkeyPatch, *, is_there: bool
) -> None:
    path = WRITERS["codex"](home)
    in_place(ask, path)
    folder = archive_folder(path)
    if not is_there:
        shutil.rmtree(path.parent)
    monkeypatch.chdir(home.root)
    relative = folder.relative_to(home.root)
    for name in (state_of(home), Path(relative.parts[0]), relative, Path(), home.root):
        transcripts = ask("verify", name, "--json").json["transcripts"]
        assert [each["verdict"] for each in transcripts] == ["proven" if is_there else "damaged"]
        assert path == home.root / transcripts[0]["path"]


def test_the_readme_names_the_session_by_its_whole_path(home: Home, ask: Ask) -> None:
    path = WRITERS["codex"](home)
    in_place(ask, path)
    text = (archive_folder(path) / "README").read_text()
    assert f"\n    {path}\n" in text
    assert f"compactctl rewind {path}" in text or f"compactctl rewind '{path}'" in text


def test_outside_of_stores_archives_lie_beside_transcripts(home: Home, ask: Ask) -> None:
    path = shutil.copy(WRITERS["claude-code"](home), home.root / "run.jsonl")
    result = ask("compact", path, *SMALL, "--json").json
    assert result["archive"] == str(beside_of(home.root / "run.compacted.jsonl"))
    assert not state_of(home).exists()
