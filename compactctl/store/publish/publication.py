"""The order in which a transcript is published, so that no crash and no error can lose a line."""

import errno
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from compactctl.model.operation import Digest
from compactctl.store.archive.archive import Archive
from compactctl.store.archive.archive_writer import ArchiveDraft, write_archives
from compactctl.store.archive.displaced import displaced_name, keep_displaced
from compactctl.store.archive.names import README, archive_folder
from compactctl.store.archive.permissions import restrict_file, restrict_to_owner
from compactctl.store.client_folders import STATE_VARIABLE
from compactctl.store.files.content import Content
from compactctl.store.files.filesystem import DiskError, FileSystem, already_written_note
from compactctl.store.files.source import Source, sha256_of
from compactctl.store.files.stale_drafts import remove_quietly, remove_stale_drafts
from compactctl.store.files.temp_file import TempFile
from compactctl.store.publish.input_changes import (
    InputGrowth,
    copy_growth,
    copy_growth_until_stable,
    read_appended,
)
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
    growth: InputGrowth
    archives: tuple[Path, ...] = ()
    displaced: Path | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """One publication, under the lock; ``undo`` takes away what it wrote when it fails."""

    fs: FileSystem
    source: Source
    target: Path
    output: OutputTarget
    drafts: Sequence[ArchiveDraft]
    content: Content
    force: bool
    undo: ExitStack = field(default_factory=ExitStack)

    @property
    def _folder(self) -> Path:
        return archive_folder(self.output.path)

    def run(self) -> Published:
        """Write the archives, then the transcript; take everything away again after an error."""
        draft = TempFile(self.fs, self.output.path)
        try:
            self._sweep()
            warnings = restrict_to_owner(self.fs, self._folder)
            paths = write_archives(self.fs, self._folder, self.drafts, self.undo)
            with draft:
                return self._switch(draft, paths, warnings)
        except BaseException as error:
            # Once the transcript is in its place, its archives stay, whatever happens.
            if draft.published:
                error.add_note(already_written_note(self.output.path))
            else:
                self.undo.close()
            raise

    def _sweep(self) -> None:
        # A run that left something beside the transcript came to write the README before. To look
        # every time would be slow where a batch writes thousands of files into one folder.
        if (self._folder / README).exists():
            remove_stale_drafts(self.fs, self.output.path.parent)
        remove_stale_drafts(self.fs, self._folder)

    def _switch(
        self, draft: TempFile, archives: tuple[Path, ...], warnings: tuple[str, ...]
    ) -> Published:
        draft.write_all(self.content)
        warnings += self._take_attributes(draft)
        check_target(self.source, self.target, self.content.digest, force=self.force)
        displaced, unkept = self._displace()
        growth = self._copy_growth(draft)
        digest = _digest(self.content, growth.tail, draft)
        warnings += unkept + draft.publish_or_warn()
        if displaced is not None:
            restrict_file(self.fs, displaced)
        return Published(
            path=self.output.path,
            digest=digest,
            growth=growth,
            archives=archives,
            displaced=displaced,
            warnings=warnings + self._late_write_warning(displaced, growth.carried_bytes),
        )

    def _take_attributes(self, draft: TempFile) -> tuple[str, ...]:
        if self.source.path is not None:
            # A missing file is found to have changed later on.
            with suppress(FileNotFoundError):
                return draft.copy_attributes(self.source.path)
        return ()

    def _displace(self) -> tuple[Path | None, tuple[str, ...]]:
        operation = self._displaced_operation()
        if operation is None:
            return None, ()
        link = displaced_name(self.output.path, self._folder, operation)
        self.undo.callback(remove_quietly, self.fs, link)
        try:
            keep_displaced(self.fs, self.output.path, link)
        except OSError as error:
            what = f"{self.output.path}: cannot be kept by a hard link ({error.strerror})"
            if self.force:
                return None, (what,)
            far = error.errno == errno.EXDEV
            way = (
                f"let {STATE_VARIABLE} name a folder on its disk, "
                if far
                else "write a new file with -o, "
            )
            raise DiskError(f"{what}; nothing was changed; {way}or use --force") from error
        return link, ()

    def _displaced_operation(self) -> str | None:
        """Return the operation to name the old file after; None where it need not be kept.

        Beside work in place, an outcome must be kept that no archive holds: it may have a summary
        that somebody wrote, or a model.
        """
        path = self.output.path
        if self.output.replaced_input is not None:
            read_appended(path, self.output.replaced_input)
            if self.drafts:
                return self.drafts[-1].operation.id
            return self.source.digest.sha256[:12]
        if not path.exists():
            return None
        sha256 = sha256_of(path)
        if sha256 == self.content.digest.sha256:
            return None
        return Archive(self._folder).unarchived_outcome(sha256)

    def _copy_growth(self, draft: TempFile) -> InputGrowth:
        if self.output.replaced_input is not None:
            return copy_growth_until_stable(
                draft, self.output.path, self.source, self.output.replaced_input, self.content
            )
        return copy_growth(draft, self.source, self.content)

    def _late_write_warning(self, displaced: Path | None, taken: int) -> tuple[str, ...]:
        late = 0
        if displaced is not None and self.output.replaced_input is not None:
            # The transcript is in its place: no error may deny that any more.
            with suppress(OSError):
                late = displaced.stat().st_size - self.output.replaced_input.size - taken
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
        n_lines=content.digest.n_lines - content.ends_mid_line + tail.count(b"\n"),
    )
