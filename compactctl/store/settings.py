"""Find and parse settings files."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from compactctl.errors import UsageError
from compactctl.records import Record, replace

PROJECT_FILE = "compactctl.toml"
_SHARED_FILE, _SHARED_TABLE = "pyproject.toml", ("tool", "compactctl")
# Our table's name in the text of such a file, even if the file is not valid TOML.
_SHARED_NAME = re.compile(rb"""tool["'\s]*\.["'\s]*compactctl""")
_USER_FILE = Path("compactctl") / "config.toml"
# They mark a project's root, as for other tools that search upwards for their settings.
_ROOTS = (".git", ".hg")
# Far more than settings need: a parsed table takes many times its size.
_MAX_BYTES = 1 << 20


class SettingsFile(Record):
    """A settings file and its table of settings.

    ``is_project_file`` means that it is in the current folder or in one above it.
    """

    path: Path
    table: Mapping[str, object]
    is_project_file: bool = False


def find_settings(start: Path) -> tuple[SettingsFile, ...]:
    """Return the settings files in effect in a folder, in order of precedence.

    They are the nearest ``compactctl.toml`` or ``[tool.compactctl]`` of a ``pyproject.toml`` from
    ``start`` upwards to the root of the project, and the user's file.

    Raises:
        UsageError: a file cannot be read or is not TOML.
    """
    files = (next(_project_files(start), None), _user_file())
    return tuple(file for file in files if file is not None)


def read_settings(path: Path) -> SettingsFile:
    """Read one settings file. Raises UsageError if it cannot be read or is not TOML."""
    table = _parse(path, _read(path))
    if path.name == _SHARED_FILE:
        table = _pyproject_table(table) or {}
    return SettingsFile(path=path, table=table)


def _project_files(start: Path) -> Iterator[SettingsFile]:
    for folder in (start, *start.parents):
        if os.path.isfile(folder / PROJECT_FILE):  # noqa: PTH113 - never raises
            yield replace(read_settings(folder / PROJECT_FILE), is_project_file=True)
        table = _shared_table(folder / _SHARED_FILE)
        if table is not None:
            yield SettingsFile(path=folder / _SHARED_FILE, table=table, is_project_file=True)
        if any(os.path.exists(folder / name) for name in _ROOTS):  # noqa: PTH110 - never raises
            return


def _shared_table(path: Path) -> dict[str, object] | None:
    """Return our table in a ``pyproject.toml``; None if it has none.

    Most such files do not concern us. So a file that cannot be read, or is invalid as in the middle
    of a merge, is ignored, and raises UsageError only if it names our table.
    """
    if not os.path.isfile(path):  # noqa: PTH113 - never raises
        return None
    try:
        data = _read(path)
    except UsageError:
        return None
    try:
        return _pyproject_table(_parse(path, data)) if b"compactctl" in data else None
    except UsageError:
        if not _SHARED_NAME.search(data):
            return None
        raise


def user_settings() -> Path | None:
    """Return the path of the user's settings, which need not exist; None if there is no home.

    A relative folder is ignored: it would depend on where compactctl runs.
    """
    home = os.environ.get("XDG_CONFIG_HOME")
    folder = Path(home) if home else Path(os.path.expanduser("~/.config"))  # noqa: PTH111 - never raises
    return folder / _USER_FILE if folder.is_absolute() else None


def _user_file() -> SettingsFile | None:
    path = user_settings()
    return read_settings(path) if path is not None and os.path.isfile(path) else None  # noqa: PTH113


def _read(path: Path) -> bytes:
    """Read a file, but only one byte more than settings may have."""
    try:
        with path.open("rb") as stream:
            return stream.read(_MAX_BYTES + 1)
    except OSError as error:
        raise _unreadable(path, f"{error.strerror or error}; name a readable file") from error


def _parse(path: Path, data: bytes) -> dict[str, object]:
    import tomllib

    if len(data) > _MAX_BYTES:
        raise UsageError(f"{path}: has more than {_MAX_BYTES:,} bytes, too many for settings")
    try:
        # Some editors write a byte order mark.
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _unreadable(path, f"line {line} is not UTF-8; save the file as UTF-8") from error
    except RecursionError as error:
        raise _unreadable(path, "nested too deeply; simplify it") from error
    except ValueError as error:
        raise _unreadable(path, f'{error}; write TOML, e.g. model = "o3"') from error


def _unreadable(path: Path, why: str) -> UsageError:
    return UsageError(f"{path}: settings cannot be read: {why}")


def _pyproject_table(table: Mapping[str, object]) -> dict[str, object] | None:
    """Return ``[tool.compactctl]``; None if there is none."""
    value: object = table
    for name in _SHARED_TABLE:
        value = value.get(name) if isinstance(value, Mapping) else None
    return dict(value) if isinstance(value, Mapping) else None
