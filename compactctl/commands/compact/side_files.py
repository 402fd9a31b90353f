"""Files written beside a compacted transcript: an editable plan, and the hidden lines."""

from collections.abc import Callable, Iterable
from pathlib import Path

from compactctl.commands.compact.place import target_of
from compactctl.commands.compact.result import CompactOptions, CompactResult, unused_options
from compactctl.commands.planning.plan_file import plan_text
from compactctl.errors import UsageError
from compactctl.records import replace
from compactctl.store.archive.names import archive_folder
from compactctl.store.files.content import Content
from compactctl.store.files.filesystem import FileSystem, already_written_note
from compactctl.store.files.limits import ReadLimits
from compactctl.store.files.source import STANDARD_STREAM
from compactctl.store.publish.overwrite import check_output, is_same_place
from compactctl.store.publish.publish import write_output


def check_archived_out(options: CompactOptions) -> None:
    """Raise UsageError if --archived-out cannot be written, before anything else is written."""
    archived_out = options.archived_out
    if archived_out is None:
        return
    if STANDARD_STREAM in (options.output.path, archived_out):
        raise UsageError("--archived-out and the output must be different files")
    target = target_of(options)
    for place in (options.input.path, target, archive_folder(target)):
        if is_same_place(place, archived_out):
            raise UsageError(
                f"--archived-out {archived_out}: is the transcript or its archive; name another "
                "file"
            )
    check_output(archived_out, f"--archived-out {archived_out}")
    if Path(archived_out).exists() and not options.output.force:
        raise UsageError(f"--archived-out {archived_out}: exists; overwrite it with --force")


def with_side_files(
    result: CompactResult, hidden_lines: Callable[[str, str, ReadLimits], Iterable[bytes]]
) -> CompactResult:
    """Write the plan and the hidden lines if requested, and add warnings about unused options.

    ``hidden_lines`` reads the hidden lines of a transcript by path and format. Raises as it and
    ``write_output`` do.
    """
    warnings = (*result.warnings, *_write_plan(result), *unused_options(result))
    written = _write_hidden_lines(result, hidden_lines)
    return replace(result, warnings=(*warnings, *written))


def _write_plan(result: CompactResult) -> tuple[str, ...]:
    """Write the fate of every message as a plan; return warnings."""
    plan_file, plan_out = result.requested.plan_file, result.options.plan_out
    if plan_out is None or plan_file is None:
        return ()
    content = Content.from_chunks((plan_text(plan_file).encode(),))
    force = result.options.output.force
    if result.written is None:
        return write_output(FileSystem(), plan_out, content, force=force)
    done = already_written_note(Path(result.written.output))
    try:
        return write_output(FileSystem(), plan_out, content, force=force, on_failure=done)
    except BaseException as error:
        error.add_note(done)
        raise


def _write_hidden_lines(
    result: CompactResult, hidden_lines: Callable[[str, str, ReadLimits], Iterable[bytes]]
) -> tuple[str, ...]:
    """Write all hidden lines with their tags, also those of an earlier run; return warnings."""
    options, written = result.options, result.written or result.earlier
    if options.archived_out is None or options.output.dry_run:
        return ()
    if written is None:
        return (f"--archived-out {options.archived_out}: not written, since nothing was compacted",)
    done = already_written_note(Path(written.output))
    try:
        hidden = hidden_lines(written.output, result.format, options.input.limits)
        content = Content.from_chunks(tuple(map(_whole, hidden)))
        return write_output(
            FileSystem(),
            options.archived_out,
            content,
            force=options.output.force,
            on_failure=done,
        )
    except BaseException as error:
        error.add_note(done)
        raise


def _whole(line: bytes) -> bytes:
    return line if line.endswith(b"\n") else line + b"\n"
