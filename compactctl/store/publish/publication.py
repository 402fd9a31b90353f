"""The order in which a transcript is published, so that no crash and no error can lose a line."""

import errno
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from compactctl.model.operation import Digest
from compactctl.store.archive.archive import Archive
from compactctl.store.archive.archive_writer import Deposit, deposit
from compactctl.store.archive.displaced import displaced_name, keep_displaced
from compactctl.store.archive.names import README, archive_folder
from compactctl.store.archive.permissions import tighten, tighten_file
from compactctl.store.client_folders import STATE
from compactctl.store.files.content import Content
from compactctl.store.files.filesystem import DiskError, FileSystem, written_before
from compactctl.store.files.source import Source, sha256_of
from compactctl.store.files.stale_drafts import remove, sweep
from compactctl.store.files.temp_file import TempFile
from compactctl.store.publish.input_changes import Growth, appended, carry, settle
from compactctl.store.publish.overwrite import OutputTarget, check_target


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What was published.

    Attributes:
        path: the transcript, links followed.
        digest: of the whole file.
        growth: what was appended to the input meanwhile; the lines carried over end the file.
        archives: the archive of each operation.
        displaced: the name under which the old file is kept: of work in place, and an outcome
            that no archive holds.
        warnings: one line each, ready to be shown.
    """

    path: Path
    digest: Digest
    growth: Growth
    archives: tuple[Path, ...] = ()
    displaced: Path | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """One publication, under the lock; ``undo`` takes away what it wrote when it fails."""

    fs: FileSystem
    source: Source
    target: Path
    place: OutputTarget
    deposits: Sequence[Deposit]
    content: Content
    force: bool
    undo: ExitStack = field(default_factory=ExitStack)

    @property
    def _folder(self) -> Path:
        return archive_folder(self.place.path)

    def run(self) -> Published:
        """Write the archives, then the transcript; take everything away again after an error."""
        draft = TempFile(self.fs, self.place.path)
        try:
            self._sweep()
            warnings = tighten(self.fs, self._folder)
            paths = deposit(self.fs, self._folder, self.deposits, self.undo)
            with draft:
                return self._switch(draft, paths, warnings)
        except BaseException as error:
            # Once the transcript is in its place, its archives stay, whatever happens.
            if draft.published:
                error.add_note(written_before(self.place.path))
            else:
                self.undo.close()
            raise

    def _sweep(self) -> None:
        # A run that left something beside the transcript came to write the README before. To look
        # every time would be slow where a batch writes thousands of files into one folder.
        if (self._folder / README).exists():
            sweep(self.fs, self.place.path.parent)
        sweep(self.fs, self._folder)

    def _switch(
        self, draft: TempFile, archives: tuple[Path, ...], warnings: tuple[str, ...]
    ) -> Published:
        draft.write_all(self.content)
        warnings += self._take_attributes(draft)
        check_target(self.source, self.target, self.content.digest, force=self.force)
        displaced, unkept = self._displace()
        growth = self._complete(draft)
        digest = _digest(self.content, growth.tail, draft)
        warnings += unkept + draft.switch()
        if displaced is not None:
            tighten_file(self.fs, displaced)
        return Published(
            path=self.place.path,
            digest=digest,
            growth=growth,
            archives=archives,
            displaced=displaced,
            warnings=warnings + self._late(displaced, growth.taken),
        )

    def _take_attributes(self, draft: TempFile) -> tuple[str, ...]:
        if self.source.path is not None:
            # A missing file is found to have changed later on.
            with suppress(FileNotFoundError):
                return draft.take_attributes(self.source.path)
        return ()

    def _displace(self) -> tuple[Path | None, tuple[str, ...]]:
        operation = self._displaced_operation()
        if operation is None:
            return None, ()
        link = displaced_name(self.place.path, self._folder, operation)
        self.undo.callback(remove, self.fs, link)
        try:
            keep_displaced(self.fs, self.place.path, link)
        except OSError as error:
            what = f"{self.place.path}: cannot be kept by a hard link ({error.strerror})"
            if self.force:
                return None, (what,)
            far = error.errno == errno.EXDEV
            way = (
                f"let {STATE} name a folder on its disk, " if far else "write a new file with -o, "
            )
            raise DiskError(f"{what}; nothing was changed; {way}or use --force") from error
        return link, ()

    def _displaced_operation(self) -> str | None:
        """Return the operation to name the old file after; None where it need not be kept.

        Beside work in place, an outcome must be kept that no archive holds: it may have a summary
        that somebody wrote, or a model.
        """
        path = self.place.path
        if self.place.input is not None:
            appended(path, self.place.input)
            if self.deposits:
                return self.deposits[-1].operation.id
            return self.source.digest.sha256[:12]
        if not path.exists():
            return None
        sha256 = sha256_of(path)
        if sha256 == self.content.digest.sha256:
            return None
        return Archive(self._folder).outcome_only(sha256)

    def _complete(self, draft: TempFile) -> Growth:
        if self.place.input is not None:
            return settle(draft, self.place.path, self.source, self.place.input, self.content)
        return carry(draft, self.source, self.content)

    def _late(self, displaced: Path | None, taken: int) -> tuple[str, ...]:
        late = 0
        if displaced is not None and self.place.input is not None:
            # The transcript is in its place: no error may deny that any more.
            with suppress(OSError):
                late = displaced.stat().st_size - self.place.input.size - taken
        if late <= 0:
            return ()
        return (f"{late:,} bytes were written to the old file at the last moment: {displaced}",)


def _digest(content: Content, tail: bytes, draft: TempFile) -> Digest:
    """Return the digest of the draft, which holds ``content`` and whole lines after it."""
    if not tail:
        return content.digest
    return Digest(
        sha256=draft.sha256,
        n_bytes=content.digest.n_bytes + len(tail),
        n_lines=content.digest.n_lines - content.is_open + tail.count(b"\n"),
    )
