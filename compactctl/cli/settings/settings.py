"""Settings: what environment variables and files say about a command's options."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import click

from compactctl.cli.settings.names import flag_of, options_of, variable_of
from compactctl.cli.settings.option_shapes import shape_of
from compactctl.cli.settings.project_options import elsewhere, why_not
from compactctl.cli.settings.project_values import project_value
from compactctl.errors import UsageError, suggestion
from compactctl.model.settings_table import read_value
from compactctl.store.settings import SettingsFile, find_settings, read_settings

NO_FILE = "none"
# Options that name files to read; in a settings file they are relative to it.
READ_PATHS = frozenset({
    "archive", "attach", "baseline", "files-from", "from-error", "plan", "prices", "profile",
    "summary-file", "system", "template", "tools", "windows",
})  # fmt: skip
# Options that name files to write, relative to where compactctl runs, or folders to look into.
OTHER_PATHS = frozenset({
    "archived-out", "html", "junit", "merge", "messages-out", "out", "output", "plan-out", "plot",
    "project", "report", "rounds-out", "spill-dir",
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A value that a file gives to one of a command's options."""

    parameter: str
    value: object
    file: Path


def with_environment(command: click.Command) -> click.Command:
    """Let every option of a command be given by ``COMPACTCTL_<OPTION>`` as well."""
    for option in options_of(command):
        option.envvar = variable_of(flag_of(option))
    return command


def files_in_effect(chosen: str | None) -> tuple[SettingsFile, ...]:
    """Return the settings files: the one named, none at all, or those found from here upwards.

    Raises UsageError for one that cannot be read.
    """
    if chosen == NO_FILE:
        return ()
    return (read_settings(Path(chosen)),) if chosen else find_settings(Path.cwd())


def settings_for(
    commands: Mapping[str, click.Command], name: str, files: tuple[SettingsFile, ...]
) -> dict[str, Setting]:
    """Return what the files say about the options of the command ``name``, by parameter.

    A file's table of the command's name counts more than its top level, an earlier file more than
    a later one. Options of other commands are passed over; ``commands`` may import a command only
    when it is asked for, and is not asked for more than needed.

    Raises:
        UsageError: a value is not what the option takes, no command has such an option, or a
            project may not set it.
    """
    options = _by_flag(commands[name])
    found: dict[str, Setting] = {}
    for file in reversed(files):
        common = {
            key: each
            for key, each in file.table.items()
            if not (key in commands and isinstance(each, Mapping))
        }
        _check(file, "", _pairs(common), chain([name], commands), commands)
        for each in commands:
            _check(file, f"[{each}] ", _pairs(_own(file, each)), [each], commands)
        for key, value in (*_pairs(common), *_pairs(_own(file, name))):
            if key in options:
                setting = _setting(options[key], key, value, file)
                found[setting.parameter] = setting
    return found


def _check(
    file: SettingsFile,
    where: str,
    pairs: Iterator[tuple[str, object]],
    names: Iterable[str],
    commands: Mapping[str, click.Command],
) -> None:
    """Refuse settings that are options of none of the commands ``names``, asked in this order."""
    known: dict[str, click.Option] = {}
    unasked = iter(names)
    for key, value in pairs:
        while key not in known and (name := next(unasked, None)) is not None:
            known |= _by_flag(commands[name])
        if key not in known and key in commands:
            raise UsageError(f"{file.path}: {key} is a command; write its settings as [{key}]")
        if key not in known:
            hint = suggestion(key, sorted(known), "compactctl config --all lists them")
            raise UsageError(f"{file.path}: {where}{key} is not an option; {hint}")
        if file.of_project and (reason := why_not(known[key])) is not None:
            raise UsageError(
                f"{file.path}: {where}{key} {reason}, which no project decides; {elsewhere(key)}"
            )
        if file.of_project:
            project_value(file, key, value)


def _path(file: SettingsFile, key: str, value: object) -> object:
    """Return the path that a setting means by a name: beside its file, or in a home (``~``).

    So each name of a list. What may be something else than a file stays as it is where none is.
    """
    if isinstance(value, list):
        return [_path(file, key, name) for name in value]
    if not isinstance(value, str) or not value or "\0" in value:
        return value
    name = os.path.expanduser(value) if value.startswith("~") else value  # noqa: PTH111 - never raises
    if key in OTHER_PATHS:
        return name
    path = os.path.join(file.path.parent, name)  # noqa: PTH118 - never raises
    return path if os.path.exists(path) else value  # noqa: PTH110 - never raises


def _by_flag(command: click.Command) -> dict[str, click.Option]:
    return {flag_of(option): option for option in options_of(command)}


def _own(file: SettingsFile, command: str) -> Mapping[str, object]:
    table = file.table.get(command, {})
    return table if isinstance(table, Mapping) else {}


def _pairs(table: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield option names and values; the name of a table, as of a stage, is their beginning."""
    for key, value in table.items():
        inner = value.items() if isinstance(value, Mapping) else ()
        found = ((f"{key}-{name}", each) for name, each in inner)
        for name, each in found if isinstance(value, Mapping) else ((key, value),):
            yield name.replace("_", "-"), each


def _setting(option: click.Option, key: str, value: object, file: SettingsFile) -> Setting:
    if file.of_project:
        value = project_value(file, key, value)
    elif key in READ_PATHS | OTHER_PATHS:
        value = _path(file, key, value)
    if option.multiple and not isinstance(value, list | Mapping):
        value = [value]
    if isinstance(value, Mapping) or (isinstance(value, list) and not option.multiple):
        raise UsageError(f"{file.path}: {key} takes one value, no list and no table")
    where = f"{file.path}: {key}: "
    value = read_value(where, shape_of(option), value)
    try:
        with click.Context(click.Command(key)) as context:
            option.type_cast_value(context, value)
    except click.BadParameter as error:
        raise UsageError(f"{where}{error.message}") from error
    return Setting(parameter=option.name or key, value=value, file=file.path)
