"""The transcript that an agent loop leaves: what is sent, and an archive of what was cut."""

import warnings
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path

from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.compact.draft import (
    CompactInput,
    Draft,
    deposit_of,
    identity_of,
    new_file,
    operation_id,
)
from compactctl.commands.compact.result import CompactOptions
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.reading.proof import expected_messages, prove_layout
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import ChangedError, CompactctlError, UsageError
from compactctl.library.loop_cut import DetailedCut
from compactctl.library.message_list import encode_messages
from compactctl.library.tracked import JsonMessage
from compactctl.store.files.content import ChunkedLines, Content
from compactctl.store.files.filesystem import FileSystem, disk_errors
from compactctl.store.publish.overwrite import check_output
from compactctl.store.publish.publish import publish


class LoopFile:
    """A transcript at a path with the messages that a loop sends, one in each line.

    After each cut, the commands ``log``, ``view`` and ``rewind`` know it as one compaction of the
    whole history. What is changed before the cut stays as it was sent, until the next cut. If the
    file cannot be written, or another program writes to it, a RuntimeWarning says so; it is then
    tried again, or written anew with the next cut.
    """

    def __init__(self, path: Path, size: int | None = None) -> None:
        """Begin a file, or go on with one of so many bytes.

        Raises UsageError if there is another file.
        """
        self.path = path.absolute()
        check_output(self.path, str(path))
        data = self.path.read_bytes() if self.path.exists() else b""
        if self.path.exists() and len(data) != size:
            why = "exists" if size is None else "was written to since this state"
            raise UsageError(
                f"archive: {path} {why}; name a new file, or go on from the state that to_dict "
                "returned after its last line"
            )
        # Where the line of each message ends.
        self._ends = list(accumulate(map(len, data.splitlines(keepends=True))))
        self._is_behind = self._has_failed = False

    @property
    def size(self) -> int:
        """The bytes that were written."""
        return self._ends[-1] if self._ends else 0

    def follow(self, sent: Sequence[JsonMessage], n_before: int) -> None:
        """Write what is sent now; the first ``n_before`` messages were sent before."""
        if not self._is_behind:
            self._try(lambda: self._append(sent, min(n_before, len(self._ends))))

    def follow_cut(self, cut: DetailedCut, sent: Sequence[JsonMessage]) -> None:
        """Write a cut, with which ``sent`` begins, and archive what it leaves out."""

        def write() -> None:
            self._write_cut(cut)
            data = self.path.read_bytes()
            self._ends = list(accumulate(map(len, data.splitlines(keepends=True))))
            self._append(sent, len(self._ends))

        self._is_behind = False
        self._try(write)

    def fall_behind(self) -> None:
        """Leave the file as it is until the next cut: what it holds is not sent any more."""
        self._is_behind = True

    def _try(self, write: Callable[[], None]) -> None:
        """Write; warn once if that fails."""
        try:
            write()
            self._has_failed = False
        except CompactctlError as error:
            self._is_behind = isinstance(error, ChangedError)
            if not self._has_failed:
                warnings.warn(f"compactctl: {error}", RuntimeWarning, stacklevel=2)
            self._has_failed = True

    def _append(self, sent: Sequence[JsonMessage], n_before: int) -> None:
        """Write messages behind the first ``n_before`` ones, which are in the file."""
        lines = encode_messages(sent[n_before:])
        is_there = self.path.exists()
        if (self.path.stat().st_size if is_there else 0) != self.size:
            raise ChangedError(
                f"{self.path}: another program wrote to it; it is written anew with the next cut"
            )
        start = self._ends[n_before - 1] if n_before else 0
        del self._ends[n_before:]
        errors = disk_errors(self.path, "the newest messages are missing, and tried again")
        with errors, self.path.open("r+b" if is_there else "wb") as stream:
            try:
                stream.truncate(start)
                stream.seek(start)
                stream.writelines(lines)
                stream.flush()
            except OSError:
                stream.truncate(start)
                raise
        self._ends += [start + end for end in accumulate(map(len, lines))]

    def _write_cut(self, cut: DetailedCut) -> None:
        loaded, path = cut.loaded, str(self.path)
        draft = Draft(
            options=CompactOptions(
                input=InputOptions(path=path, format=loaded.format.name),
                recipe=cut.recipe,
                output=OutputOptions(path=path, force=True),
            ),
            input=CompactInput(
                source=loaded.source,
                history=OperationHistory(None, loaded.lines, path, loaded.format.name, None),
                file=loaded,
            ),
            measured=cut.compacted.measured,
            plan=cut.plan,
            run=cut.compacted.run,
            summaries=(),
        )
        operation = operation_id(identity_of(draft))
        new = new_file(draft, operation)
        content = Content.from_chunks(new)
        expected = expected_messages(draft.run.applied.after)
        prove_layout(ChunkedLines(content.chunks), loaded.format, expected, path)
        publish(
            FileSystem(),
            source=loaded.source,
            target=self.path,
            drafts=[deposit_of(draft, operation, new, content.digest)],
            content=content,
            force=True,
        )
