"""An archive that is lost, damaged or swapped is never proven, whatever was compacted and how."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from file_commands import compact_file, rewind_file
from formats import anthropic_talk, openai_talk
from formats.jsonl import raw_lines
from formats.squeeze import ALL, plan
from talks import TALK_FILES, TalkFile
from unit.commands.conversations import log_of
from voices.place import Talk, lines_of
from voices.tables import TALKS as VOICES

from compactctl.clients.registry import ALL_FORMATS, format_named
from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.verify.verify import VerifyOptions, verify
from compactctl.errors import ArchiveError, CompactctlError, NoInputError, UsageError
from compactctl.history.protection import ProtectOptions
from compactctl.store.archive.names import archive_folder

FAST = MeasureOptions(counter="chars/4")
STAGES = (*ALL, "unsent")
LAYOUTS: Mapping[str, Mapping[str, Any]] = {
    "split": {"output": "new"},
    "inline": {"output": "new", "layout": "inline"},
    "split in place": {"in_place": True},
    "inline in place": {"in_place": True, "layout": "inline"},
    "native": {"in_place": True, "layout": "native", "force": True, "while_open": True},
}


def _other_talks() -> Iterator[TalkFile]:
    """Yield a talk for each format that the shared talks do not have."""
    rows = (
        {"system": "s", "messages": anthropic_talk.TALK * 6},
        {"messages": openai_talk.TALK * 6},
    )
    yield TalkFile("api-log", b"".join(raw_lines(*rows)))
    told = {"api-log", *SHARED}
    for name in (each.name for each in ALL_FORMATS if each.name not in told):
        assert name in VOICES, f"add a talk of {name} to TALKS in tests/voices/tables.py"
        yield TalkFile(name, b"".join(lines_of(_long(VOICES[name]()))))


def _long(talk: Talk) -> Talk:
    """Write turns in which the same file is read again."""
    for turn in range(4):
        talk.say(f"Check module {turn} once more.")
        talk.work(2)
        talk.step("Read", {"file_path": "gate.py"}, "LEVEL = 17  # above the sill\n" * 9)
    return talk


SHARED = {talk.format: talk for talk in TALK_FILES}
ALL_TALKS = {**SHARED, **{talk.format: talk for talk in _other_talks()}}


@cache
def folder() -> Path:
    """Return a folder for what several cases start from."""
    return Path(mkdtemp(prefix="compactctl-archives-"))


@cache
def compacted(name: str, layout: str, stage: str) -> Path | None:
    """Return a transcript compacted with the stage and, where it can be, once more.

    None where the stage finds nothing to do, or the layout is not for the format.
    """
    if layout == "native" and format_named(name).native_append() is None:
        return None
    return _life(ALL_TALKS[name], layout, stage, folder() / f"{name} {layout} {stage}")


def _life(talk: TalkFile, layout: str, stage: str, place: Path) -> Path | None:
    place.mkdir()
    path = place / talk.file
    path.write_bytes(talk.data)
    first = _compact(path, layout, stage)
    if first is None:
        return None
    if talk.later:
        with first.open("ab") as stream:
            stream.write(talk.later)
    return _compact(first, layout, "truncate") or first


def _compact(path: Path, layout: str, stage: str) -> Path | None:
    fields = {**LAYOUTS[layout]}
    if "output" in fields:
        fields["output"] = path.with_name(f"new-{path.name}")
    fields |= {"measure": FAST, "plan": plan((stage,)), "protect": ProtectOptions(keep_turns=0)}
    try:
        result = compact_file(path, **fields)
    except UsageError:
        return None
    return Path(result.written.output) if result.compacted and result.written else None


@cache
def foreign() -> Path:
    """Return the archive of another transcript."""
    talk = ALL_TALKS["claude-code"]
    other = replace(talk, data=talk.data.replace(b"Check", b"Watch"))
    path = _life(other, "split", "chunk", folder() / "foreign")
    assert path is not None
    return archives(path)[0]


@cache
def related() -> Path:
    """Return the archive of another compaction of a transcript that others begin with as well."""
    path = compacted("claude-code", "split", "chunk")
    assert path is not None
    return archives(path)[0]


def archives(path: Path) -> list[Path]:
    return sorted(archive_folder(path).glob("*.parquet"))


def _remove(archive: Path) -> None:
    archive.unlink()


def _cut(archive: Path) -> None:
    archive.write_bytes(archive.read_bytes()[: archive.stat().st_size // 2])


def _empty(archive: Path) -> None:
    archive.write_bytes(b"")


def _replace_with_that_of_another_transcript(archive: Path) -> None:
    shutil.copy(foreign(), archive)


def _replace_with_that_of_a_copy(archive: Path) -> None:
    shutil.copy(related(), archive)


def _replace_under_another_name(archive: Path) -> None:
    archive.unlink()
    number = archive.name.partition("-")[0]
    shutil.copy(foreign(), archive.with_name(f"{number}-{foreign().name.partition('-')[2]}"))


def _swap_with_another_operation(archive: Path) -> None:
    others = [other for other in archive.parent.glob("*.parquet") if other != archive]
    for other in others[:1]:
        held = archive.read_bytes()
        archive.write_bytes(other.read_bytes())
        other.write_bytes(held)
    if not others:
        archive.unlink()


def _copy_of_another_operation(archive: Path) -> None:
    others = [other for other in archive.parent.glob("*.parquet") if other != archive]
    shutil.copy(others[0] if others else foreign(), archive)


def _remove_all(archive: Path) -> None:
    shutil.rmtree(archive.parent, ignore_errors=True)


def _remove_all_but_the_folder(archive: Path) -> None:
    for other in archive.parent.glob("*.parquet"):
        other.unlink()


DAMAGES: Mapping[str, Callable[[Path], None]] = {
    harm.__name__.strip("_").replace("_", " "): harm
    for harm in (
        _remove,
        _cut,
        _empty,
        _replace_with_that_of_another_transcript,
        _replace_with_that_of_a_copy,
        _replace_under_another_name,
        _swap_with_another_operation,
        _copy_of_another_operation,
        _remove_all,
        _remove_all_but_the_folder,
    )
}


def is_restored(path: Path, first: bytes, later: bytes) -> bool:
    """Tell whether a rewind gives the first state, with what was appended."""
    back = path.with_name("back")
    try:
        rewind_file(path, all=True, output=back)
    except CompactctlError:
        return False
    return back.read_bytes() in (first, first + later)


def verdict(path: Path, *, repair: bool = False) -> str:
    try:
        (verified,) = verify(VerifyOptions(paths=(str(path),), repair=repair)).transcripts
    except NoInputError:
        return "not compacted"
    assert verified.verdict != "proven" or verified.operations
    return verified.verdict


@pytest.mark.each_choice
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", ALL_TALKS)
def test_only_what_can_be_restored_is_proven(
    name: str, stage: str, layout: str, damage: str, tmp_path: Path
) -> None:
    path = compacted(name, layout, stage)
    if path is None:
        return
    talk = ALL_TALKS[name]
    assert verdict(path) == "proven"
    for number, archive in enumerate(archives(path)):
        place = shutil.copytree(path.parent, tmp_path / str(number))
        copy = place / path.name
        DAMAGES[damage](archive_folder(copy) / archive.name)

        found = verdict(copy)
        if found == "repairable":
            found = verdict(copy, repair=True)

        if found == "proven":
            assert is_restored(copy, talk.data, talk.later)
        else:
            assert found in ("damaged", "changed"), found


@pytest.mark.each_choice
@pytest.mark.parametrize("stage", ["strip", "distill", "truncate"])
@pytest.mark.parametrize("name", ALL_TALKS)
def test_a_lost_archive_is_damage_to_every_command(name: str, stage: str, tmp_path: Path) -> None:
    path = compacted(name, "split", stage)
    if path is None:
        return
    copy = Path(shutil.copy(path, tmp_path))

    assert verdict(copy) == "damaged"
    assert log_of(copy).exit_code == 6
    assert not is_restored(copy, ALL_TALKS[name].data, ALL_TALKS[name].later)


@pytest.mark.each_choice
@pytest.mark.parametrize("stage", ["strip", "distill", "truncate"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ALL_TALKS)
def test_without_the_newest_archive_nothing_is_taken_for_an_older_state(
    name: str, layout: str, stage: str, tmp_path: Path
) -> None:
    path = compacted(name, layout, stage)
    if path is None or len(archives(path)) < 2:
        return
    place = shutil.copytree(path.parent, tmp_path / "copy")
    copy, back = place / path.name, place / "back"
    archives(copy)[-1].unlink()
    # What stands in the transcript itself can be undone without its archive.
    if verdict(copy) != "damaged":
        return

    logged = log_of(copy)
    assert "whose archive is not here" in logged.lost[0].why
    assert logged.exit_code == ArchiveError.exit_code
    assert not any(entry.in_effect for entry in logged.operations)
    for options in (
        {"check": True},
        {},
        {"output": OutputOptions(path=str(back))},
        {"all": True, "check": True},
    ):
        with pytest.raises(ArchiveError):
            rewind_file(copy, **options)
    assert copy.read_bytes() == path.read_bytes()
    assert not back.exists()
    rewind_file(copy, all=True, output=back)
    assert back.read_bytes() == ALL_TALKS[name].data
