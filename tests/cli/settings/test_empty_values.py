"""An empty value names nothing: every option and argument refuses it, wherever it was set."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from cli.asking import DOCUMENTED, SERVERS, Ask, Outcome
from real.choice import chosen

from compactctl.cli.group import COMMANDS, Commands
from compactctl.cli.opt import StageOption
from compactctl.cli.precedence import flag_of, options_of

FILES = tuple(name for name in COMMANDS if name not in SERVERS)


def options_with_values(command: str) -> Iterator[click.Option]:
    """Yield the options of a command that take a value."""
    yield from (option for option in options_of(Commands()[command]) if not option.is_flag)


def writes_text(option: click.Option) -> bool:
    """Whether an option is a text of its stage, which may as well be none."""
    if not isinstance(option, StageOption):
        return option.opts == ["--marker"]
    return option.field.kind == "text" and option.field.default != ""


def is_refused(outcome: Outcome, name: str) -> bool:
    return outcome.code == 2 and outcome.out == "" and name in outcome.err


# A hook answers its client with 0, whatever is wrong.
@pytest.mark.parametrize("command", [name for name in FILES if name not in ("hook", "statusline")])
def test_no_option_takes_an_empty_value(ask: Ask, tmp_path: Path, command: str) -> None:
    options = [option for option in options_with_values(command) if not writes_text(option)]
    for flag in chosen(tuple(f"--{flag_of(option)}" for option in options), command, 12):
        outcome = ask(command, f"{flag}=")
        assert is_refused(outcome, flag), (flag, outcome)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", [name for name in FILES if name not in ("hook", "statusline")])
def test_no_argument_is_empty(ask: Ask, command: str) -> None:
    arguments = [each for each in Commands()[command].params if isinstance(each, click.Argument)]
    for count in range(len(arguments)):
        words = ["claude-code"] * count
        assert is_refused(ask(command, *words, ""), "")


def test_a_stage_may_write_no_text(ask: Ask, desk: Path) -> None:
    outcome = ask("compact", desk, "-n", "--stages", "prune", "--set", "prune.placeholder=")
    assert outcome.code == 0
    outcome = ask("compact", desk, "-n", "--stages", "prune", "--set", "prune.only-tools=")
    assert is_refused(outcome, "--prune-only-tools")


@pytest.mark.parametrize("text", ['pin = ""', 'pin = ["a", ""]', '[compact]\nfreeze-before = ""'])
def test_a_settings_file_sets_no_empty_value(
    ask: Ask, tmp_path: Path, desk: Path, text: str
) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text(f"{text}\n")
    outcome = ask("--config", settings, "compact", desk, "-n")
    assert outcome.code == 2
    assert f"{settings}: " in outcome.err
    assert "empty" in outcome.err


def test_an_empty_name_of_a_settings_file_is_refused(ask: Ask, desk: Path) -> None:
    assert is_refused(ask("--config", "", "stats", desk), "--config")


def test_a_line_of_a_variable_is_not_empty(
    ask: Ask, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPACTCTL_PIN", "one\n\ntwo")
    outcome = ask("compact", desk, "-n")
    assert is_refused(outcome, "COMPACTCTL_PIN")


def test_an_empty_variable_is_not_set(
    ask: Ask, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPACTCTL_PIN", "")
    assert ask("compact", desk, "-n").code == 0


@pytest.mark.parametrize("option", ["--group", "--to"])
def test_a_rewind_to_nothing_undoes_nothing(ask: Ask, compacted: Path, option: str) -> None:
    before = compacted.read_bytes()
    assert ask("rewind", compacted, f"{option}=").code == 2
    assert compacted.read_bytes() == before


@pytest.mark.parametrize(
    "name",
    sorted(
        {
            flag_of(option)
            for name in FILES
            for option in options_with_values(name)
            if not isinstance(option, StageOption)
        }
    ),
)
def test_bytes_that_are_not_text_are_no_internal_error(ask: Ask, desk: Path, name: str) -> None:
    command = next(
        command
        for command in ("rewind", "view", "compact", *FILES)
        if name in map(flag_of, options_with_values(command))
    )
    outcome = ask(command, desk, f"--{name}=\udcff")
    assert outcome.code in DOCUMENTED, outcome.err
