"""``compactctl config``."""

import os
from pathlib import Path

import click

from compactctl.cli.command import emit, plain_command
from compactctl.cli.group import Commands
from compactctl.cli.opt import MAY, ONE_RUN, STATE, Arg, StageOption, flag, project_rule
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.settings.names import flag_of, options_of, variable_of
from compactctl.cli.settings.nearer import Decision, Setting, decide
from compactctl.cli.settings.settings import (
    files_in_effect,
    settings_of_environment,
    settings_of_files,
)
from compactctl.commands.reference import ConfigResult, ConfigRow
from compactctl.errors import UsageError

_HELP = """Show a command's settings, and where each comes from.

An option on the command line counts most, then the environment (COMPACTCTL_MODEL for --model),
then the nearest compactctl.toml or [tool.compactctl] in pyproject.toml, then the user's
compactctl/config.toml in the folder for settings ($XDG_CONFIG_HOME or ~/.config). In a file, the
table of a command counts more than the top level. Of options that exclude one another, the one
that stands nearer counts; two from one place contradict each other. In the environment, an option
that may be repeated takes one value a line. A project's file may set only what is marked for it.
COMMAND is compact unless another one is named.
"""


@plain_command(
    Arg("name", metavar="[COMMAND]", default="compact"),
    flag("everything", STATE, ONE_RUN, "Also list options left at their default.", flag="--all"),
    SHOWN_AS,
    help=_HELP,
)
def config_command(name: str, *, everything: bool, shown_as: str) -> None:
    """Run ``compactctl config``."""
    emit(_result(name, everything=everything), shown_as)


def _result(name: str, *, everything: bool) -> ConfigResult:
    commands = Commands()
    if name not in commands:
        raise UsageError(f"there is no command {name!r}; there are {', '.join(commands)}")
    command = commands[name]
    files = files_in_effect(click.get_current_context().find_root().params.get("config"))
    of_files = settings_of_files(commands, name, files)
    decision = decide(name, (*settings_of_environment(command, os.environ), *of_files))
    inner = click.Context(command, info_name=name)
    rows = [
        row
        for option in options_of(command)
        if (row := _row(inner, option, decision)).origin != "default" or everything
    ]
    return ConfigResult(
        command=name, files=tuple(str(_short(f.path)) for f in files), rows=tuple(rows)
    )


def _row(context: click.Context, option: click.Option, decision: Decision) -> ConfigRow:
    flag = flag_of(option)
    setting, overruled = decision.in_effect.get(flag), decision.overruled.get(flag)
    value, origin = _default(context, option), "default"
    if setting is not None:
        value, origin = setting.value, _origin(setting)
    elif overruled is not None:
        why = f"overruled by --{overruled.by}" if overruled.by else "without an effect"
        origin = f"default; {_origin(overruled.setting)} is {why}"
    return ConfigRow(
        option=f"--{flag}", value=_plain(value), origin=origin, project=project_rule(option) is MAY
    )


def _origin(setting: Setting) -> str:
    """Return where a setting stands."""
    if setting.source.place == "environment":
        return f"environment: {variable_of(setting.option)}"
    return str(_short(Path(setting.source.file)))


def _default(context: click.Context, option: click.Option) -> object:
    if isinstance(option, StageOption):
        return option.field.default
    return option.get_default(context)


def _plain(value: object) -> object:
    """Return a value as JSON has it, secrets masked; what click marks as not given is None."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, str):
        from compactctl.summaries.by_model.secrets import masked

        return masked(value)
    return value if isinstance(value, int | float | bool) else None


def _short(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
