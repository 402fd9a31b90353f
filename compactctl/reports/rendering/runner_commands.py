"""Commands of CI runners in text: a backslash in each, so that it is shown and not carried out.

A log is read line by line, and what looks like a command is one, whoever wrote it. Environment
variables do not tell who reads: a log is also fetched and shown by other programs. Only where
an agent reads what is printed, and needs it as it is, do they decide.
"""

import re
from collections.abc import Mapping

BACKSLASH = "\\"
# Set for every job by GitHub Actions, Azure Pipelines, GitLab, TeamCity and Buildkite; most set CI.
_VARIABLES = ("CI", "GITHUB_ACTIONS", "TF_BUILD", "GITLAB_CI", "TEAMCITY_VERSION", "BUILDKITE")

_COLOUR = r"(?:\x1b\[[\d;]*[mK])*"


def _coloured(word: str) -> str:
    """Return a pattern for a word with colours around its letters; Buildkite takes them out."""
    return "".join(f"{_COLOUR}{re.escape(letter)}" for letter in word)


_HEADERS = "|".join(map(_coloured, ("---", "+++", "~~~")))
_OPENED = rf"{_coloured('^^^')}{_COLOUR}\s{_coloured('+++')}"
# The mark goes behind what is found.
_PATTERNS = (
    # GitHub Actions ##[error], Azure Pipelines ##vso[task.complete], anywhere in a line; TeamCity
    # ##teamcity[message] at its start.
    re.compile(r"#(?=#(?i:vso|teamcity)?\[)"),
    # GitLab, anywhere in a line.
    re.compile(r"section_(?:start|end)(?=:\d)"),
    # GitHub Actions ::error::, behind any white space.
    re.compile(r"(?m)^[^\S\n]*(?=::)"),
    # Buildkite's groups: --- title, and ^^^ +++, which opens the one before.
    re.compile(rf"(?m)^(?=(?:{_HEADERS}){_COLOUR}(?:\s|$)|{_OPENED})"),
)


def is_on_runner(variables: Mapping[str, str]) -> bool:
    """Tell whether these environment variables are those of a job on a CI runner."""
    return any(variables.get(name) for name in _VARIABLES)


def inert(text: str, mark: str = BACKSLASH) -> str:
    """Return text in which no CI runner finds a command; ``mark`` parts what would be one.

    Carriage returns end lines, too, as they do for the runners.
    """
    if "\r" in text:
        return "\r".join(inert(line, mark) for line in text.split("\r"))
    for pattern in _PATTERNS:
        text = pattern.sub(lambda found: f"{found[0]}{mark}", text)
    return text
