"""What became of every message, as one more file that a person can edit and carry out."""

from dataclasses import replace
from pathlib import Path

from compactctl.commands.compact.result import CompactResult
from compactctl.commands.planning.plan_file import plan_text
from compactctl.store.files.content import Content
from compactctl.store.files.disk_errors import written_before
from compactctl.store.files.filesystem import FileSystem
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
