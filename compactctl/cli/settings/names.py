"""What an option is called on the command line, in settings files and in the environment."""

from collections.abc import Iterator

import click

PREFIX = "COMPACTCTL_"


def options_of(command: click.Command) -> Iterator[click.Option]:
    """Yield a command's options that can be set."""
    for option in command.params:
        if isinstance(option, click.Option) and option.name != "help":
            yield option


def flag_of(option: click.Option) -> str:
    """Return an option's long name without its dashes."""
    return max(option.opts, key=len).lstrip("-")


def variable_of(flag: str) -> str:
    """Return the environment variable that gives the option of that name."""
    return PREFIX + flag.upper().replace("-", "_")
