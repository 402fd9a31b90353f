"""A verification tells what is whole, what can be repaired and what is lost, and never flatters."""

import errno
import itertools
import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from examples import LONG
from file_commands import compact_file, rewind_file
from forked import killed
from formats.squeeze import plan
from store.archive.forging import change_operation, change_rows, record_of
from store.faults import Failing, Killing
from talks import TALK_FILES

from compactctl.commands.inspect.log import LogOptions, log
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.progress import FilesDone
from compactctl.commands.reading.transcript import InputOptions
from compactctl.commands.verify.archives import Finding, TranscriptState
from compactctl.commands.verify.surroundings import Surroundings
from compactctl.commands.verify.verify import (
    VerifiedTranscript,
    VerifyOptions,
    VerifyResult,
    repair,
    verify,
)
from compactctl.errors import ArchiveError, CompactctlError, IntegrityError, NoInputError
from compactctl.store.archive.names import archive_folder
from compactctl.store.archive.operation_codec import VERSION
from compactctl.store.files.filesystem import DiskError

TALK = next(talk for talk in TALK_FILES if talk.format == "claude-code")
DEAD = 2**22 + 1
"""A process id that no system gives."""
FLIPS = 2_000 if LONG else 60


def squeeze(path: Path, stage: str, **options: Any) -> None:
    fast = MeasureOptions(counter="chars/4")
    assert compact_file(path, measure=fast, plan=plan((stage,)), **options).compacted


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a transcript that was compacted twice, with lines appended between and after."""
    path = tmp_path / "run.jsonl"
    path.write_bytes(TALK.data)
    squeeze(path, "prune", in_place=True)
    append(path)
    squeeze(path, "summarize", in_place=True)
    append(path)
    return path


@pytest.fixture
def inline(tmp_path: Path) -> Path:
    """Return a transcript that holds its originals itself."""
    path = tmp_path / "talk.jsonl"
    path.write_bytes(TALK.data)
    squeeze(path, "summarize", layout="inline", output=str(tmp_path / "inline.jsonl"))
    return tmp_path / "inline.jsonl"


def append(path: Path) -> None:
    with path.open("ab") as stream:
        stream.write(TALK.later)


def archives(path: Path) -> list[Path]:
    return sorted(archive_folder(path).glob("*.parquet"))


def test_missing_archives_are_told_in_one_sentence(path: Path) -> None:
    rewind_file(path)
    for archive in archives(path)[:2]:
        archive.unlink()
    (verified,) = looked_at(path).transcripts
    text = "0001, 0002; the state before each of these operations cannot be restored, put the files"
    assert any(text in finding.text for finding in verified.findings)


def looked_at(*paths: Path, repair: bool = False) -> VerifyResult:
    return verify(VerifyOptions(paths=tuple(map(str, paths)), repair=repair))


def only(path: Path, *, repair: bool = False) -> VerifiedTranscript:
    (found,) = looked_at(path, repair=repair).transcripts
    return found


def said(verified: VerifiedTranscript) -> str:
    return "\n".join(f"{each.severity}: {each.text}" for each in verified.findings)


def test_what_is_whole_is_proven_in_every_layout(path: Path, inline: Path) -> None:
    both = looked_at(path.parent)

    assert [Path(each.path).name for each in both.transcripts] == [inline.name, path.name]
    assert [each.verdict for each in both.transcripts] == ["proven", "proven"]
    assert [each.operations for each in both.transcripts] == [1, 2]
    assert both.exit_code == 0


def test_progress_is_told_of_every_file(path: Path, inline: Path) -> None:
    told: list[FilesDone] = []
    verify(VerifyOptions(paths=(str(path.parent),)), told.append)
    # The source of the inline transcript was never compacted, and is a file as well.
    files = sorted([inline, path, path.with_name("talk.jsonl")])
    sizes = [file.stat().st_size for file in files]
    assert [each.path for each in told] == list(map(str, files))
    assert [each.files for each in told] == [1, 2, 3]
    assert [each.n_bytes for each in told] == list(itertools.accumulate(sizes))
    assert {(each.of_files, each.of_bytes) for each in told} == {(3, sum(sizes))}


def test_nothing_is_written(path: Path) -> None:
    before = {each: each.stat().st_mtime_ns for each in path.parent.rglob("*")}
    looked_at(path.parent)

    assert {each: each.stat().st_mtime_ns for each in path.parent.rglob("*")} == before


def test_rewinds_and_groups_taken_back_are_proven(path: Path) -> None:
    rewind_file(path)
    rewind_file(path, all=True)
    append(path)

    assert (only(path).verdict, only(path).operations) == ("proven", 4)


def test_an_operation_that_never_took_place_is_no_damage(path: Path) -> None:
    squeeze(path, "window", in_place=True)
    replaced = newest_displaced(path)
    replaced.rename(path)

    found = only(path)
    assert (found.verdict, found.operations) == ("proven", 3)
    assert "never written here" in said(found)


def test_an_outcome_that_another_program_wrote_over_is_lost(path: Path) -> None:
    state = path.read_bytes()
    squeeze(path, "window", in_place=True)
    path.write_bytes(state)

    found = only(path)
    assert found.verdict == "damaged"
    assert f"operation {record_of(archives(path)[-1])['id']}: the state after it" in said(found)


def newest_displaced(path: Path) -> Path:
    """Return the link to the file that the newest operation replaced."""
    operation = record_of(archives(path)[-1])["id"]
    (link,) = archive_folder(path).glob(f"displaced-{operation}.*")
    return link


def test_an_output_that_was_made_anew_is_no_damage(tmp_path: Path) -> None:
    path, out = tmp_path / "run.jsonl", tmp_path / "out.jsonl"
    path.write_bytes(TALK.data)
    squeeze(path, "prune", output=str(out))
    squeeze(path, "summarize", output=str(out))

    assert only(out).verdict == "proven"


STAGES = ("prune", "summarize", "truncate", "window")


@pytest.mark.parametrize(("winner", "loser"), list(itertools.permutations(STAGES, 2)))
@pytest.mark.parametrize(
    "other",
    [TALK.data, TALK.data + TALK.later, TALK.data.replace(b"Level", b"Stage")],
    ids=["same input", "longer input", "another input"],
)
@pytest.mark.parametrize("since", [b"", TALK.later], ids=["as written", "appended to"])
@pytest.mark.each_choice
def test_of_two_archives_with_one_number_only_that_of_the_output_counts(
    winner: str, loser: str, other: bytes, since: bytes, tmp_path: Path
) -> None:
    """As they were left in object stores, by two runs at the same time."""
    path = beside(tmp_path, winner, loser, other)
    with path.open("ab") as stream:
        stream.write(since)

    assert (only(path).verdict, only(path).operations) == ("proven", 1)
    assert said(only(path)).count("nothing depends on it") == 1
    (entry,) = log(LogOptions(input=InputOptions(path=str(path)))).operations
    assert entry.in_effect
    rewind_file(path)
    assert path.read_bytes() == TALK.data + since
    assert only(path).verdict == "proven"
    rewind_file(path, to=entry.step.id)
    assert only(path).verdict == "proven"


def beside(folder: Path, winner: str, loser: str, other: bytes) -> Path:
    """Return an output, and put an archive beside its own whose output was refused."""
    for stage, data in ((loser, other), (winner, TALK.data)):
        (folder / stage).mkdir()
        (folder / "run.jsonl").write_bytes(data)
        squeeze(folder / "run.jsonl", stage, output=str(folder / stage / "out.jsonl"))
    path = folder / winner / "out.jsonl"
    (archive,) = archives(folder / loser / "out.jsonl")
    shutil.copy(archive, archive_folder(path))
    return path


@pytest.mark.parametrize("more", [b"", TALK.later], ids=["same input", "longer input"])
def test_a_run_that_was_killed_before_it_replaced_an_output_changes_nothing(
    more: bytes, tmp_path: Path
) -> None:
    path, out = tmp_path / "run.jsonl", tmp_path / "out.jsonl"
    path.write_bytes(TALK.data)
    squeeze(path, "prune", output=str(out))
    state = out.read_bytes()
    path.write_bytes(TALK.data + more)
    squeeze(path, "summarize", output=str(out))
    out.write_bytes(state)

    assert only(out).verdict == "proven"
    rewind_file(out, all=True)
    assert out.read_bytes() == TALK.data


LOSSES: dict[str, Callable[[Path], object]] = {
    "the first archive is gone": lambda path: archives(path)[0].unlink(),
    "the newest archive is gone": lambda path: archives(path)[-1].unlink(),
    "the folder is gone": lambda path: shutil.rmtree(archive_folder(path)),
    "an archive is cut": lambda path: os.truncate(archives(path)[0], 2_000),
    "an archive is empty": lambda path: archives(path)[1].write_bytes(b""),
    "an archive is another's": lambda path: shutil.copy(*reversed(archives(path))),
    "the transcript is gone": lambda path: path.unlink(),
    "an operation builds upon one that is not there": lambda path: change_operation(
        archives(path)[0], lambda record: record.update(parent="0123456789ab")
    ),
    "operations build upon each other": lambda path: change_operation(
        archives(path)[0], lambda record: record.update(parent=record_of(archives(path)[1])["id"])
    ),
    "a line is another one, its digest right": lambda path: change_rows(
        archives(path)[0], lambda rows: rows[3].update(raw=rows[4]["raw"])
    ),
    "a line is not there": lambda path: change_rows(archives(path)[0], lambda rows: rows.pop()),
}


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES.keys())
def test_what_is_lost_is_damaged(loss: Callable[[Path], object], path: Path) -> None:
    for link in archive_folder(path).glob("displaced-*"):
        link.unlink()
    loss(path)
    found = looked_at(path if path.exists() else path.parent)

    assert [each.verdict for each in found.transcripts] == ["damaged"], found
    assert found.exit_code == 7
    assert only(path.parent, repair=True).verdict == "damaged"


def test_an_edited_inline_transcript_is_damaged(inline: Path) -> None:
    inline.write_bytes(inline.read_bytes().replace(b"Level 0 is right", b"Level 0 is wrong", 1))

    assert only(inline).verdict == "damaged"


@pytest.mark.parametrize("change", [b"\n", b"", b"not JSON"])
def test_an_edited_transcript_with_whole_archives_was_changed(change: bytes, path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[2:]) if change == b"\n" else change)
    found = looked_at(path)

    assert found.transcripts[0].verdict == "changed"
    assert found.exit_code == 8


def test_an_archive_of_a_newer_version_is_unknown(path: Path) -> None:
    change_operation(archives(path)[1], lambda record: record.update(version=VERSION + 1))
    found = looked_at(path)

    assert found.transcripts[0].verdict == "unknown"
    assert found.exit_code == 6
    assert "or newer" in said(found.transcripts[0])


def test_a_linked_folder_is_not_followed(path: Path, tmp_path: Path) -> None:
    folder = archive_folder(path)
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")

    assert only(path).verdict == "unknown"


def misname(path: Path) -> None:
    archives(path)[0].rename(archive_folder(path) / "copy of 0001.parquet")


def swap_id(path: Path) -> None:
    first = archives(path)[0]
    first.rename(first.with_name("0001-compact-0123456789ab.parquet"))


def leave_drafts(path: Path) -> None:
    for place in (path, archives(path)[0]):
        place.with_name(f".{place.name}.cctl-{DEAD}-0").write_bytes(b"half")


def open_up(path: Path) -> None:
    archive_folder(path).chmod(0o755)
    archives(path)[0].chmod(0o644)


def lose_readme(path: Path) -> None:
    (archive_folder(path) / "README").unlink()


def rename_both(path: Path) -> None:
    path.rename(path.with_name("other.jsonl"))


@pytest.mark.parametrize(
    "harm", [misname, swap_id, leave_drafts, open_up, lose_readme, rename_both]
)
def test_what_loses_nothing_is_repaired(harm: Callable[[Path], None], path: Path) -> None:
    held = {each.read_bytes() for each in archives(path)}
    state = path.read_bytes()
    harm(path)
    found = looked_at(path.parent)

    assert [each.verdict for each in found.transcripts] == ["repairable"]
    assert found.exit_code == 1
    repaired = only(path.parent, repair=True)
    assert (repaired.verdict, bool(repaired.repaired)) == ("proven", True), said(repaired)
    assert only(path.parent).verdict == "proven"
    now = Path(repaired.path)
    assert now.read_bytes() == state
    assert {each.read_bytes() for each in archives(now)} == held
    rewind_file(now, all=True)
    assert now.read_bytes() == TALK.data + TALK.later * 2


def swap_numbers(path: Path) -> None:
    first, second = archives(path)
    first.rename(first.with_name("0003" + first.name[4:]))
    second.rename(second.with_name("0001" + second.name[4:]))
    (third,) = archive_folder(path).glob("0003*")
    third.rename(third.with_name("0002" + third.name[4:]))


def push_number(path: Path) -> None:
    first, _ = archives(path)
    first.rename(first.with_name("0005" + first.name[4:]))


def push_numbers(path: Path) -> None:
    for each in reversed(archives(path)):
        each.rename(each.with_name(f"{int(each.name[:4]) + 1:04}{each.name[4:]}"))


def log_exit_code(path: Path) -> int:
    try:
        return log(LogOptions(input=InputOptions(path=str(path)))).exit_code
    except ArchiveError as error:
        return error.exit_code


def rename_newest(path: Path) -> None:
    newest = archives(path)[-1]
    newest.rename(newest.with_name("copy.parquet"))


def rename_all(path: Path) -> None:
    for number, each in enumerate(archives(path)):
        each.rename(each.with_name(f"copy {number}.parquet"))


@pytest.mark.parametrize(
    "harm", [swap_numbers, push_number, push_numbers, rename_newest, rename_all]
)
def test_archives_with_other_numbers_get_their_names_back(
    harm: Callable[[Path], None], path: Path
) -> None:
    held = {each.name: each.read_bytes() for each in archives(path)}
    harm(path)
    assert log_exit_code(path) == 6
    assert only(path).verdict == "repairable"
    assert only(path, repair=True).verdict == "proven"
    assert {each.name: each.read_bytes() for each in archives(path)} == held


@pytest.mark.parametrize("name", [None, "other.jsonl"])
def test_a_rewound_transcript_that_is_gone_is_told_beside_its_original(
    name: str | None, path: Path, inline: Path
) -> None:
    original, out = path.with_name("original.jsonl"), path.with_name("out.jsonl")
    original.write_bytes(TALK.data)
    squeeze(original, "prune", output=str(out))
    rewind_file(out)
    out.rename(path.with_name(name)) if name else out.unlink()
    found = looked_at(path.parent)

    verdicts = {Path(each.path).name: each.verdict for each in found.transcripts}
    assert verdicts == {inline.name: "proven", "out.jsonl": "damaged", path.name: "proven"}
    assert looked_at(archive_folder(out)).exit_code == looked_at(out).exit_code == 7


def test_files_of_others_are_named_and_left_alone(path: Path) -> None:
    (archive_folder(path) / "notes.txt").write_text("mine")
    found = only(path, repair=True)

    assert found.verdict == "proven"
    assert "notes.txt" in said(found)
    assert (archive_folder(path) / "notes.txt").exists()


def test_lines_for_a_displaced_file_are_told(path: Path) -> None:
    with newest_displaced(path).open("ab") as stream:
        stream.write(b'{"type":"mode"}\n')

    assert only(path).verdict == "proven"
    assert "1 line was written" in said(only(path))


def test_a_flipped_byte_is_found_or_harmless(path: Path, inline: Path) -> None:
    rng = Random(7)
    wanted = {path: TALK.data + TALK.later * 2, inline: TALK.data}
    for number in range(FLIPS):
        target = inline if number % 3 == 0 else path
        victim = target if target is inline else rng.choice(archives(path))
        sound = victim.read_bytes()
        flipped, at = bytearray(sound), rng.randrange(len(sound))
        flipped[at] ^= rng.randrange(1, 256)
        victim.write_bytes(flipped)
        if verdict(target) == "proven":
            assert everything(target) == wanted[target], (victim, at)
        victim.write_bytes(sound)


def verdict(path: Path) -> TranscriptState | None:
    try:
        return only(path).verdict
    except NoInputError:
        return None


def everything(path: Path) -> bytes:
    """Return the first state, reached step by step and at once."""
    out = path.with_name("restored")
    try:
        rewind_file(path, all=True, output=out, force=True)
        return out.read_bytes()
    except CompactctlError as error:
        return str(error).encode()


def test_what_is_wrong_is_said_once_for_all_operations(tmp_path: Path) -> None:
    path, once, twice = (tmp_path / f"{name}.jsonl" for name in ("run", "once", "twice"))
    path.write_bytes(TALK.data)
    squeeze(path, "prune", layout="inline", output=str(once))
    squeeze(once, "summarize", layout="inline", output=str(twice))
    twice.write_bytes(twice.read_bytes().replace(b'"content": "LEVEL_0', b'"content": "LEVEL_X', 1))
    found = only(twice)

    assert found.verdict == "damaged"
    assert len(found.findings) == len(set(found.findings))


def test_a_folder_without_compactions_is_no_input(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_bytes(TALK.data)
    (tmp_path / "other.json").write_text(json.dumps({"compactctl": "is only a word here"}))

    with pytest.raises(NoInputError, match="no compacted transcript"):
        looked_at(tmp_path)


def test_a_path_that_does_not_exist_is_no_input(tmp_path: Path) -> None:
    with pytest.raises(NoInputError, match="no such file"):
        looked_at(tmp_path / "gone.jsonl")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look into every folder")
def test_a_folder_that_cannot_be_read_is_not_proven(path: Path) -> None:
    closed = path.parent / "closed"
    closed.mkdir(mode=0)

    assert looked_at(path.parent).exit_code == 6


def test_what_is_omitted_is_not_looked_at(path: Path, inline: Path) -> None:
    options = VerifyOptions(paths=(str(path.parent),), exclude=("inl*",))

    assert [each.path for each in verify(options).transcripts] == [str(path)]
    assert inline.exists()


@pytest.mark.parametrize("harm", [b"\xbc", b'{"a":1}{"b":', b"\0"])
def test_a_damaged_line_among_originals_is_damage_and_no_bug(harm: bytes, inline: Path) -> None:
    lines = inline.read_bytes().splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if b'"condenseParent"' in line)
    lines[at] = lines[at][:40] + harm + lines[at][40:]
    inline.write_bytes(b"".join(lines))

    assert only(inline).verdict == "damaged"
    with pytest.raises(IntegrityError):
        rewind_file(inline)


def cut_off(path: Path, wrong: Sequence[Finding], n: int) -> bool:
    return killed(partial(repair, Killing(n), path, wrong, Surroundings(path.parent)))


def failed(path: Path, wrong: Sequence[Finding], n: int) -> bool:
    fs = Failing(n, errno.EIO)
    with suppress(DiskError):
        repair(fs, path, wrong, Surroundings(path.parent))
    return len(fs.log) >= n


@pytest.mark.parametrize("disturbed", [cut_off, failed])
def test_a_repair_that_comes_to_no_end_loses_nothing_and_is_done_by_the_next(
    disturbed: Callable[[Path, Sequence[Finding], int], bool],
    path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    held = {each.read_bytes() for each in archives(path)}
    for harm in (misname, leave_drafts, open_up, lose_readme):
        harm(path)
    for n in itertools.count(1, 1 if LONG else 8):
        folder = tmp_path_factory.mktemp("copy") / "here"
        copy = Path(shutil.copytree(path.parent, folder)) / path.name
        was_disturbed = disturbed(copy, only(copy).findings, n)
        assert {each.read_bytes() for each in archives(copy)} == held
        assert only(copy, repair=True).verdict == "proven"
        if not was_disturbed:
            break
    assert n > 5


def test_many_abandoned_archives_take_time_by_their_number(path: Path, tmp_path: Path) -> None:
    """Counted are calls of functions; the compacted transcripts are many as well, and renamed."""
    few, many = (_calls(_abandoned(path, tmp_path / str(n), n), 2 * n) for n in (5, 20))
    assert many < 5 * few


def test_a_draft_is_told_of_its_own_transcript(path: Path) -> None:
    other = path.with_name("other.jsonl")
    shutil.copy(path, other)
    shutil.copytree(archive_folder(path), archive_folder(other))
    draft = path.with_name(f".{other.name}.cctl-{DEAD}-0")
    draft.touch()
    result = verify(VerifyOptions(paths=(str(path), str(other))))
    told = {
        Path(each.path).name: [f.text for f in each.findings if "left behind" in f.text]
        for each in result.transcripts
    }
    assert told == {"run.jsonl": [], "other.jsonl": [f"{draft}: was left behind by a killed run"]}


def test_many_repairs_look_once_for_drafts_beside_the_transcripts(
    path: Path, tmp_path: Path
) -> None:
    """Counted are calls of functions; files that look like drafts are many as well."""
    few, many = (_calls(_repairable(path, tmp_path / str(n), n), n, repair=True) for n in (5, 20))
    assert many < 5 * few


def _repairable(path: Path, place: Path, n_transcripts: int) -> Path:
    """Make a folder with transcripts whose archives lack the README, and files like drafts."""
    place.mkdir()
    for number in range(n_transcripts):
        copy = place / f"run{number}.jsonl"
        shutil.copy(path, copy)
        shutil.copytree(archive_folder(path), archive_folder(copy))
        lose_readme(copy)
    for number in range(100 * n_transcripts):
        (place / f".{number}.cctl-mine").touch()
    return place


def _abandoned(path: Path, place: Path, n_folders: int) -> Path:
    """Make a folder with archives of transcripts that are not there, and others that are."""
    place.mkdir()
    for number in range(n_folders):
        shutil.copytree(archive_folder(path), place / f"gone{number}.jsonl.archive")
        (place / f"other{number}.jsonl").write_bytes(b'{"compactctl":{}}\n%d\n' % number)
    return place


def _calls(place: Path, n_transcripts: int, *, repair: bool = False) -> int:
    """Return how many functions a verification calls."""
    count = itertools.count()
    sys.setprofile(lambda _, event, __: next(count) if event.endswith("call") else None)
    try:
        found = verify(VerifyOptions(paths=(str(place),), repair=repair))
    finally:
        sys.setprofile(None)
    assert found.verdicts["proven" if repair else "damaged"] == n_transcripts
    return next(count)
