"""Where a transcript may be written, and what is refused."""

import errno
import gzip
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from programs import running
from store.faults import Meddling, appending
from store.states import (
    AFTER,
    BEFORE,
    MORE,
    appended,
    archive_of,
    names_below,
    operation,
    rows,
    state_before,
    step,
)

from compactctl.errors import ChangedError, UsageError
from compactctl.model.operation import OperationId
from compactctl.records import replace
from compactctl.store.archive.archive import archive_folder
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.files.content import Content
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.files.source import open_input
from compactctl.store.publish.overwrite import check_output
from compactctl.store.publish.publish import publish, resolve_output


@contextmanager
def writer_of(path: Path) -> Iterator[None]:
    """Keep a file open for writing in another process."""
    code = "import sys; f = open(sys.argv[1], 'ab'); print('open', flush=True); sys.stdin.read()"
    with running(code, path):
        yield


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can tell who writes")
def test_a_file_that_a_program_has_open_is_refused(path: Path, target: Path) -> None:
    with writer_of(path):
        with pytest.raises(ChangedError, match="open for writing"):
            step(path, AFTER)
        assert names_below(path.parent) == {"run.jsonl"}
        step(path, AFTER, target=target)
        step(path, AFTER, force=True)
    assert path.read_bytes() == AFTER


def test_a_link_is_followed_and_stays_a_link(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    each, published = step(link, AFTER)
    assert link.is_symlink()
    assert path.read_bytes() == AFTER
    assert published.path.samefile(path)
    assert (
        archive_of(link).match_transcript([AFTER])
        == archive_of(path).match_transcript([AFTER])
        == (each, appended(b""))
    )


def test_a_second_name_is_cut_loose_only_by_force(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.hardlink_to(path)
    with pytest.raises(UsageError, match="--force"):
        step(path, AFTER)
    assert names_below(tmp_path) == {"run.jsonl", "other.jsonl"}
    step(path, AFTER, force=True)
    assert (path.read_bytes(), other.read_bytes()) == (AFTER, BEFORE)


def test_our_own_link_to_the_old_file_is_no_second_name(path: Path) -> None:
    folder = archive_folder(path)
    folder.mkdir()
    name = folder / f"displaced-{operation(BEFORE, AFTER).id}.{len(BEFORE)}"
    name.hardlink_to(path)
    _, published = step(path, AFTER)
    assert published.displaced == name


def test_every_displaced_file_has_its_own_name(path: Path) -> None:
    first, _ = step(path, AFTER)
    step(path, BEFORE, kind="rewind")
    _, again = step(path, AFTER)
    assert again.displaced is not None
    assert again.displaced.name == f"displaced-{first.id}-2.{len(BEFORE)}"


def test_a_packed_file_is_not_rewritten_in_place(path: Path, target: Path) -> None:
    path.write_bytes(gzip.compress(BEFORE))
    with pytest.raises(UsageError, match="compressed"):
        step(path, AFTER)
    each, _ = step(path, AFTER, target=target)
    assert state_before(archive_of(target), each.id) == BEFORE


def test_a_foreign_file_is_not_overwritten(path: Path, target: Path) -> None:
    target.write_bytes(b"mine\n")
    with pytest.raises(UsageError, match="--force"):
        step(path, AFTER, target=target)
    assert target.read_bytes() == b"mine\n"
    assert not archive_folder(target).exists()
    step(path, AFTER, target=target, force=True)
    assert target.read_bytes() == AFTER


def test_what_we_wrote_is_overwritten_and_linked_away_if_it_went_on(
    path: Path, target: Path
) -> None:
    step(path, AFTER, target=target)
    again, published = step(path, AFTER, target=target)
    assert archive_of(target).operations == (again,)
    assert len(published.archives) == 1
    step(path, MORE, target=target)
    appending(target, b"mine\n")()
    _, published = step(path, AFTER, target=target)
    assert target.read_bytes() == AFTER
    assert published.displaced is not None
    assert published.displaced.read_bytes() == MORE + b"mine\n"
    assert "what was in it is kept" in " ".join(published.warnings)


def test_a_file_that_appears_meanwhile_is_not_overwritten(path: Path, target: Path) -> None:
    fs = Meddling("create", "-0", lambda: target.write_bytes(b"mine\n"))
    with pytest.raises(UsageError):
        step(path, AFTER, target=target, fs=fs)
    assert target.read_bytes() == b"mine\n"
    assert not archive_folder(target).exists()


def test_a_target_that_is_no_place_for_a_file_is_refused(path: Path, tmp_path: Path) -> None:
    for target, why in (
        (tmp_path, "is a folder; name a file"),
        (tmp_path / "no" / "folder", "its folder does not exist; create it first"),
    ):
        with pytest.raises(UsageError, match=why):
            check_output(target)
        with pytest.raises(UsageError):
            step(path, AFTER, target=target)
    assert names_below(tmp_path) == {"run.jsonl"}
    step(path, AFTER)
    with pytest.raises(UsageError, match="inside the archive of a transcript; write elsewhere"):
        check_output(archive_folder(path) / "new")


def test_an_id_that_is_no_word_never_becomes_a_path(path: Path) -> None:
    each = replace(operation(BEFORE, AFTER), id=OperationId("../../elsewhere"))
    with pytest.raises(ValueError, match="elsewhere"):
        publish(
            FileSystem(),
            source=open_input(path),
            target=path,
            drafts=[ArchiveDraft(each, rows(BEFORE, AFTER))],
            content=Content.from_chunks((AFTER,)),
        )
    assert names_below(path.parent) == {"run.jsonl"}


def test_nothing_is_published_among_archives(path: Path) -> None:
    step(path, AFTER)
    target = archive_folder(path) / "run.jsonl"
    with pytest.raises(UsageError, match=r"run\.jsonl: inside the archive of a transcript; "):
        step(path, BEFORE, target=target, force=True)
    assert not target.exists()


def test_an_output_with_archives_has_to_fit_them(path: Path, tmp_path: Path) -> None:
    step(path, AFTER)
    other = tmp_path / "other.jsonl"
    other.write_bytes(MORE)
    source, content = open_input(other), Content.from_chunks((MORE,))
    with pytest.raises(UsageError, match="has its own archive, which would no longer match"):
        resolve_output(source=source, target=path, content=content, is_archived=False)
    for is_archived, force in ((True, False), (False, True)):
        output = resolve_output(
            source=source, target=path, content=content, is_archived=is_archived, force=force
        )
        assert (output.path, output.replaced_input) == (path, None)


def test_a_folder_of_archives_that_others_may_write_to_is_a_warning(path: Path) -> None:
    assert archive_of(path).warnings == ()
    step(path, AFTER)
    assert archive_of(path).warnings == ()
    archive_folder(path).chmod(0o777)
    (warning,) = archive_of(path).warnings
    assert "other users can write there" in warning


@pytest.mark.parametrize("name", ["run.jsonl", "run.compacted.jsonl", "new.jsonl"])
def test_what_another_program_writes_in_the_last_moment_stays(path: Path, name: str) -> None:
    target = path.with_name(name)
    step(path, AFTER, target=path.with_name("run.compacted.jsonl"))
    other = path.with_name("other")
    other.write_bytes(MORE)
    call = "rename_new" if name == "new.jsonl" else "exchange"
    fs = Meddling(call, str(target), lambda *_: other.replace(target))
    archived = {file.name for file in archive_folder(target).glob("*.parquet")}
    with pytest.raises(ChangedError, match="another program"):
        step(path, AFTER, target=target, fs=fs)
    assert target.read_bytes() == MORE
    assert {file.name for file in archive_folder(target).glob("*.parquet")} == archived
    assert not [each for each in path.parent.iterdir() if ".cctl-" in each.name]


class Interfering(FileSystem):
    """A disk on which another program, or an error, comes after the exchange of two files."""

    def __init__(self, deed: Callable[[], object], *, before_put_back: bool = False) -> None:
        self.deed = deed
        self.moment = 2 if before_put_back else 1
        self.n_exchanges = 0

    def exchange(self, one: Path, other: Path) -> None:
        self.n_exchanges += 1
        if self.n_exchanges == 1:
            replacing(other, MORE)
        if self.n_exchanges == self.moment == 2:
            self.deed()
        super().exchange(one, other)
        if self.n_exchanges == self.moment == 1:
            self.deed()


def replacing(path: Path, data: bytes) -> None:
    other = path.with_name("other")
    other.write_bytes(data)
    other.replace(path)


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("deed", ["interrupted", "removed", "replaced"])
def test_the_file_of_another_program_gets_its_name_back(path: Path, deed: str) -> None:
    deeds = {
        "interrupted": interrupt,
        "removed": path.unlink,
        "replaced": lambda: replacing(path, MORE + MORE),
    }
    fs = Interfering(deeds[deed], before_put_back=deed == "replaced")
    with pytest.raises((ChangedError, KeyboardInterrupt)):
        step(path, AFTER, fs=fs)
    assert path.read_bytes() == (MORE + MORE if deed == "replaced" else MORE)
    assert not [*archive_folder(path).glob("*.parquet")]
    assert not [each for each in path.parent.iterdir() if ".cctl-" in each.name]


def test_where_the_file_of_another_program_is_if_it_cannot_be_put_back(path: Path) -> None:
    def fail() -> None:
        raise OSError(errno.EIO, "broken")

    with pytest.raises(ChangedError, match=r"its file is now .+ \(broken\)") as told:
        step(path, AFTER, fs=Interfering(fail, before_put_back=True))
    (left,) = path.parent.glob(".*.cctl-*")
    assert left.read_bytes() == MORE
    assert str(left) in str(told.value)
    assert state_before(archive_of(path), operation(BEFORE, AFTER).id) == BEFORE
