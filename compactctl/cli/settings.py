"""Settings: what environment variables and files say about a command's options."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import click

from compactctl.errors import UsageError, suggestion
from compactctl.model.summary import OUTSIDE
from compactctl.store.settings import SettingsFile, find_settings, read_settings

PREFIX = "COMPACTCTL_"
NO_FILE = "none"
# Options that name files; in a settings file they are relative to it.
_PATHS = frozenset({"profile", "windows", "summary-file", "template", "system", "tools"})

# Options that run a program or let the conversation leave this machine. A folder that one happens
# to work in must not decide that; the user's own settings and the command line may.
_NOT_FOR_PROJECTS = frozenset(
    {"summarizer", "summarizer-cmd", "base-url", "api-key-env", "allow-network", "mask-secrets"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A value that a file gives to one of a command's options."""

    parameter: str
    value: object
    file: Path


def with_environment(command: click.Command) -> click.Command:
    """Let every option of a command be given by ``COMPACTCTL_<OPTION>`` as well."""
    for option in options_of(command):
        option.envvar = PREFIX + flag_of(option).upper().replace("-", "_")
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
        UsageError: a value is not what the option takes, or no command has such an option.
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
    known: set[str] = set()
    unasked = iter(names)
    for key, value in pairs:
        while key not in known and (name := next(unasked, None)) is not None:
            known |= _by_flag(commands[name]).keys()
        if key not in known and key in commands:
            raise UsageError(f"{file.path}: {key} is a command; write its settings as [{key}]")
        if key not in known:
            hint = suggestion(key, sorted(known), "compactctl config --all lists them")
            raise UsageError(f"{file.path}: {where}{key} is no option; {hint}")
        if file.of_project and key in _NOT_FOR_PROJECTS:
            raise UsageError(
                f"{file.path}: {where}{key} may run programs or send the conversation away, which "
                "no project decides; set it on the command line or in your own settings"
            )
        if file.of_project and key == "profile":
            _check_profile(file, str(value))


def _check_profile(file: SettingsFile, value: str) -> None:
    """Refuse a profile that has something else than the built-in summarizer write."""
    from compactctl.profiles.library import load_profile

    if load_profile(_beside(file, value)).summarizer in OUTSIDE:
        raise UsageError(
            f"{file.path}: the profile {value} names a summarizer, which may run programs or send "
            "the conversation away; no project decides that: name the profile with --profile"
        )


def _beside(file: SettingsFile, name: str) -> str:
    """Return the path of a file that stands beside a settings file, else the name as it is."""
    path = file.path.parent / name
    return str(path) if path.is_file() else name


def flag_of(option: click.Option) -> str:
    """Return an option's long name without its dashes."""
    return max(option.opts, key=len).lstrip("-")


def options_of(command: click.Command) -> Iterator[click.Option]:
    """Yield a command's options that can be set."""
    for option in command.params:
        if isinstance(option, click.Option) and option.name != "help":
            yield option


def _by_flag(command: click.Command) -> dict[str, click.Option]:
    return {flag_of(option): option for option in options_of(command)}


def _own(file: SettingsFile, command: str) -> Mapping[str, object]:
    table = file.table.get(command, {})
    return table if isinstance(table, Mapping) else {}


def _pairs(table: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield option names and values; the name of a table, as of a stage, is their beginning."""
    for key, value in table.items():
        name = key.replace("_", "-")
        if isinstance(value, Mapping):
            yield from ((f"{name}-{inner}", each) for inner, each in _pairs(value))
        else:
            yield name, value


def _setting(option: click.Option, key: str, value: object, file: SettingsFile) -> Setting:
    if key in _PATHS and isinstance(value, str):
        value = _beside(file, value)
    if option.multiple and isinstance(value, str):
        value = [value]
    try:
        with click.Context(click.Command(key)) as context:
            option.type_cast_value(context, value)
    except (click.BadParameter, TypeError) as error:
        why = error.message if isinstance(error, click.BadParameter) else error
        raise UsageError(f"{file.path}: {key}: {why}") from error
    return Setting(parameter=option.name or key, value=value, file=file.path)
