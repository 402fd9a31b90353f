"""The command with which a client, or its agent, runs compactctl."""

import shlex
import shutil
import sys

_NAME = "compactctl"


def program() -> str:
    """Return the command as a shell takes it: the name where it is found by that."""
    is_found = shutil.which(_NAME) is not None
    return _NAME if is_found else f"{shlex.quote(sys.executable)} -m {_NAME}"
