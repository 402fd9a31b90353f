"""``--set STAGE.OPTION=VALUE``, another way to write the option of a stage."""

from collections.abc import Iterable, Iterator, Sequence

import click

from compactctl.asks import MAY, POLICY
from compactctl.cli.opt import StageOption, opt
from compactctl.errors import UsageError, suggestion

_FLAG = "--set"
_END = "--"
_ON, _OFF = ("true", "on", "yes", "1"), ("false", "off", "no", "0")

# Stands for options of stages, which it sets.
SET = opt(
    "set",
    POLICY,
    MAY,
    "Set a stage option: --set prune.min-savings=0 (repeatable).",
    metavar="KEY=VALUE",
    multiple=True,
    expose_value=False,
)
"""Only for help: ``expand_set`` has replaced it before options are read."""


def expand_set(command: click.Command, arguments: Sequence[str]) -> list[str]:
    """Return a command's arguments with every ``--set`` as the option of the stage.

    ``--set prune.min-savings=0`` becomes ``--prune-min-savings=0``. Raises UsageError for an
    unknown option and for one without a value.
    """
    options = {f"{o.field.stage}.{_dashed(o.field.name)}": o for o in _stage_options(command)}
    return list(_expanded(iter(arguments), options)) if options else list(arguments)


def _expanded(words: Iterator[str], options: dict[str, StageOption]) -> Iterator[str]:
    for word in words:
        if word == _END:
            yield word
            yield from words
        elif word == _FLAG:
            yield _stage_flag(next(words, ""), options)
        elif word.startswith(f"{_FLAG}="):
            yield _stage_flag(word.partition("=")[2], options)
        else:
            yield word


def _stage_flag(setting: str, options: dict[str, StageOption]) -> str:
    key, equals, value = setting.partition("=")
    if not equals:
        raise UsageError(f"--set {setting}: write it as KEY=VALUE, e.g. prune.min-savings=0")
    option = options.get(_dashed(key))
    if option is None:
        raise UsageError(_unknown_key(_dashed(key), options))
    if not option.secondary_opts:
        return f"{option.opts[0]}={value}"
    if value.lower() not in (*_ON, *_OFF):
        raise UsageError(f"--set {setting}: the value is true or false")
    return (option.opts if value.lower() in _ON else option.secondary_opts)[0]


def _unknown_key(key: str, names: Iterable[str]) -> str:
    stage, _, option = key.partition(".")
    options: dict[str, list[str]] = {}
    for name in names:
        options.setdefault(name.partition(".")[0], []).append(name.partition(".")[2])
    if stage not in options:
        hint = suggestion(stage, options, "see compactctl show stages")
        return f"--set {key}: no stage named {stage!r} has options; {hint}"
    hint = suggestion(option, options[stage], f"see compactctl show stages {stage}")
    return f"--set {key}: {stage} has no option {option!r}; {hint}"


def _stage_options(command: click.Command) -> Iterator[StageOption]:
    return (option for option in command.params if isinstance(option, StageOption))


def _dashed(name: str) -> str:
    return name.replace("_", "-")
