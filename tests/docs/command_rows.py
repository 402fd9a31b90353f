"""The index of commands: the module and the help line of each, written down from its own help."""

import json
import pkgutil
from collections.abc import Iterator
from importlib import import_module

from compactctl import cli
from compactctl.cli.help import HelpfulCommand

_HEAD = '''"""The module and the help line of each command, for pages that import none of them.

Written by ``python tests/docs/generate.py command_index``.
"""

from collections.abc import Mapping

COMMAND_INDEX: Mapping[str, tuple[str, str]] = {
'''
_SUFFIX = "_command"


def page() -> str:
    """Return the module that holds the index."""
    return f"{_HEAD}{''.join(sorted(_rows()))}}}\n"


def _rows() -> Iterator[str]:
    for module in pkgutil.iter_modules(cli.__path__):
        for name, value in vars(import_module(f"{cli.__name__}.{module.name}")).items():
            if name.endswith(_SUFFIX) and isinstance(value, HelpfulCommand):
                command = name.removesuffix(_SUFFIX).replace("_", "-")
                words = (command, module.name, (value.help or "").partition("\n")[0])
                quoted = (json.dumps(word, ensure_ascii=False) for word in words)
                yield "    {}: ({}, {}),\n".format(*quoted)
