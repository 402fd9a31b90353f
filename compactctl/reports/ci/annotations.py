"""A batch as commands of CI runners, which show the worst files beside the change.

Commands as their makers document them: GitHub's workflow commands, Azure's logging commands and
GitLab's sections. What stands in them from outside is escaped so that it cannot end them.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from compactctl.commands.batch.batch import BatchResult
from compactctl.commands.batch.row import BatchRow
from compactctl.reports.rendering.batch_rows import finding, worst
from compactctl.reports.rendering.text import line_text, plural

# Runner -> the variable that it sets for every job.
VARIABLES = {"github": "GITHUB_ACTIONS", "azure": "TF_BUILD", "gitlab": "GITLAB_CI"}
RUNNERS = tuple(VARIABLES)
_TITLE = "compactctl batch"
# Azure's, from its documentation of logging commands; GitHub's, from its toolkit.
_AZURE = {"%": "%AZP25", ";": "%3B", "\r": "%0D", "\n": "%0A", "]": "%5D"}
_GITHUB = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_GITHUB_PROPERTY = {**_GITHUB, ":": "%3A", ",": "%2C"}


def runner_of(variables: Mapping[str, str]) -> str:
    """Return the runner that these environment variables are of, "" for none that is known."""
    return next((name for name, variable in VARIABLES.items() if variables.get(variable)), "")


def batch_annotations(result: BatchResult, runner: str) -> Iterator[str]:
    """Yield the lines that tell a runner of the worst files; nothing when every file passes."""
    found = worst(result.rows)
    if found:
        yield from _RUNNERS[runner](found)


def _github(rows: Sequence[BatchRow]) -> Iterator[str]:
    for row in rows:
        path = _escaped(line_text(row.path), _GITHUB_PROPERTY)
        yield f"::error file={path},title={_TITLE}::{_escaped(_message(row), _GITHUB)}"


def _azure(rows: Sequence[BatchRow]) -> Iterator[str]:
    for row in rows:
        path = _escaped(line_text(row.path), _AZURE)
        message = _escaped(_message(row), _AZURE)
        yield f"##vso[task.logissue type=error;sourcepath={path}]{message}"


def _gitlab(rows: Sequence[BatchRow]) -> Iterator[str]:
    now = int(time.time())
    yield f"\x1b[0Ksection_start:{now}:compactctl\r\x1b[0K{_TITLE}: {plural(len(rows), 'file')}"
    yield from (_message(row) for row in rows)
    yield f"\x1b[0Ksection_end:{now}:compactctl\r\x1b[0K"


def _message(row: BatchRow) -> str:
    found = finding(row)
    return line_text(found if row.path in found else f"{row.path}: {found}")


def _escaped(text: str, table: Mapping[str, str]) -> str:
    return "".join(table.get(letter, letter) for letter in text)


_RUNNERS: Mapping[str, Callable[[Sequence[BatchRow]], Iterator[str]]] = {
    "github": _github,
    "azure": _azure,
    "gitlab": _gitlab,
}
