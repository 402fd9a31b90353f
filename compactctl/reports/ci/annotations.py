"""A batch as commands of CI runners, which show the worst files beside the change.

Commands as their makers document them: GitHub's workflow commands, Azure's logging commands and
GitLab's sections. What stands in them from outside is escaped so that it cannot end them.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from compactctl.commands.batch.batch import BatchResult
from compactctl.commands.batch.row import BatchRow, Flag
from compactctl.reports.rendering.batch_rows import finding, worst
from compactctl.reports.rendering.text import line_text, plural

# Runner -> the variable that it sets for every job.
VARIABLES = {"github": "GITHUB_ACTIONS", "azure": "TF_BUILD", "gitlab": "GITLAB_CI"}
RUNNERS = tuple(VARIABLES)
_TITLE = "compactctl batch"
# A file and what it fails for, each on one line.
_Finding = tuple[str, str]
# Azure's, from its documentation of logging commands; GitHub's, from its toolkit.
_AZURE = {"%": "%AZP25", ";": "%3B", "\r": "%0D", "\n": "%0A", "]": "%5D"}
_GITHUB = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_GITHUB_PROPERTY = {**_GITHUB, ":": "%3A", ",": "%2C"}


def runner_of(variables: Mapping[str, str]) -> str:
    """Return the runner that these environment variables are of, "" for none that is known."""
    return next((name for name, variable in VARIABLES.items() if variables.get(variable)), "")


def batch_annotations(result: BatchResult, runner: str) -> Iterator[str]:
    """Yield the lines that tell a runner of the worst files; nothing when every file passes."""
    findings = [
        (line_text(row.path), _finding_text(row, result.fail_on)) for row in worst(result.rows)
    ]
    if findings:
        yield from _RUNNERS[runner](findings)


def _github(findings: Sequence[_Finding]) -> Iterator[str]:
    for path, message in findings:
        file = _escaped(path, _GITHUB_PROPERTY)
        yield f"::error file={file},title={_TITLE}::{_escaped(message, _GITHUB)}"


def _azure(findings: Sequence[_Finding]) -> Iterator[str]:
    for path, message in findings:
        source = _escaped(path, _AZURE)
        yield f"##vso[task.logissue type=error;sourcepath={source}]{_escaped(message, _AZURE)}"


def _gitlab(findings: Sequence[_Finding]) -> Iterator[str]:
    now = int(time.time())
    files = plural(len(findings), "file")
    yield f"\x1b[0Ksection_start:{now}:compactctl\r\x1b[0K{_TITLE}: {files}"
    yield from (message for _, message in findings)
    yield f"\x1b[0Ksection_end:{now}:compactctl\r\x1b[0K"


def _finding_text(row: BatchRow, fail_on: Sequence[Flag]) -> str:
    found = finding(row, fail_on)
    return line_text(found if row.path in found else f"{row.path}: {found}")


def _escaped(text: str, table: Mapping[str, str]) -> str:
    return "".join(table.get(letter, letter) for letter in text)


_RUNNERS: Mapping[str, Callable[[Sequence[_Finding]], Iterator[str]]] = {
    "github": _github,
    "azure": _azure,
    "gitlab": _gitlab,
}
