"""What a batch leaves for others: reports in several formats, and commands for a CI runner."""

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from compactctl.commands.batch.batch import BatchResult
from compactctl.store.files.content import Content
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.files.lines import append_lines
from compactctl.store.publish.publish import write_output
from compactctl.views.registry import function_at

PARQUET, JUNIT = "parquet", "junit"
# Format -> the function that makes a text of a result.
_TEXTS = {
    "csv": "results.batch_files:batch_csv",
    "jsonl": "results.batch_files:batch_jsonl",
    "md": "results.batch_files:batch_markdown",
    JUNIT: "results.batch_files:batch_junit",
}
REPORT_FORMATS = (PARQUET, *_TEXTS)
RUNNERS = ("github", "azure", "gitlab")
# What GitHub takes as the summary of a step at most, in bytes.
_LONGEST_SUMMARY = 1 << 20


def report_format(path: str, asked: str | None) -> str:
    """Return the format asked for, else that of the file's ending, else Parquet."""
    ending = Path(path).suffix.removeprefix(".").lower()
    return asked or (ending if ending in REPORT_FORMATS else PARQUET)


def with_report(result: BatchResult, path: str, kind: str, *, force: bool) -> BatchResult:
    """Write a report. Raises UsageError and DiskError as ``write_output`` does."""
    if kind == PARQUET:
        from compactctl.views.results.batch_files import write_report

        warnings = write_report(result.rows, path, force=force)
    else:
        content = Content.of((_text(result, kind),))
        warnings = write_output(FileSystem(), Path(path), content, force=force)
    return replace(
        result,
        reports=(*result.reports, path),
        warnings=(*result.warnings, *warnings),
    )


def annotate(result: BatchResult, runner: str) -> None:
    """Tell a CI runner of the worst files, on standard error.

    ``runner`` is one of RUNNERS, "auto" to find out which it is, or "none".

    On GitHub the page of totals goes to the summary of the step, unless that is full.
    """
    from compactctl.views.results.batch_files import batch_annotations, runner_of

    chosen = runner_of(os.environ) if runner == "auto" else runner
    if chosen not in RUNNERS:
        return
    for line in batch_annotations(result, chosen):
        sys.stderr.write(f"{line}\n")
    summary = _summary(os.environ)
    if chosen == "github" and summary is not None:
        _append(summary, _text(result, "md"))


def _text(result: BatchResult, kind: str) -> bytes:
    text: str = function_at(_TEXTS[kind])(result)
    return text.encode("utf-8", "backslashreplace")


def _summary(variables: Mapping[str, str]) -> Path | None:
    named = variables.get("GITHUB_STEP_SUMMARY")
    return Path(named) if named else None


def _append(summary: Path, page: bytes) -> None:
    try:
        with summary.open("a+b") as stream:
            if stream.seek(0, os.SEEK_END) + len(page) < _LONGEST_SUMMARY:
                append_lines(stream, page)
    except OSError as error:
        # What writes to an open file does not know its name.
        error.filename = str(summary)
        raise
