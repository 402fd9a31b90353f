"""The output of a batch in files and for CI runners: rows, pages, and commands in the log.

The commands are those that the vendors document: GitHub's workflow commands, Azure's logging
commands and GitLab's sections. Text from transcripts is escaped so that it cannot end them.
"""

import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from types import TracebackType
from typing import Self
from xml.etree import ElementTree as ET

from compactctl.commands.batch.batch import BatchResult
from compactctl.commands.batch.columns import TABLE_TYPES, table_values
from compactctl.commands.batch.report_format import (
    FILES_VERSION,
    METADATA,
    REPORT_FORMATS,
    RUNNERS,
)
from compactctl.commands.batch.row import BatchRow, is_of_gate
from compactctl.commands.measuring.figures import FileDetails, MessageDetails
from compactctl.commands.output_files import WrittenFile, format_by_extension
from compactctl.records import replace
from compactctl.store.files.source import append_lines
from compactctl.views.facts import status_text
from compactctl.views.results.batch_findings import BatchFinding, find_failures, reason_text
from compactctl.views.results.rounds import ROUND_TYPES, round_row
from compactctl.views.table_file import TableFile, write_table, write_text
from compactctl.views.table_text import csv_text, jsonl_text, markdown_text
from compactctl.views.terminal.text import line_text, plural, share_text, size_text

_MAX_ANNOTATIONS = 10
# Runner -> the variable that it sets for every job.
_VARIABLES = {"github": "GITHUB_ACTIONS", "azure": "TF_BUILD", "gitlab": "GITLAB_CI"}
# What GitHub takes as the summary of a step at most, in bytes.
_MAX_SUMMARY_BYTES = 1 << 20
_TITLE = "compactctl batch"
# Attribute of a test suite -> the elements that it counts.
_COUNTED = (
    ("tests", "testcase"),
    ("failures", "testcase/failure"),
    ("errors", "testcase/error"),
    ("skipped", "testcase/skipped"),
)
# Azure's, from its documentation of logging commands; GitHub's, from its toolkit.
_AZURE = {"%": "%AZP25", ";": "%3B", "\r": "%0D", "\n": "%0A", "]": "%5D"}
_GITHUB = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_GITHUB_PROPERTY = {**_GITHUB, ":": "%3A", ",": "%2C"}
# What XML 1.0 has no way to write.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MESSAGES, _ROUNDS = "compactctl.messages", "compactctl.batch-rounds"
_DETAILS_VERSION = 1
"""Goes up when a column is removed or changes its meaning."""
# Column -> Arrow type; each is the field of MessageDetails of that name, or the file's path.
_MESSAGE_COLUMNS: Mapping[str, str] = {
    "path": "large_string",
    "seq": "int64",
    "line": "int64",
    "conversation": "int64",
    "role": "large_string",
    "category": "large_string",
    "tools": "large_string",
    "time": "float64",
    "tokens": "int64",
    "visible": "int64",
    "stage": "large_string",
    "tokens_after": "int64",
}
# Without costs: prices are only requested for a single session.
_ROUND_COLUMNS: Mapping[str, str] = {
    "path": "large_string",
    **{name: kind for name, kind in ROUND_TYPES.items() if not name.startswith("cost_")},
}


def report_format(path: str, asked: str | None) -> str:
    """Return the requested format, else that of the file's suffix; without one, Parquet.

    Raises UsageError if no format has the suffix.
    """
    if asked is not None:
        return asked
    kind = format_by_extension(
        "--report",
        path,
        (*REPORT_FORMATS, "xml"),
        otherwise=", or name the format with --report-format",
    )
    return "junit" if kind == "xml" else kind


def with_report(result: BatchResult, path: str, kind: str, *, force: bool) -> BatchResult:
    """Write a report in one of REPORT_FORMATS, and say so in the result.

    Raises UsageError and DiskError as ``write_output`` does.
    """
    if kind == "parquet":
        warnings = write_report(result.rows, path, force=force)
    else:
        warnings = write_text(_TEXTS[kind](result), path, force=force)
    file = WrittenFile(path=path, kind="report", rows=len(result.rows), warnings=warnings)
    return replace(result, written=(*result.written, file))


def write_report(
    rows: Sequence[BatchRow], path: str | Path, *, force: bool = False
) -> tuple[str, ...]:
    """Write one line per file; see ``write_table``."""
    return write_table(
        map(table_values, rows), TABLE_TYPES, {METADATA: FILES_VERSION}, path, force=force
    )


def write_values(
    rows: Sequence[Mapping[str, object]], path: str | Path, *, force: bool = False
) -> tuple[str, ...]:
    """Write rows of other reports; a column that they lack is null."""
    whole = ({**dict.fromkeys(TABLE_TYPES), **row} for row in rows)
    return write_table(whole, TABLE_TYPES, {METADATA: FILES_VERSION}, path, force=force)


def batch_csv(result: BatchResult) -> str:
    """Return a header and a line per file; a text that would be a formula begins with '."""
    return csv_text(TABLE_TYPES, map(table_values, result.rows))


def batch_jsonl(result: BatchResult) -> str:
    """Return one line per file, each a JSON object."""
    return jsonl_text(map(table_values, result.rows))


def batch_markdown(result: BatchResult) -> str:
    """Return a Markdown page with totals and the worst files; names and errors are escaped."""
    return "\n".join(_markdown_lines(result)) + "\n"


def _markdown_lines(result: BatchResult) -> Iterator[str]:
    totals = result.totals
    counts = (
        f"{count:,} {status_text(status)}" for status, count in totals.statuses.items() if count
    )
    yield "## compactctl batch"
    yield ""
    yield "| | |"
    yield "| --- | ---: |"
    yield f"| files | {plural(totals.files, 'file')}: {', '.join(counts)} |"
    yield f"| on disk | {size_text(totals.bytes)} |"
    if totals.tokens_before is None:
        yield f"| tokens | not added up: counted with {', '.join(totals.counters)} |"
    else:
        yield f"| tokens | {totals.tokens_before:,} |"
    if totals.saved is not None and totals.tokens_before is not None:
        share = share_text(totals.saved / max(1, totals.tokens_before))
        yield f"| saved | {totals.saved:,} ({share}) |"
    yield f"| exit code | {result.exit_code} |"
    findings = find_failures(result)
    if findings:
        yield ""
        yield "| file | status | why |"
        yield "| --- | --- | --- |"
        for finding in findings[:_MAX_ANNOTATIONS]:
            path = markdown_text(finding.path or "all")
            yield f"| {path} | {finding.status} | {markdown_text(finding.reason)} |"
    if more := _more_text(findings):
        yield ""
        yield more


def _more_text(findings: Sequence[BatchFinding]) -> str:
    """Return how many findings are not among those shown, "" if all are."""
    more = len(findings) - _MAX_ANNOTATIONS
    return f"and {more:,} more; the output of the batch lists them" if more > 0 else ""


def batch_junit(result: BatchResult) -> str:
    """Return the JUnit report, with a test for each row, the worst first, and for the baseline.

    Characters that XML does not allow become question marks.
    """
    suites = ET.Element("testsuites")
    suite = ET.SubElement(suites, "testsuite", name=_TITLE)
    if result.growth is not None:
        _add_baseline(suite, result)
    for row in result.worst_first:
        _add(suite, row, reason_text(row, result))
    for name, tag in _COUNTED:
        suite.set(name, str(len(suite.findall(tag))))
    suite.set("time", _seconds(sum(row.milliseconds for row in result.rows)))
    ET.indent(suites)
    return f"{ET.tostring(suites, encoding='unicode', xml_declaration=True)}\n"


# Format -> what makes a text of a result.
_TEXTS: Mapping[str, Callable[[BatchResult], str]] = {
    "csv": batch_csv,
    "jsonl": batch_jsonl,
    "md": batch_markdown,
    "junit": batch_junit,
}


def _add(suite: ET.Element, row: BatchRow, why: str) -> None:
    path = PurePath(_writable(row.path))
    case = ET.SubElement(
        suite,
        "testcase",
        classname=str(path.parent),
        name=path.name,
        time=_seconds(row.milliseconds),
    )
    if row.status == "skipped":
        ET.SubElement(case, "skipped", message=_writable(row.failure.error if row.failure else ""))
    elif row.exit_code:
        kind = "failure" if is_of_gate(row.exit_code) else "error"
        error_class = row.failure.error_class if row.failure else row.status
        problem = ET.SubElement(case, kind, message=_writable(why), type=error_class)
        problem.text = f"exit code {row.exit_code}"


def _add_baseline(suite: ET.Element, result: BatchResult) -> None:
    case = ET.SubElement(suite, "testcase", classname=_TITLE, name="--baseline", time="0.000")
    for finding in find_failures(result):
        if finding.path is None:
            problem = ET.SubElement(
                case, "failure", message=_writable(finding.reason), type=finding.status
            )
            problem.text = f"exit code {finding.exit_code}"


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:.3f}"


def _writable(text: str) -> str:
    return _UNWRITABLE.sub("?", text)


class DetailFiles:
    """Files for the messages and the rounds of a batch, each None if not requested.

    A context manager; without ``publish`` nothing is written.
    """

    def __init__(self, messages: str | None, rounds: str | None) -> None:
        self._messages = messages and TableFile(
            _MESSAGE_COLUMNS, {_MESSAGES: _DETAILS_VERSION}, messages
        )
        self._rounds = rounds and TableFile(_ROUND_COLUMNS, {_ROUNDS: _DETAILS_VERSION}, rounds)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for file in self._files():
            file.close()

    def take(self, details: FileDetails) -> None:
        """Add the rows of one file. Raises DiskError."""
        if self._messages:
            self._messages.add(_message_row(details.path, row) for row in details.messages)
        if self._rounds:
            rounds = (round_row(session_round, None) for session_round in details.rounds)
            self._rounds.add({"path": details.path, **row} for row in rounds)

    def publish(self, result: BatchResult, *, force: bool) -> BatchResult:
        """Write the files and return the result that names them; errors as for ``write_table``."""
        for file in self._files():
            warnings = file.publish(force=force)
            table = WrittenFile(
                path=str(file.path), kind="table", rows=file.rows, warnings=warnings
            )
            result = replace(result, written=(*result.written, table))
        return result

    def _files(self) -> Iterator[TableFile]:
        yield from (file for file in (self._messages, self._rounds) if file)


def _message_row(path: str, row: MessageDetails) -> dict[str, object]:
    more = {
        "path": path,
        "line": row.line + 1,
        "conversation": row.conversation + 1,
        "visible": int(row.visible),
    }
    return {name: more[name] if name in more else getattr(row, name) for name in _MESSAGE_COLUMNS}


def annotate(result: BatchResult, runner: str) -> None:
    """Annotate the worst files in a CI runner's log, on standard error.

    ``runner`` is one of RUNNERS, "auto" to detect it, or "none". On GitHub, the page of totals is
    added to the summary of the step, unless that is full.
    """
    chosen = runner_of(os.environ) if runner == "auto" else runner
    if chosen not in RUNNERS:
        return
    for line in batch_annotations(result, chosen):
        sys.stderr.write(f"{line}\n")
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if chosen == "github" and summary:
        _append(Path(summary), batch_markdown(result).encode("utf-8", "backslashreplace"))


def _append(summary: Path, page: bytes) -> None:
    try:
        with summary.open("a+b") as stream:
            if stream.seek(0, os.SEEK_END) + len(page) < _MAX_SUMMARY_BYTES:
                append_lines(stream, page)
    except OSError as error:
        # What writes to an open file does not know its name.
        error.filename = str(summary)
        raise


def runner_of(variables: Mapping[str, str]) -> str:
    """Return the runner that sets these environment variables, "" if it is another one."""
    return next((name for name, variable in _VARIABLES.items() if variables.get(variable)), "")


def batch_annotations(result: BatchResult, runner: str) -> Iterator[str]:
    """Yield the lines that annotate the worst findings; nothing if the batch passes."""
    findings = find_failures(result)
    if findings:
        commands = {"github": _github, "azure": _azure, "gitlab": _gitlab}
        yield from commands[runner](findings[:_MAX_ANNOTATIONS], _more_text(findings))


def _github(findings: Sequence[BatchFinding], more: str) -> Iterator[str]:
    for finding in findings:
        file = "" if finding.path is None else f"file={_of_github(finding.path)},"
        yield f"::error {file}title={_TITLE}::{_escaped(line_text(finding.text), _GITHUB)}"
    if more:
        yield f"::notice title={_TITLE}::{more}"


def _of_github(path: str) -> str:
    return _escaped(line_text(path), _GITHUB_PROPERTY)


def _azure(findings: Sequence[BatchFinding], more: str) -> Iterator[str]:
    for finding in findings:
        path = "" if finding.path is None else _escaped(line_text(finding.path), _AZURE)
        source = f";sourcepath={path}" if path else ""
        text = _escaped(line_text(finding.text), _AZURE)
        yield f"##vso[task.logissue type=error{source}]{text}"
    if more:
        yield f"##vso[task.logissue type=warning]{more}"


def _gitlab(findings: Sequence[BatchFinding], more: str) -> Iterator[str]:
    now = int(time.time())
    count = plural(len(findings), "finding")
    yield f"\x1b[0Ksection_start:{now}:compactctl\r\x1b[0K{_TITLE}: {count}"
    yield from (line_text(finding.text) for finding in findings)
    if more:
        yield more
    yield f"\x1b[0Ksection_end:{now}:compactctl\r\x1b[0K"


def _escaped(text: str, table: Mapping[str, str]) -> str:
    return "".join(table.get(letter, letter) for letter in text)
