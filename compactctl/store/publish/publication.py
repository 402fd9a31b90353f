"""Publish a transcript in such an order that no crash and no error can lose a line."""

import errno
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from compactctl.model.operation import Digest
from compactctl.records import Record, field, replace
from compactctl.store.archive.archive import Archive, lineage_behind, lineage_from
from compactctl.store.archive.archive_writer import ArchiveDraft, write_archives
from compactctl.store.archive.displaced import displaced_name, keep_displaced
from compactctl.store.archive.names import (
    DISPLACED,
    README,
    STATE_DIGITS,
    archive_folder,
    lineage_folder,
    lineage_folders,
)
from compactctl.store.archive.permissions import restrict_file, restrict_to_owner
from compactctl.store.client_folders import STATE_VARIABLE
from compactctl.store.files.content import Content, FileChunks
from compactctl.store.files.filesystem import (
    DiskError,
    FileSystem,
    already_written_note,
    make_folders,
)
from compactctl.store.files.source import Source, digest_of
from compactctl.store.files.stale_drafts import (
    remove_folder_quietly,
    remove_quietly,
    remove_stale_drafts,
)
from compactctl.store.files.temp_file import ExistingFile, TempFile
from compactctl.store.publish.input_changes import (
    InputGrowth,
    copy_growth,
    copy_growth_until_stable,
    read_appended,
)
from compactctl.store.publish.overwrite import OutputTarget, check_target


class Published(Record):
    """A published transcript.

    Attributes:
        path: the transcript, symbolic links followed.
        digest: of the whole file.
        growth: what was appended to the input meanwhile; the file ends with the copied lines.
        archives: the archive of each operation.
        displaced: the hard link to the old file if it was the input, or an outcome that no archive
            holds.
        warnings: one line each, ready to be shown.
    """

    path: Path
    digest: Digest
    growth: InputGrowth
    archives: tuple[Path, ...] = ()
    displaced: Path | None = None
    warnings: tuple[str, ...] = ()


class Publication(Record):
    """One publication, under the lock; ``undo`` removes what it wrote if it fails.

    ``lineage`` is the folder for the archives if the input is of another lineage.
    """

    fs: FileSystem
    source: Source
    target: Path
    output: OutputTarget
    drafts: Sequence[ArchiveDraft]
    content: Content
    force: bool
    lineage: Path | None = None
    undo: ExitStack = field(default_factory=ExitStack)

    @property
    def _folder(self) -> Path:
        return archive_folder(self.output.path)

    def run(self) -> Published:
        """Write the archives, then the transcript; remove everything again after an error."""
        draft = TempFile(self.fs, self.output.path)
        try:
            self._remove_stale_drafts()
            warnings = restrict_to_owner(self.fs, self._folder)
            root = Archive(self._folder)
            folder = self._lineage(root)
            archives = write_archives(self.fs, folder, self.drafts, self.undo)
            with draft:
                published = self._publish(draft, root, archives, warnings)
        except BaseException as error:
            # A published transcript needs its archives, whatever happens.
            if draft.published:
                error.add_note(already_written_note(self.output.path))
            else:
                self.undo.close()
            raise
        # Only now has the old file no other name.
        if published.displaced is not None:
            restrict_file(self.fs, published.displaced)
        return published

    def _lineage(self, root: Archive) -> Path:
        """Return the folder for the archives: one of its own if they begin with another state."""
        if self.lineage is not None:
            return self.lineage
        if not (self.drafts and (root.files or root.contents.lineages)):
            return self._folder
        if self.output.replaced_input is not None:
            return lineage_behind(root, self.source.lines).folder
        first = self.drafts[0].operation.before
        lineage = lineage_from(root, first, self.source.lines)
        if lineage is not None:
            return lineage.folder
        folder = lineage_folder(self._folder, first)
        self.undo.callback(remove_folder_quietly, self.fs, folder)
        make_folders(self.fs, folder)
        return folder

    def _remove_stale_drafts(self) -> None:
        # A run writes the README before a draft beside the transcript. Without this condition, a
        # batch that writes thousands of files into one folder would list it for each of them.
        if (self._folder / README).exists():
            remove_stale_drafts(self.fs, self.output.path.parent)
        for folder in lineage_folders(self._folder):
            remove_stale_drafts(self.fs, folder)

    def _publish(
        self, draft: TempFile, root: Archive, archives: tuple[Path, ...], warnings: tuple[str, ...]
    ) -> Published:
        draft.write_all(self.content)
        warnings += self._copy_attributes(draft)
        existing = ExistingFile.at(self.output.path)
        output = check_target(self.source, self.target, self.content, force=self.force)
        displaced, link_warnings = self._displace(output, root)
        if existing and displaced:
            # What is appended at the last moment is late.
            existing = replace(existing, read=output.replaced_input)
        growth = self._copy_growth(draft)
        digest = _digest(self.content, growth.tail, draft)
        warnings += link_warnings + draft.publish_over(existing)
        if displaced is not None:
            displaced = self._replaced(displaced, growth)
        return Published(
            path=self.output.path,
            digest=digest,
            growth=growth,
            archives=archives,
            displaced=displaced,
            warnings=warnings + self._late_write_warning(displaced, growth.n_copied_bytes),
        )

    def _copy_attributes(self, draft: TempFile) -> tuple[str, ...]:
        if self.source.path is not None:
            # A missing file is reported as changed later.
            with suppress(FileNotFoundError):
                return draft.copy_attributes(self.source.path)
        return ()

    def _displace(self, output: OutputTarget, root: Archive) -> tuple[Path | None, tuple[str, ...]]:
        """Link the old file into the archive folder; return the link, if any, and warnings.

        The input is always linked, and so is the only copy of a state. It belongs to a lineage that
        was there before.
        """
        notes: tuple[str, ...] = ()
        if output.replaced_input is not None:
            read_appended(output.path, output.replaced_input)
            link = displaced_name(output.path, self._folder, self._input_name(root))
        elif output.is_only_copy:
            lineage = lineage_behind(root, FileChunks(output.path))
            link = displaced_name(output.path, self._folder, lineage.first_state)
            if digest_of(FileChunks(output.path)) not in lineage.states:
                notes = (f"{output.path}: had grown; what was in it is kept (see compactctl log)",)
        else:
            return None, ()
        self.undo.callback(remove_quietly, self.fs, link)
        try:
            keep_displaced(self.fs, self.output.path, link)
        except OSError as error:
            what = f"{self.output.path}: cannot be kept by a hard link ({error.strerror})"
            if self.force:
                return None, (what,)
            is_other_disk = error.errno == errno.EXDEV
            advice = (
                f"set {STATE_VARIABLE} to a folder on its disk, "
                if is_other_disk
                else "write a new file with -o, "
            )
            raise DiskError(f"{what}; nothing was changed; {advice}or use --force") from error
        return link, notes

    def _input_name(self, root: Archive) -> str:
        """Return what names the link to the input: the operation that replaces it.

        If the transcript goes on another lineage, that is the first state of its own one.
        """
        if self.drafts and self.lineage is None:
            return self.drafts[-1].operation.id
        first = lineage_behind(root, self.source.lines).first_state
        return first or self.source.digest.sha256[:STATE_DIGITS]

    def _replaced(self, displaced: Path, growth: InputGrowth) -> Path:
        """Say in the name of the link to the input that it was replaced, and what was taken over.

        The transcript is published: an error here must not report it as failed.
        """
        if self.output.replaced_input is None or self.lineage is not None:
            return displaced
        name = displaced.name.removeprefix(DISPLACED)
        size = self.output.replaced_input.size + growth.n_copied_bytes
        with suppress(OSError):
            link = displaced_name(displaced, self._folder, name, size)
            self.fs.rename(displaced, link)
            return link
        return displaced

    def _copy_growth(self, draft: TempFile) -> InputGrowth:
        if self.output.replaced_input is not None:
            return copy_growth_until_stable(
                draft, self.output.path, self.source, self.output.replaced_input, self.content
            )
        return copy_growth(draft, self.source, self.content)

    def _late_write_warning(self, displaced: Path | None, copied_bytes: int) -> tuple[str, ...]:
        n_late = 0
        if displaced is not None and self.output.replaced_input is not None:
            # The transcript is published: an error here must not report it as failed.
            with suppress(OSError):
                n_late = displaced.stat().st_size - self.output.replaced_input.size - copied_bytes
        if n_late <= 0:
            return ()
        return (f"{n_late:,} bytes were written to the old file at the last moment: {displaced}",)


def _digest(content: Content, tail: bytes, draft: TempFile) -> Digest:
    """Return the digest of the draft, which holds ``content`` and the complete lines ``tail``."""
    if not tail:
        return content.digest
    return Digest(
        sha256=draft.sha256,
        n_bytes=content.digest.n_bytes + len(tail),
        n_lines=content.digest.n_lines - content.ends_mid_line + tail.count(b"\n"),
    )
