"""Whatever a settings file holds, it is read, or refused with a line that says what is wrong."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli.asking import SAMPLES, Ask
from unit.profiles.wrong_values import TOML_DATES, WRONG_VALUES, profiles_with

from compactctl.cli.group import COMMANDS, Commands
from compactctl.cli.precedence import flag_of, options_of
from compactctl.cli.settings import settings_of_files
from compactctl.errors import UsageError
from compactctl.store.settings import SettingsFile

VALUES = (*WRONG_VALUES, *TOML_DATES)


@pytest.mark.each_choice
@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_setting_with_a_wrong_value_is_refused_in_a_line(name: str, value: Any) -> None:
    commands = Commands()
    complaints = []
    for flag in [*map(flag_of, options_of(commands[name])), name]:
        for table in ({flag: value}, {name: {flag: value}}):
            file = SettingsFile(path=Path("mine.toml"), table=table)
            try:
                settings_of_files(commands, name, (file,))
            except UsageError as error:
                complaints.append(str(error))
    longer = [line for line in complaints if "\n" in line]
    assert longer == [], f"compactctl/cli/settings.py: refuse this value of {name} in one line"


@pytest.mark.long
@pytest.mark.parametrize("value", WRONG_VALUES, ids=repr)
def test_no_command_fails_over_a_profile_with_a_wrong_value(
    ask: Ask, tmp_path: Path, value: Any
) -> None:
    path = tmp_path / "mine.json"
    for name, table in profiles_with(value):
        path.write_text(json.dumps(table))
        for command in (("compact", "-n"), ("stats",)):
            done = ask(*command, SAMPLES / "neurolink.jsonl", "--profile", path)
            assert done.code in (0, 2), (name, done.err)
            assert done.code == 0 or done.err.count("\n") == 1, (name, done.err)
