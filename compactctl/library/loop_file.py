"""The transcript that an agent loop leaves: what is sent, and an archive of what was cut."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
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
from compactctl.errors import CompactctlError, UsageError
from compactctl.library.loop_cut import DetailedCut
from compactctl.library.message_list import encode_messages
from compactctl.library.tracked import JsonMessage
from compactctl.store.files.content import ChunkedLines, Content
from compactctl.store.files.filesystem import FileSystem, disk_errors
from compactctl.store.publish.overwrite import check_output
from compactctl.store.publish.publish import publish, write_output


class LoopFile:
    """A transcript at a path with the messages that a loop sends.

    After each cut, the commands ``log``, ``view`` and ``rewind`` know it as one compaction of the
    whole history. If it cannot be written, a RuntimeWarning says why, and it is tried again.
    """

    def __init__(self, path: Path, n_written: int = 0) -> None:
        """Raise UsageError for a file that is there already, unless messages were written to it."""
        self.path = path.absolute()
        check_output(self.path, str(path))
        if self.path.exists() and not n_written:
            raise UsageError(
                f"archive: {path} exists; name a new file, or go on from a state with from_dict"
            )
        self._n_written = n_written
        self._is_behind = False

    def follow(self, history: Sequence[JsonMessage], unchanged: int) -> None:
        """Write what is new in a history, of which the first messages are ``unchanged``."""
        with self._trying() as is_behind:
            if is_behind or unchanged < self._n_written:
                content = Content.from_chunks(encode_messages(history))
                write_output(FileSystem(), self.path, content, force=True)
            else:
                self._append(encode_messages(history[self._n_written :]))
        self._n_written = len(history)

    def follow_cut(self, cut: DetailedCut, later: Sequence[JsonMessage]) -> None:
        """Replace all by a cut of the history with what came ``later``; archive the rest."""
        with self._trying():
            self._write_cut(cut)
            self._append(encode_messages(later))

    @contextmanager
    def _trying(self) -> Iterator[bool]:
        """Yield whether the file lacks something; it does, if an error leaves the context."""
        is_behind, self._is_behind = self._is_behind, True
        try:
            yield is_behind
            self._is_behind = False
        except CompactctlError as error:
            if not is_behind:
                warnings.warn(f"compactctl: {error}", RuntimeWarning, stacklevel=2)

    def _append(self, lines: Iterable[bytes]) -> None:
        errors = disk_errors(self.path, "the newest messages may be missing")
        with errors, self.path.open("ab") as stream:
            stream.writelines(lines)

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
