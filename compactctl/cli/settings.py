"""Settings: values for the options of a command, from files and environment variables."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import click
from msgspec import Meta

from compactctl.asks import MAY, PathBase
from compactctl.cli.opt import Opt, ShareRange, StageOption, project_rule
from compactctl.cli.precedence import (
    ENVIRONMENT,
    TYPED,
    Setting,
    SettingSource,
    flag_of,
    options_of,
    variable_of,
)
from compactctl.cli.project_files import project_value, where_else
from compactctl.errors import UsageError, suggestion
from compactctl.model.bounds import Number
from compactctl.model.validation import WrongValueError, validated
from compactctl.store.settings import SettingsFile, find_settings, read_settings

NO_FILE = "none"
_MAX_VALUES = 10_000


def active_settings_files(config: str | None) -> tuple[SettingsFile, ...]:
    """Return the settings files: the named one, none, or those from this folder upwards.

    Raises UsageError if one cannot be read.
    """
    if config == NO_FILE:
        return ()
    if config is not None:
        return (read_settings(Path(config)),)
    try:
        here = Path.cwd()
    except FileNotFoundError:
        # The folder was removed, as worktrees are.
        here = Path(os.sep)
    return find_settings(here)


def settings_of_files(
    commands: Mapping[str, click.Command], name: str, files: tuple[SettingsFile, ...]
) -> tuple[Setting, ...]:
    """Return the settings in files for the options of the command ``name``.

    Options of other commands are ignored. Accessing a command in ``commands`` imports it, so as few
    as possible are accessed.

    Raises:
        UsageError: a value has the wrong type for its option, no command has the option, or a
            project must not set it.
    """
    options = _options_by_flag(commands[name])
    settings: list[Setting] = []
    for file in files:
        common = {
            key: value
            for key, value in file.table.items()
            if not (key in commands and isinstance(value, Mapping))
        }
        _check_options(file, "", _iter_pairs(common), chain([name], commands), commands)
        for command in commands:
            _check_options(
                file, f"[{command}] ", _iter_pairs(_table_of(file, command)), [command], commands
            )
        for table, pairs in (("", _iter_pairs(common)), (name, _iter_pairs(_table_of(file, name)))):
            source = SettingSource(
                place="project" if file.is_project_file else "user",
                file=str(file.path),
                table=table,
            )
            settings += (
                _setting_in_file(options[key], key, value, file, source)
                for key, value in pairs
                if key in options
                and (table or not _is_for_other_commands(commands, name, key, value))
            )
    return tuple(settings)


def _is_for_other_commands(
    commands: Mapping[str, click.Command], name: str, key: str, value: object
) -> bool:
    """Whether a top-level value fits only other commands' options of that name."""
    if _accepts(commands[name], key, value):
        return False
    return any(_accepts(commands[other], key, value) for other in commands if other != name)


def _accepts(command: click.Command, key: str, value: object) -> bool:
    """Whether a command has an option that accepts a value in a settings file."""
    option = _options_by_flag(command).get(key)
    if option is None:
        return False
    try:
        value = _validate("", option, _as_list(option, value))
        option.type_cast_value(click.Context(command), value)
    except (UsageError, click.BadParameter):
        return False
    return True


def _as_list(option: click.Option, value: object) -> object:
    """Return a single value as a list if the option is repeatable."""
    return [value] if option.multiple and not isinstance(value, list | Mapping) else value


def settings_of_environment(
    command: click.Command, variables: Mapping[str, str]
) -> tuple[Setting, ...]:
    """Return the settings in environment variables: ``COMPACTCTL_`` and the option's name.

    An empty variable is ignored. For a repeatable option, each line is a value.
    """
    return tuple(
        _setting_of(option, _parse_variable(option, text), ENVIRONMENT)
        for option in options_of(command)
        if (text := variables.get(variable_of(flag_of(option))))
    )


def settings_of_command_line(
    command: click.Command, typed: Mapping[str, object]
) -> tuple[Setting, ...]:
    """Return the typed options; ``typed`` are click's values by parameter."""
    return tuple(
        _setting_of(option, typed[option.name], TYPED)
        for option in options_of(command)
        if option.name in typed
        and (not _is_choice(option) or typed[option.name] == option.flag_value)
    )


def values_of(command: click.Command, settings: Iterable[Setting]) -> dict[str, object]:
    """Return the values of settings by the command's parameter that they set."""
    options = _options_by_flag(command)
    values: dict[str, object] = {}
    for setting in settings:
        option = options[setting.option]
        if not _is_choice(option):
            values[str(option.name)] = setting.value
        elif setting.value:
            values[str(option.name)] = option.flag_value
    return values


def _is_choice(option: click.Option) -> bool:
    """Whether an option is a flag for one of several values, such as ``--all`` of ``view``."""
    return bool(option.is_flag) and not option.is_bool_flag


def _setting_of(option: click.Option, value: object, source: SettingSource) -> Setting:
    is_of_stage = isinstance(option, StageOption)
    return Setting(option=flag_of(option), value=value, source=source, of_stage=is_of_stage)


def _parse_variable(option: click.Option, text: str) -> object:
    if option.is_flag:
        # Any other text is kept, so that it is rejected where the option is used.
        with suppress(click.BadParameter):
            return click.BOOL.convert(text, None, None)
    return text.splitlines() if option.multiple else text


def _check_options(
    file: SettingsFile,
    where: str,
    pairs: Iterator[tuple[str, object]],
    names: Iterable[str],
    commands: Mapping[str, click.Command],
) -> None:
    """Reject settings that are not options of any command in ``names``, tried in this order."""
    options: dict[str, click.Option] = {}
    remaining = iter(names)
    for key, value in pairs:
        while key not in options and (name := next(remaining, None)) is not None:
            options |= _options_by_flag(commands[name])
        if key not in options and key in commands:
            raise UsageError(f"{file.path}: {key} is a command; write its settings as [{key}]")
        if key not in options:
            hint = suggestion(key, sorted(options), "compactctl show settings --all lists them")
            raise UsageError(f"{file.path}: {where}{key} is not an option; {hint}")
        if file.is_project_file and (rule := project_rule(options[key])) is not MAY:
            raise UsageError(
                f"{file.path}: {where}{key} {rule}, which a project's file may not set; "
                f"{where_else(key)}"
            )
        if file.is_project_file:
            project_value(file, key, value)


def _resolve_path(file: SettingsFile, base: PathBase, value: object) -> object:
    """Return the path for a name in a setting, relative to the settings file or a home (``~``).

    Each name in a list is resolved. A value without such a file is returned as is, because some
    options also take text.
    """
    if isinstance(value, list):
        return [_resolve_path(file, base, name) for name in value]
    if not isinstance(value, str) or not value or "\0" in value:
        return value
    name = os.path.expanduser(value) if value.startswith("~") else value  # noqa: PTH111 - never raises
    if base == "here":
        return name
    path = os.path.join(file.path.parent, name)  # noqa: PTH118 - never raises
    return path if os.path.exists(path) else value  # noqa: PTH110 - never raises


def _options_by_flag(command: click.Command) -> dict[str, click.Option]:
    return {flag_of(option): option for option in options_of(command)}


def _table_of(file: SettingsFile, command: str) -> Mapping[str, object]:
    table = file.table.get(command, {})
    return table if isinstance(table, Mapping) else {}


def _iter_pairs(table: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield option names and values; those in a nested table get its name as a prefix."""
    for key, value in table.items():
        settings = {key: value}
        if isinstance(value, Mapping):
            settings = {f"{key}-{name}": inner for name, inner in value.items()}
        for name, setting in settings.items():
            yield name.replace("_", "-"), setting


def _setting_in_file(
    option: click.Option, key: str, value: object, file: SettingsFile, source: SettingSource
) -> Setting:
    if file.is_project_file:
        value = project_value(file, key, value)
    elif isinstance(option, Opt) and option.path is not None:
        value = _resolve_path(file, option.path, value)
    value = _as_list(option, value)
    if isinstance(value, Mapping) or (isinstance(value, list) and not option.multiple):
        raise UsageError(f"{file.path}: {key} takes one value, not a list or a table")
    value = _validate(f"{file.path}: {key}: ", option, value)
    return _setting_of(option, value, source)


def validator_of(option: click.Option) -> Callable[[object], object]:
    """Return what checks a file's value for an option; the option checks range and meaning.

    Options of stages accept the values that profiles may have.
    """
    if isinstance(option, StageOption):
        return partial(validated, kind=option.field.type)
    validator = _validator_of_one(option)
    return _list_of(validator) if option.multiple else validator


def _validator_of_one(option: click.Option) -> Callable[[object], object]:
    if option.is_flag:
        return partial(validated, kind=bool)
    match option.type:
        case ShareRange():
            return lambda value: value if isinstance(value, str) else validated(value, Number)
        case click.types.IntParamType():
            return partial(validated, kind=int)
        case click.types.FloatParamType():
            return partial(validated, kind=Number)
        case _:
            return _text


def _text(value: object) -> str:
    """Accept a string or a number; 60000 becomes ``"60000"``."""
    return str(value) if type(value) in (int, float) else validated(value, str)


def _list_of(validator: Callable[[object], object]) -> Callable[[object], tuple[object, ...]]:
    items = Annotated[list[Any], Meta(max_length=_MAX_VALUES)]
    return lambda values: tuple(map(validator, validated(values, items)))


def _validate(location: str, option: click.Option, value: object) -> object:
    """Return the validated value. Raises UsageError, which begins with ``location``."""
    try:
        return validator_of(option)(value)
    except WrongValueError as error:
        raise UsageError(f"{location}{value!r} {error.why}") from error
