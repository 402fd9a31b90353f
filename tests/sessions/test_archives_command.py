"""Archives of sessions, listed and forgotten."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from cli.asking import Ask
from sessions.homes import Home, Said
from sessions.long_sessions import SAID, SMALL, claude, codex, forked, in_place, opencode, state_of

from compactctl.store.archive.names import archive_folder, transcript_of

OTHER = Said(name="other", title="Other", project="/home/dev/quayside")


def listed(ask: Ask, *options: str) -> dict[str, Any]:
    outcome = ask("archive", *options, "--json")
    assert outcome.code == 0, outcome.err
    document: dict[str, Any] = outcome.json
    return document


def two(home: Home, ask: Ask) -> tuple[Path, Path]:
    """Compact two sessions in place, and take the second one away."""
    here, gone = claude(home), claude(home, OTHER)
    in_place(ask, here)
    in_place(ask, gone)
    gone.unlink()
    return here, gone


def test_none_are_listed_where_there_are_none(home: Home, ask: Ask) -> None:
    claude(home)
    assert listed(ask)["archives"] == []
    assert "no archives in ~/.local/state" in ask("archive").out


def test_archives_are_listed_with_what_became_of_their_sessions(home: Home, ask: Ask) -> None:
    here, gone = two(home, ask)
    found = {each["session"]: each for each in listed(ask)["archives"]}
    assert set(found) == {str(here), str(gone)}
    assert [found[str(each)]["sessionExists"] for each in (here, gone)] == [True, False]
    for path in (here, gone):
        held = [each for each in archive_folder(path).iterdir() if each.is_file()]
        assert found[str(path)]["bytes"] == sum(each.stat().st_size for each in held)
        assert found[str(path)]["operations"] == 1
    assert listed(ask)["bytes"] == sum(each["bytes"] for each in found.values())
    shown = ask("archive").out
    assert "1 session no longer exists" in shown
    assert "compactctl archive --dead --forget" in shown


def test_folders_without_archives_are_not_listed(home: Home, ask: Ask) -> None:
    path = claude(home)
    in_place(ask, path)
    beside = archive_folder(path).parent
    (beside / "empty.jsonl.archive").mkdir()
    inner = beside / "plain" / archive_folder(path).name
    inner.parent.mkdir()
    archive_folder(path).rename(inner)
    [found] = listed(ask)["archives"]
    assert found["operations"] == 1
    assert found["session"] == str(transcript_of(inner))


def test_those_of_sessions_that_are_gone_are_forgotten(home: Home, ask: Ask) -> None:
    here, gone = two(home, ask)
    assert listed(ask, "--dead", "--forget", "--dry-run")["forgotten"] is False
    assert archive_folder(gone).is_dir()
    result = listed(ask, "--dead", "--forget")
    assert [each["session"] for each in result["archives"]] == [str(gone)]
    assert result["forgotten"] is True
    assert not archive_folder(gone).exists()
    assert ask("rewind", here, "--check").code == 0


def test_the_last_way_back_stays_without_force(home: Home, ask: Ask) -> None:
    path = claude(home)
    in_place(ask, path)
    outcome = ask("archive", SAID.id[:8], "--forget")
    assert outcome.code == 2
    assert "without this archive it cannot be restored" in outcome.err
    assert ask("rewind", path, "--check").code == 0
    assert ask("archive", SAID.id[:8], "--forget", "--force").code == 0
    assert not state_of(home).exists()
    assert path.exists()


def test_one_that_was_rewound_is_not_needed(home: Home, ask: Ask) -> None:
    path = codex(home)
    whole = path.read_bytes()
    in_place(ask, path)
    assert ask("rewind", path).code == 0
    assert ask("archive", path, "--forget").code == 0
    assert not archive_folder(path).exists()
    assert path.read_bytes() == whole


def test_one_whose_session_was_edited_is_kept(home: Home, ask: Ask) -> None:
    path = codex(home)
    in_place(ask, path)
    path.write_text(path.read_text().replace("tide", "TIDE"))
    assert ask("archive", SAID.id, "--forget").code == 2
    assert archive_folder(path).is_dir()


def test_nothing_is_removed_when_one_of_several_is_needed(home: Home, ask: Ask) -> None:
    here, gone = two(home, ask)
    assert ask("archive", str(gone), str(here), "--forget").code == 2
    assert archive_folder(gone).is_dir()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--forget",), 2, "name the sessions"),
        (("nowhere", "--forget"), 3, "no archive of this session"),
        (("xy",), 3, "no archive of this session"),
    ],
)
def test_what_is_asked_for_must_be_there(
    home: Home, ask: Ask, arguments: tuple[str, ...], code: int, words: str
) -> None:
    two(home, ask)
    outcome = ask("archive", *arguments)
    assert outcome.code == code
    assert words in outcome.err


def test_a_beginning_that_means_several_is_refused(home: Home, ask: Ask) -> None:
    for name in ("0e714fd9-1111-4111-8111-111111111111", "0e714fd9-2222-4222-8222-222222222222"):
        path = claude(home, OTHER)
        in_place(ask, path.rename(path.with_name(f"{name}.jsonl")))
    outcome = ask("archive", "0e714fd9", "--forget")
    assert outcome.code == 2
    assert "ambiguous" in outcome.err


def test_what_is_not_of_compactctl_stays(home: Home, ask: Ask) -> None:
    _, gone = two(home, ask)
    note = archive_folder(gone) / "note.txt"
    note.write_text("mine")
    assert ask("archive", "--dead", "--forget").code == 0
    assert note.read_text() == "mine"
    assert list(archive_folder(gone).glob("*.parquet")) == []


def test_a_document_for_import_goes_with_its_archive(home: Home, ask: Ask) -> None:
    made = Path(forked(ask, opencode(home))["output"])
    assert [each["session"] for each in listed(ask)["archives"]] == [str(made)]
    assert ask("archive", made.stem, "--forget").code == 2
    assert ask("archive", made.stem, "--forget", "-f").code == 0
    assert not made.parent.exists()
    assert ask("compact", "opencode:latest", *SMALL, "--dry-run").code == 0


def moved(path: Path) -> Path:
    """Move a session of Codex to where its client keeps archived ones."""
    place = path.parents[4] / "archived_sessions" / path.name
    place.parent.mkdir()
    return path.rename(place)


def packed(path: Path) -> Path:
    """Pack a session as Codex does."""
    place = path.with_name(f"{path.name}.zst")
    with pa.CompressedOutputStream(str(place), "zstd") as out:
        out.write(path.read_bytes())
    path.unlink()
    return place


@pytest.mark.parametrize("client", [claude, codex])
def test_a_session_that_was_packed_by_hand_is_not_dead(
    home: Home, ask: Ask, client: Callable[[Home], Path]
) -> None:
    path = client(home)
    whole = path.read_bytes()
    in_place(ask, path)
    other = path.with_name(f"{path.name}.gz")
    other.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert listed(ask, "--dead", "--forget")["archives"] == []
    assert ask("archive", SAID.id, "--forget").code == 2
    restored = home.root / "restored.jsonl"
    assert ask("rewind", other, "-o", restored).code == 0
    assert restored.read_bytes() == whole


def test_a_project_that_was_renamed_does_not_make_its_sessions_dead(home: Home, ask: Ask) -> None:
    path = claude(home)
    whole = path.read_bytes()
    in_place(ask, path)
    path.parent.rename(path.parent.with_name("-home-dev-new"))
    now = path.parent.with_name("-home-dev-new") / path.name
    assert listed(ask, "--dead", "--forget")["archives"] == []
    outcome = ask("rewind", now)
    assert outcome.code == 0, outcome.err
    assert now.read_bytes() == whole


@pytest.mark.parametrize("away", [moved, packed])
def test_a_session_that_its_client_put_elsewhere_is_not_dead(
    home: Home, ask: Ask, away: Callable[[Path], Path]
) -> None:
    path = codex(home)
    whole = path.read_bytes()
    in_place(ask, path)
    away(path)
    assert listed(ask, "--dead", "--forget")["archives"] == []
    refused = ask("archive", SAID.id, "--forget")
    assert refused.code == 2
    assert ": moved, or its store cannot be read" in refused.err
    assert archive_folder(path).is_dir()
    restored = home.root / "restored.jsonl"
    outcome = ask("rewind", SAID.id, "-o", restored)
    assert outcome.code == 0, outcome.err
    assert restored.read_bytes() == whole


def test_a_store_that_cannot_be_read_makes_no_session_dead(home: Home, ask: Ask) -> None:
    path = codex(home)
    in_place(ask, path)
    path.unlink()
    loop = path.parents[4] / "archived_sessions"
    loop.symlink_to(loop)
    assert listed(ask, "--dead", "--forget")["archives"] == []
    assert f"{loop}: cannot be read" in ask("archive", "--dead").err
    refused = ask("archive", SAID.id, "--forget")
    assert refused.code == 2
    assert "cannot be read" in refused.err
    loop.unlink()
    assert len(listed(ask, "--dead", "--forget")["archives"]) == 1


def test_a_store_that_is_not_there_makes_no_session_dead(
    home: Home, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = codex(home)
    disk = home.root / "disk"
    (home.root / ".codex").rename(disk)
    monkeypatch.setenv("CODEX_HOME", str(disk))
    in_place(ask, disk / path.relative_to(home.root / ".codex"))
    disk.rename(disk.with_name("away"))
    assert listed(ask, "--dead", "--forget")["archives"] == []
    assert "session moved" in ask("archive").out
    monkeypatch.delenv("CODEX_HOME")
    assert listed(ask, "--dead", "--forget")["archives"] == []


def test_a_session_that_was_moved_keeps_its_whole_history(home: Home, ask: Ask) -> None:
    path = codex(home)
    whole = path.read_bytes()
    assert ask("compact", path, "--in-place", "--stages", "truncate", "--keep", "60%").code == 0
    once = path.read_bytes()
    now = moved(path)
    assert len(ask("log", now, "--json").json["operations"]) == 1
    assert ask("view", now, "--archived").out
    assert ask("verify", now).code == 0
    again = ask("compact", now, "--in-place", *SMALL)
    assert again.code == 0, again.err
    assert now.read_bytes() != once
    assert len(ask("log", now, "--json").json["operations"]) == 2
    for state in (once, whole):
        outcome = ask("rewind", now)
        assert outcome.code == 0, outcome.err
        assert now.read_bytes() == state
