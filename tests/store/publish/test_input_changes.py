"""Compare-and-swap: an input that changes while its transcript is published."""

import gzip
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from socket import AF_UNIX, socket

import pytest
from store.faults import Meddling, appending
from store.states import AFTER, BEFORE, MORE, appended, archive_of, names_below, state_before, step

from compactctl.errors import ArchiveError, ChangedError
from compactctl.store.archive import displaced
from compactctl.store.archive.displaced import late_bytes
from compactctl.store.files.limits import ReadLimits
from compactctl.store.files.source import digest_of, split_lines
from compactctl.store.publish.input_changes import InputGrowth


def growth(tail: bytes = b"", first_skipped_line: int | None = None) -> InputGrowth:
    """Return what is told of lines that were copied as they are."""
    return InputGrowth(tail=tail, first_skipped_line=first_skipped_line, n_copied_bytes=len(tail))


def written_late(path: Path) -> bytes:
    """Return what was written to the files that a transcript replaced, after it did."""
    late = late_bytes(archive_of(path), path, split_lines(path.read_bytes()))
    return b"".join(file.block(b"") for file in late)


def shorten(path: Path) -> None:
    path.write_bytes(BEFORE[:-5])


def rewrite(path: Path) -> None:
    path.write_bytes(BEFORE.replace(b"0", b"7"))


def remove(path: Path) -> None:
    path.unlink()


def put_another_in_place(path: Path) -> None:
    path.rename(path.with_name("old"))
    path.write_bytes(BEFORE)


@pytest.mark.parametrize("deed", [shorten, rewrite, remove, put_another_in_place])
@pytest.mark.parametrize("name", ["run.jsonl", "run.compacted.jsonl"])
def test_an_input_that_changed_is_left_alone(
    path: Path, name: str, deed: Callable[[Path], None]
) -> None:
    fs = Meddling("chmod", "", lambda: deed(path))
    with pytest.raises(ChangedError):
        step(path, AFTER, target=path.with_name(name), fs=fs)
    assert names_below(path.parent) <= {"run.jsonl", "old"}
    found = {file.read_bytes() for file in path.parent.iterdir()}
    assert found <= {BEFORE, BEFORE[:-5], BEFORE.replace(b"0", b"7")}


@pytest.mark.parametrize("moment", [("create", ""), ("link", ""), ("fsync", "")])
def test_lines_appended_meanwhile_are_carried_over_in_place(
    path: Path, moment: tuple[str, str]
) -> None:
    each, published = step(path, AFTER, fs=Meddling(*moment, appending(path, MORE)))
    assert path.read_bytes() == AFTER + MORE
    assert published.growth == growth(tail=MORE)
    assert published.digest == digest_of(AFTER + MORE)
    assert archive_of(path).match_transcript([path.read_bytes()]) == (each, appended(MORE))
    assert written_late(path) == b""


GROWN = [
    (b"", MORE, growth(tail=MORE)),
    (b"", MORE + b'{"half', growth(tail=MORE, first_skipped_line=7)),
    (b"", b'{"half', growth(first_skipped_line=6)),
    (b'{"half', b'":1}\n' + MORE, growth(first_skipped_line=6)),
    (b'{"whole":1}', b"\n" + MORE, growth(tail=b"\n" + MORE)),
    (
        b'{"whole":1}',
        b"\n" + MORE + b'{"half',
        growth(tail=b"\n" + MORE, first_skipped_line=8),
    ),
]


@pytest.mark.parametrize(("last", "grown", "told"), GROWN)
def test_what_was_appended_to_the_input_of_a_new_file_is_carried_over_or_named(
    path: Path, target: Path, last: bytes, grown: bytes, told: InputGrowth
) -> None:
    before = BEFORE + last
    path.write_bytes(before)
    fs = Meddling("create", "-0", appending(path, grown))
    each, published = step(path, AFTER + last, target=target, fs=fs)
    assert path.read_bytes() == before + grown
    assert target.read_bytes() == AFTER + last + told.tail
    assert published.growth == told
    assert published.digest == digest_of(AFTER + last + told.tail)
    assert archive_of(target).match_transcript([target.read_bytes()]) == (
        each,
        appended(told.tail, is_mid_line=not (AFTER + last).endswith(b"\n")),
    )
    assert state_before(archive_of(target), each.id) == before


def test_what_was_appended_to_a_packed_input_is_omitted(path: Path, target: Path) -> None:
    path.write_bytes(gzip.compress(BEFORE))
    fs = Meddling("create", "-0", appending(path, gzip.compress(MORE)))
    _, published = step(path, AFTER, target=target, fs=fs)
    assert target.read_bytes() == AFTER
    assert published.growth == growth(first_skipped_line=6)


def test_half_a_line_is_not_carried_over(path: Path) -> None:
    with pytest.raises(ChangedError, match="keeps changing; nothing was written"):
        step(path, AFTER, fs=Meddling("create", "", appending(path, b'{"n"')))
    assert names_below(path.parent) == {"run.jsonl"}
    assert path.read_bytes() == BEFORE + b'{"n"'


@pytest.mark.parametrize("before", [BEFORE, BEFORE[:-1]])
@pytest.mark.parametrize("after", [AFTER, AFTER[:-1]])
def test_lines_are_carried_over_unterminated_lines(path: Path, before: bytes, after: bytes) -> None:
    path.write_bytes(before)
    more = MORE if before.endswith(b"\n") else b"\n" + MORE
    _, published = step(path, after, fs=Meddling("create", "", appending(path, more)))
    assert path.read_bytes() == AFTER + MORE
    assert published.digest == digest_of(AFTER + MORE)
    assert published.warnings == ()
    assert written_late(path) == b""


def test_an_unterminated_line_that_goes_on_is_not_carried_over(path: Path) -> None:
    path.write_bytes(BEFORE[:-2])
    with pytest.raises(ChangedError):
        step(path, AFTER, fs=Meddling("create", "", appending(path, b"}\n" + MORE)))
    assert path.read_bytes() == BEFORE + MORE
    assert names_below(path.parent) == {"run.jsonl"}


def test_lines_written_to_the_old_file_in_the_last_moment_are_told(path: Path) -> None:
    fs = Meddling("exchange", str(path), appending(path, MORE))
    _, published = step(path, AFTER, fs=fs)
    assert path.read_bytes() == AFTER
    assert written_late(path) == MORE
    assert [warning for warning in published.warnings if str(published.displaced) in warning]


def test_what_is_in_the_place_of_a_displaced_file_is_named(path: Path) -> None:
    _, published = step(path, AFTER)
    assert published.displaced is not None
    published.displaced.unlink()
    assert written_late(path) == b""
    with socket(AF_UNIX) as listener, chdir(published.displaced.parent):
        listener.bind(published.displaced.name)
    with pytest.raises(ArchiveError, match=r"cannot be read \(.+\); move it out of the folder"):
        written_late(path)


def test_of_a_displaced_file_no_more_is_read_than_of_a_transcript(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, published = step(path, AFTER)
    assert published.displaced is not None
    appending(published.displaced, MORE)()
    n_bytes = len(BEFORE + MORE)
    monkeypatch.setattr(displaced, "READ_LIMITS", ReadLimits(max_bytes=n_bytes))
    assert written_late(path) == MORE
    monkeypatch.setattr(displaced, "READ_LIMITS", ReadLimits(max_bytes=n_bytes - 1))
    with pytest.raises(ArchiveError, match="too large to be read; move it out of the folder"):
        written_late(path)
