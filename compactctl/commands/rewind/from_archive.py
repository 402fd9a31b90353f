"""The originals of a transcript that is in no state which its archive knows."""

from pathlib import Path

from compactctl.commands.forking.outside_stores import check_outside_stores
from compactctl.commands.forking.written import Written
from compactctl.commands.operations.history import history_of
from compactctl.commands.operations.steps import ArchivedStep
from compactctl.commands.rewind.result import RewindOptions, RewindResult
from compactctl.commands.rewind.written_anew import is_written_anew, newest_compaction
from compactctl.errors import ChangedError, CompactctlError, MissingArchiveError
from compactctl.model.operation import StateChange
from compactctl.store.files.content import Content, Joined
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.files.lines import STANDARD_INPUT, Source
from compactctl.store.publish.overwrite import is_same_place
from compactctl.store.publish.publish import write_output


def originals_instead(
    options: RewindOptions, source: Source, error: ChangedError | MissingArchiveError
) -> RewindResult:
    """Write the originals to where ``output`` says, as the archive has them.

    They are those of the newest compaction, with ``all`` of the first; the former are not known
    where an archive is missing. Raises an error like the one given, which says what happened and
    what can be done, where that is not asked for, and as writing does.
    """
    history = history_of(source, options.input.path, folder=options.archive)
    step = newest_compaction(history)
    if step is None or options.to or options.group:
        raise error
    if options.all and history.missing_archives:
        raise history.no_first_state() from error
    output = options.output
    if isinstance(error, MissingArchiveError) and not (options.all and output):
        raise MissingArchiveError(f"{error}; --all -o FILE writes the first state without it")
    if output is None or (output != STANDARD_INPUT and is_same_place(options.input.path, output)):
        raise ChangedError(_what_happened(options, source, step, error)) from error
    content = Content.of(Joined((history.archived[0] if options.all else step).before))
    result = RewindResult(
        options=options,
        layout="split",
        change=StateChange(before=source.digest, after=content.digest),
        undone=(step.id,),
        in_effect=(),
        warnings=(
            f"{options.input.path}: what was said since it was compacted is not in these originals",
            *history.warnings,
        ),
        written=None if options.check else Written(output=output),
        data=content.pieces if output == STANDARD_INPUT else None,
    )
    if not options.check and output != STANDARD_INPUT:
        check_outside_stores(options.input.path, Path(output), named=True)
        known = history.states
        write_output(
            FileSystem(),
            Path(output),
            content,
            known=known,
            force=options.force,
            origin=source.path,
        )
    return result


def _what_happened(
    options: RewindOptions, source: Source, step: ArchivedStep, error: CompactctlError
) -> str:
    way = "-o FILE writes the originals, without what was said since"
    if not is_written_anew(source, options.input.path, step):
        return f"{error}; {way}"
    return (
        f"{options.input.path}: everything that operation {step.id} left is still in it, but its "
        f"client has written the file anew, so that it cannot be rewound in place; {way}"
    )
