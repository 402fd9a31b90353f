"""What ``config`` shows: options, their values and where these come from."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigRow:
    """An option, its value (None when it has none) and its origin in words.

    ``project`` tells whether a project's settings file may set it.
    """

    option: str
    value: object
    origin: str
    project: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigResult:
    """The settings of one command and the files that were read, those that count more first."""

    command: str
    files: tuple[str, ...]
    rows: tuple[ConfigRow, ...]
