"""What CI runners take for a command in a log, one function per runner, each in its own way."""

import re
from collections.abc import Callable

_COLOUR = re.compile(r"\x1b\[[\d;]*[mK]")
_GROUP = re.compile(r"(---|\+\+\+|~~~)(\s|$)|\^\^\^\s\+\+\+")
_SECTION = re.compile(r"section_(start|end):\d+")

# Text that is a command, or becomes one beside other such text.
PIECES = (
    *("##[error]", "##[group]x", "##vso[task.complete result=Failed;]x", "##VSO[a.b]x"),
    *("##teamcity[buildStop comment='x']", "::error::x", "::stop-commands::x", "::add-mask::a"),
    *(
        "section_start:1:x\r\x1b[0K",
        "section_end:1:x\r\x1b[0K",
        "section_start:1:x[collapsed=true]",
    ),
    *("--- x", "+++ x", "~~~ x", "^^^ +++", "---", "\x1b[0m--- x", "-\x1b[1m-- x"),
    *("#", "##", "[", ":", "::", "-", "--", "+", " ", "\t", "\n", "\r", "\r\n", "\u00a0", "\u3000"),
    *(
        "\x1b[31m",
        "\x00",
        "\u200b",
        "\u202e",
        "é",
        "表",
        "─",
        "█",
        "▏",
        "·",
        "→",
        "a",
        "7",
        "]",
        "\\",
    ),
)


def commands_in(log: str) -> list[str]:
    """Return the lines of a log that a runner carries out or puts into its own structure."""
    lines = re.split(r"\r\n|\r|\n", log)
    return [f"{take.__name__}: {line}" for line in lines for take in _RUNNERS if take(line)]


def _github(line: str) -> bool:
    return line.lstrip().startswith("::") or "##[" in line


def _azure(line: str) -> bool:
    return "##vso[" in line.lower() or "##[" in line


def _teamcity(line: str) -> bool:
    return "##teamcity[" in line.lower()


def _gitlab(line: str) -> bool:
    return _SECTION.search(line) is not None


def _buildkite(line: str) -> bool:
    return _GROUP.match(_COLOUR.sub("", line)) is not None


_RUNNERS: tuple[Callable[[str], bool], ...] = (_github, _azure, _teamcity, _gitlab, _buildkite)
