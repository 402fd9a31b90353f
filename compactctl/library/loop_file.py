"""The transcript that an agent loop leaves: what is sent, and an archive of what was cut."""

from collections.abc import Iterable, Sequence
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
from compactctl.errors import UsageError
from compactctl.library.loop_cut import LoopCut
from compactctl.store.files.content import ChunkedLines, Content
from compactctl.store.files.filesystem import FileSystem, disk_errors
from compactctl.store.publish.overwrite import check_output
from compactctl.store.publish.publish import publish, write_output


class LoopFile:
    """A transcript at a path with the messages that a loop sends.

    After each cut, the commands ``log``, ``view`` and ``rewind`` know it as one compaction of the
    whole history. Methods raise DiskError if nothing can be written.
    """

    def __init__(self, path: Path, *, is_ours: bool = False) -> None:
        """Raise UsageError if something is at the path that ``is_ours`` does not vouch for."""
        self.path = path.absolute()
        check_output(self.path, str(path))
        if self.path.exists() and not is_ours:
            raise UsageError(
                f"archive: {path} exists; name a new file, or go on from a state with from_dict"
            )

    def append(self, lines: Iterable[bytes]) -> None:
        """Add messages at the end."""
        errors = disk_errors(self.path, "the newest messages may be missing")
        with errors, self.path.open("ab") as stream:
            stream.writelines(lines)

    def write(self, lines: Sequence[bytes]) -> None:
        """Replace all by the whole history, without a cut."""
        write_output(FileSystem(), self.path, Content.from_chunks(lines), force=True)

    def write_cut(self, cut: LoopCut) -> None:
        """Replace all by a cut of the whole history, and archive what it leaves out."""
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
