"""``compactctl config``."""

from pathlib import Path

import click
from click.core import ParameterSource

from compactctl.cli.emit import emit
from compactctl.cli.group import Commands
from compactctl.cli.options.output import shown_as_options
from compactctl.cli.options.sections import StageOption
from compactctl.cli.settings.names import flag_of, options_of
from compactctl.cli.settings.project_options import why_not
from compactctl.cli.settings.settings import Setting, files_in_effect, settings_for
from compactctl.commands.reference.config import ConfigResult, ConfigRow
from compactctl.errors import UsageError

_HELP = """Show a command's settings, and where each comes from.

An option on the command line counts most, then the environment (COMPACTCTL_MODEL for --model),
then the nearest compactctl.toml or [tool.compactctl] in pyproject.toml, then the user's
compactctl/config.toml in the folder for settings ($XDG_CONFIG_HOME or ~/.config). A project's
file may set only what is marked for it. COMMAND is compact unless another one is named.
"""


@click.command("config", help=_HELP)
@click.argument("name", metavar="[COMMAND]", default="compact")
@click.option("--all", "everything", is_flag=True, help="Also list options left at their default.")
@shown_as_options
@click.pass_context
def command(context: click.Context, name: str, *, everything: bool, shown_as: str) -> None:
    """Run ``compactctl config``."""
    emit(_result(context, name, everything=everything), shown_as)


def _result(context: click.Context, name: str, *, everything: bool) -> ConfigResult:
    commands = Commands()
    if name not in commands:
        raise UsageError(f"there is no command {name!r}; there are {', '.join(commands)}")
    command = commands[name]
    files = files_in_effect(context.find_root().params.get("config"))
    given = settings_for(commands, name, files)
    values = {parameter: setting.value for parameter, setting in given.items()}
    inner = click.Context(command, info_name=name, default_map=values)
    rows = [
        row
        for option in options_of(command)
        if (row := _row(inner, option, given)).origin != "default" or everything
    ]
    return ConfigResult(
        command=name, files=tuple(str(_short(f.path)) for f in files), rows=tuple(rows)
    )


def _row(context: click.Context, option: click.Option, given: dict[str, Setting]) -> ConfigRow:
    value, source = option.consume_value(context, {})
    setting = given.get(option.name or "")
    origin = "default"
    if source is ParameterSource.ENVIRONMENT:
        origin = f"environment: {option.envvar}"
    elif source is ParameterSource.DEFAULT_MAP and setting is not None:
        origin = str(_short(setting.file))
    if origin == "default":
        value = _default(context, option)
    return ConfigRow(
        option=f"--{flag_of(option)}",
        value=_plain(value),
        origin=origin,
        project=why_not(option) is None,
    )


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
