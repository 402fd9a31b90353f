"""Commands load with the oldest click that is allowed, whose types take no arguments."""

import subprocess
import sys

_LOAD = """
import click

class Plain(click.ParamType):
    __class_getitem__ = None

click.ParamType = Plain
from compactctl.cli.group import Commands

print(*(command.name for command in Commands().values()))
"""


def test_no_command_gives_arguments_to_types_of_parameters() -> None:
    command = [sys.executable, "-c", _LOAD]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.stderr == ""
    assert {"compact", "batch", "rewind"} <= set(done.stdout.split())
