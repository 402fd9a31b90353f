"""The order in which a transcript is published, so that no crash and no error can lose a line."""

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from compactctl.model.operation import Digest
from compactctl.store.deposit import Deposit, deposit
from compactctl.store.displaced import displaced_name, keep_displaced
from compactctl.store.draft import Draft, remove, sweep
from compactctl.store.errors import DiskError
from compactctl.store.filesystem import FileSystem
from compactctl.store.folder import README, archive_folder
from compactctl.store.growth import appended, require_unchanged, settle
from compactctl.store.lines import Source, digest_of
from compactctl.store.target import Target, check_target


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What was published.

    Attributes:
        path: the transcript, links followed.
        digest: of the whole file.
        archives: the archive of each operation.
        carried: bytes that were appended to the input meanwhile, which end the file.
        displaced: the name under which the old file of work in place is kept.
        warnings: one line each, ready to be shown.
    """

    path: Path
    digest: Digest
    archives: tuple[Path, ...] = ()
    carried: int = 0
    displaced: Path | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """One publication, under the lock; ``undo`` takes away what it wrote when it fails."""

    fs: FileSystem
    source: Source
    target: Path
    place: Target
    archives: Sequence[Deposit]
    data: bytes
    force: bool
    undo: ExitStack = field(default_factory=ExitStack)

    @property
    def _folder(self) -> Path:
        return archive_folder(self.place.path)

    def run(self) -> Published:
        """Write the archives, then the transcript; take everything away again after an error."""
        draft = Draft(self.fs, self.place.path)
        try:
            self._sweep()
            paths = deposit(self.fs, self._folder, self.archives, self.undo)
            with draft:
                return self._switch(draft, paths)
        except BaseException:
            # Once the transcript is in its place, its archives stay, whatever happens.
            if not draft.published:
                self.undo.close()
            raise

    def _sweep(self) -> None:
        # Only a run that came to write the README can have left something beside the transcript.
        if (self._folder / README).exists():
            sweep(self.fs, self.place.path.parent, base=self.place.path.name)
        sweep(self.fs, self._folder)

    def _switch(self, draft: Draft, archives: tuple[Path, ...]) -> Published:
        draft.write(self.data)
        warnings = self._take_attributes(draft)
        check_target(self.source, self.target, force=self.force)
        displaced, unkept = self._displace()
        tail = self._complete(draft)
        warnings += unkept + _move(draft)
        return Published(
            path=self.place.path,
            digest=digest_of((self.data, tail)),
            archives=archives,
            carried=len(tail),
            displaced=displaced,
            warnings=warnings + self._late(displaced, tail),
        )

    def _take_attributes(self, draft: Draft) -> tuple[str, ...]:
        if self.source.path is not None:
            # A missing file is found to have changed later on.
            with suppress(FileNotFoundError):
                return draft.take_attributes(self.source.path)
        return ()

    def _displace(self) -> tuple[Path | None, tuple[str, ...]]:
        if self.place.input is None:
            return None, ()
        appended(self.place.path, self.place.input)
        operation = self.archives[-1][0].id if self.archives else self.source.digest.sha256[:12]
        link = displaced_name(self.place.path, self._folder, operation)
        self.undo.callback(remove, self.fs, link)
        try:
            keep_displaced(self.fs, self.place.path, link)
        except OSError as error:
            what = f"{self.place.path}: cannot be kept under a second name ({error.strerror})"
            if self.force:
                return None, (what,)
            raise DiskError(
                f"{what}; nothing was changed; write a new file with -o, or use --force"
            ) from error
        return link, ()

    def _complete(self, draft: Draft) -> bytes:
        if self.place.input is not None:
            return settle(draft, self.place.path, self.source, self.place.input, self.data)
        draft.sync()
        draft.verify(digest_of(self.data))
        require_unchanged(self.source)
        return b""

    def _late(self, displaced: Path | None, tail: bytes) -> tuple[str, ...]:
        late = 0
        if displaced is not None and self.place.input is not None:
            # The transcript is in its place: no error may deny that any more.
            with suppress(OSError):
                late = displaced.stat().st_size - self.place.input.size - len(tail)
        if late <= 0:
            return ()
        return (f"{late:,} bytes were written to the old file at the last moment: {displaced}",)


def _move(draft: Draft) -> tuple[str, ...]:
    try:
        draft.publish()
    except OSError as error:
        if draft.path.exists():
            raise
        return (f"{draft.place}: written, but a power cut may take it back ({error.strerror})",)
    return ()
