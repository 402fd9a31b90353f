"""Commands that list models, stages, profiles and settings."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from compactctl.asks import MAY, ONE_RUN, SHOWN, STATE
from compactctl.cli.command import emit, plain_command
from compactctl.cli.group import Commands
from compactctl.cli.help import Help
from compactctl.cli.opt import Arg, StageOption, flag, project_rule
from compactctl.cli.options.completion import complete_profile, complete_stages
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.precedence import Decision, Setting, decide, flag_of, options_of, variable_of
from compactctl.cli.settings import (
    active_settings_files,
    settings_of_environment,
    settings_of_files,
)
from compactctl.errors import UsageError, suggestion
from compactctl.views.registry import TERMINAL

if TYPE_CHECKING:
    from compactctl.commands.reference import ConfigResult, ConfigRow, StageInfo
    from compactctl.profiles.profile import Profile


_SETTINGS_HELP = Help(
    """Show a command's settings, and where each comes from.

COMMAND is compact by default. An option is taken from the first of: the command line, the
environment (COMPACTCTL_MODEL for --model), the nearest compactctl.toml or [tool.compactctl] in
pyproject.toml, and compactctl/config.toml in $XDG_CONFIG_HOME or ~/.config. In a file, the table of
a command overrides the top level. If options exclude each other, the one that comes first wins; two
in one place are an error. In the environment, a repeatable option takes one value per line. A
project's file may only set the options marked here.
""",
    examples=(
        "compactctl show settings",
        "compactctl show settings batch --all",
    ),
)


@plain_command(
    Arg("name", metavar="[COMMAND]", default="compact"),
    # The command itself decides which rows there are; no record has options of it.
    flag("everything", STATE, ONE_RUN, "Also list options at their default.", flag="--all"),
    SHOWN_AS,
    help=_SETTINGS_HELP,
)
def settings_command(name: str, *, everything: bool, shown_as: str) -> None:
    """Run ``compactctl show settings``."""
    emit(_result(name, everything=everything), shown_as)


def _result(name: str, *, everything: bool) -> "ConfigResult":
    from compactctl.commands.reference import ConfigResult

    commands = Commands()
    if name not in commands:
        raise UsageError(
            f"no command named {name!r}; {suggestion(name, commands, 'see compactctl --help')}"
        )
    command = commands[name]
    files = active_settings_files(click.get_current_context().find_root().params.get("config"))
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


def _row(context: click.Context, option: click.Option, decision: Decision) -> "ConfigRow":
    from compactctl.commands.reference import ConfigRow

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
    """Return the source of a setting."""
    if setting.source.place == "environment":
        return f"environment: {variable_of(setting.option)}"
    return str(_short(Path(setting.source.file)))


def _default(context: click.Context, option: click.Option) -> object:
    if isinstance(option, StageOption):
        return option.field.default
    return option.get_default(context)


def _plain(value: object) -> object:
    """Return a value for JSON, with secrets masked; click's marker for a missing one is None."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        from compactctl.secrets.mask import mask_secrets

        return mask_secrets(value)
    return value if isinstance(value, int | float | bool) else None


def _short(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


_PROFILES_HELP = Help(
    """List the profiles of known systems, or explain one.

A profile defines the stages a system runs, their options, when they run, and to which size.
""",
    examples=(
        "compactctl show profiles",
        "compactctl show profiles neurolink --toml > mine.toml",
    ),
)


@plain_command(
    Arg("name", metavar="[NAME|FILE]", required=False, shell_complete=complete_profile),
    # Says how the result is printed, not what is in it.
    flag("toml", SHOWN, ONE_RUN, "Print the profile as TOML, to edit as your own."),
    SHOWN_AS,
    help=_PROFILES_HELP,
)
def profiles_command(name: str | None, *, toml: bool, shown_as: str) -> None:
    """Run ``compactctl show profiles``."""
    from compactctl.commands.reference import profiles

    if toml and name is None:
        raise UsageError(
            "--toml prints one profile; name it, e.g. compactctl show profiles neurolink"
        )
    result = profiles(name)
    if toml:
        _print_file(result.profiles[0])
    else:
        emit(result, shown_as)


def _print_file(profile: "Profile") -> None:
    from compactctl.views.terminal.screen import Verbatim, print_screen
    from compactctl.views.terminal.text import safe_text

    print_screen([Verbatim(safe_text(profile.origin.file_text).removesuffix("\n"))])


_STAGES_HELP = Help(
    """List the stages of a compaction, or explain some of them.

Set their options in compact, batch and chunks with --set STAGE.OPTION=VALUE, or in settings and
profiles.
""",
    examples=(
        "compactctl show stages",
        "compactctl show stages prune dedup",
    ),
)


@plain_command(
    Arg("names", metavar="[STAGE]...", nargs=-1, shell_complete=complete_stages),
    SHOWN_AS,
    help=_STAGES_HELP,
)
def stages_command(names: tuple[str, ...], *, shown_as: str) -> None:
    """Run ``compactctl show stages``."""
    from compactctl.commands.reference import stages

    result = stages(names)
    if names and shown_as == TERMINAL:
        click.echo("\n".join(map(_explained, result.stages)), nl=False)
    else:
        emit(result, shown_as)


def _explained(stage: "StageInfo") -> str:
    formatter = click.get_current_context().make_formatter()
    formatter.write_text(f"{stage.name}: {stage.title}")
    with formatter.section("Options"):
        formatter.write_dl(list(_records(stage.name)))
    return formatter.getvalue()


def _records(stage: str) -> Iterator[tuple[str, str]]:
    from compactctl.cli.options.planning import stage_opts
    from compactctl.stages.registry import stage_named

    options = stage_opts(stage_named(stage))
    with click.Context(click.Command(None, params=[*options])) as context:
        for option in options:
            yield option.get_help_record(context) or ("", "")


_CACHE_HELP = Help(
    """Show the cache of batches and session lists.

Batches keep the figures of a file until it changes: paths, names of models and tools, no text.
Session lists keep titles, which may be the first words of a prompt. Only you can read the cache.
compactctl batch --clear-cache deletes it.
""",
    examples=("compactctl show cache",),
)


@plain_command(SHOWN_AS, help=_CACHE_HELP)
def cache_command(*, shown_as: str) -> None:
    """Run ``compactctl show cache``."""
    from compactctl.commands.cache import cache

    emit(cache(), shown_as)
