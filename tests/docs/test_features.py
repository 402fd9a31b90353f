"""The table of features is whole, and names only what is there."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from docs.generate import ROOT

from compactctl.__main__ import run
from compactctl.cli.group import Commands, cli
from compactctl.profiles.library import PROFILES
from compactctl.stages.registry import ALL_STAGES

if TYPE_CHECKING:
    import click

PAGE = (ROOT / "docs" / "features.md").read_text()
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in PAGE.splitlines()
    if re.match(r"\| F\d", line)
]
SYSTEMS = ("NL", "CB", "AC", "SP", "VS")
NAMES = r"((?:`\w[\w-]*`(?:, | and )?)+)"


def named(what: str) -> set[str]:
    """Return the names in backticks that follow a word."""
    lists = re.findall(rf"\b{what} {NAMES}", PAGE)
    return {name for each in lists for name in re.findall(r"`([\w-]+)`", each)}


def options(command: "click.Command") -> set[str]:
    return {flag for each in command.params for flag in (*each.opts, *each.secondary_opts)}


def test_every_number_has_one_row_in_order() -> None:
    assert [row[0] for row in ROWS] == [f"F{number:03}" for number in range(1, 256)]


def test_every_row_says_what_whose_and_where() -> None:
    for row in ROWS:
        assert len(row) == 4, row
        assert all(row), row
        whose = row[2].split(", ")
        in_order = [each for each in SYSTEMS if each in whose]
        assert whose in (in_order, ["ours"]), row


def test_nothing_is_put_off_or_left_out_without_a_reason() -> None:
    for number, _, _, here in ROWS:
        assert not re.search(r"\blater\b|\btodo\b|\bplanned\b", here, re.IGNORECASE), number
        assert here.count("left out") == len(re.findall(r"\bleft out: \S", here)), number


def test_every_option_is_there() -> None:
    known = set().union(*map(options, (cli, *Commands().values())))
    assert set(re.findall(r"--[a-z][a-z-]*", PAGE)) - known == set()


def test_every_command_has_the_options_it_is_named_with() -> None:
    commands = Commands()
    for name, rest in re.findall(r"`compactctl ([\w-]+)([^`]*)`", PAGE):
        assert name in commands
        assert set(re.findall(r"--[a-z][a-z-]*", rest)) - options(commands[name]) == set(), name


def test_every_stage_and_profile_is_there() -> None:
    assert named("stages?") - {stage.name for stage in ALL_STAGES} == set()
    assert named("profiles?") - set(PROFILES) == set()


def test_every_file_that_is_named_is_there() -> None:
    for path in re.findall(r"`(compactctl/[\w./-]+)`", PAGE):
        assert (ROOT / path).is_file(), path


def test_every_section_that_is_linked_is_there() -> None:
    for page, section in re.findall(r"\]\((\w[\w-]*\.md)#([\w-]+)\)", PAGE):
        titles = re.findall(r"^#+ (.+)$", (ROOT / "docs" / page).read_text(), re.MULTILINE)
        assert section in {title.lower().replace(" ", "-") for title in titles}, (page, section)


def fields_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        for each in value.values():
            yield from fields_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from fields_in(each)


def test_every_json_field_is_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = shutil.copy(ROOT / "sample_transcripts" / "openai-chat.jsonl", tmp_path)
    small = tmp_path / "small.jsonl"
    stages = "repair,dedup,prune,summarize,truncate"
    lines = (
        ["stats", source],
        ["check", source],
        ["compact", source, "--stages", stages, "--output", small],
        ["chunks", source],
        ["view", small, "--archived"],
        ["log", small],
        ["overflow", "prompt is too long: 201 tokens > 200 maximum"],
        ["models", "gpt-4.1-2025-04-14"],
        ["file-budget", source],
        ["limit-output", source],
        ["simulate", source, "--profile", "spring-tokens"],
    )
    printed: set[str] = set()
    for line in lines:
        run([*map(str, line), "--json"])
        printed.update(fields_in(json.loads(capfd.readouterr().out)))
    assert named("JSON") - printed == set()
