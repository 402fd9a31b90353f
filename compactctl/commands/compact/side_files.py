"""What became of every message, as one more file that a person can edit and carry out."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from compactctl.commands.compact.place import target_of
from compactctl.commands.compact.result import CompactOptions, CompactResult
from compactctl.commands.planning.plan_file import plan_text
from compactctl.errors import UsageError
from compactctl.store.archive.names import archive_folder
from compactctl.store.files.content import Content
from compactctl.store.files.disk_errors import written_before
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.files.limits import ReadLimits
from compactctl.store.files.lines import STANDARD_INPUT
from compactctl.store.publish.overwrite import check_output, is_same_place
from compactctl.store.publish.publish import write_output


def with_plan_out(result: CompactResult, plan_out: str | None, *, force: bool) -> CompactResult:
    """Write the plan, whole or not at all; the result has one. Raises as ``write_output`` does."""
    if plan_out is None or result.plan is None:
        return result
    content = Content.of((plan_text(result.plan).encode(),))
    if result.written is None:
        warnings = write_output(FileSystem(), plan_out, content, force=force)
    else:
        done = written_before(Path(result.written.output))
        try:
            warnings = write_output(FileSystem(), plan_out, content, force=force, otherwise=done)
        except BaseException as error:
            error.add_note(done)
            raise
    return replace(result, plan_out=plan_out, warnings=(*result.warnings, *warnings))


def check_archived_out(options: CompactOptions, archived_out: str | None) -> None:
    """Raise UsageError for a place that cannot be written, before anything else is."""
    if archived_out is None:
        return
    if STANDARD_INPUT in (options.output.path, archived_out):
        raise UsageError(
            "--archived-out and the compacted transcript each need a file of their own"
        )
    target = target_of(options)
    for place in (options.input.path, target, archive_folder(target)):
        if is_same_place(place, archived_out):
            raise UsageError(
                f"--archived-out {archived_out}: is where the transcript is, or its archive; "
                "name another file"
            )
    check_output(archived_out, f"--archived-out {archived_out}")
    if Path(archived_out).exists() and not options.output.force:
        raise UsageError(f"--archived-out {archived_out}: is there already; overwrite it with -f")


def with_archived_out(
    result: CompactResult,
    options: CompactOptions,
    archived_out: str | None,
    hidden_lines: Callable[[str, str, ReadLimits], Iterable[bytes]],
) -> CompactResult:
    """Write all lines that are hidden now, each with its tags; nothing where nothing was written.

    ``hidden_lines`` tells them of a transcript by path and format. Raises as that and as writing
    does.
    """
    if archived_out is None or result.written is None:
        return result
    done = written_before(Path(result.written.output))
    try:
        hidden = hidden_lines(result.written.output, result.format, options.input.limits)
        content = Content.of(tuple(map(_whole, hidden)))
        warnings = write_output(
            FileSystem(), archived_out, content, force=options.output.force, otherwise=done
        )
    except BaseException as error:
        error.add_note(done)
        raise
    return replace(result, archived_out=archived_out, warnings=(*result.warnings, *warnings))


def _whole(line: bytes) -> bytes:
    return line if line.endswith(b"\n") else line + b"\n"
