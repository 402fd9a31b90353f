"""The table of features is whole, names only what is there, and is true row by row."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from docs.feature_rows import PAGE, Row, outcome, page, rows, value_at
from docs.generate import ROOT

from compactctl.__main__ import run
from compactctl.cli.group import Commands, cli
from compactctl.profiles.registry import PROFILES
from compactctl.stages.registry import ALL_STAGES

if TYPE_CHECKING:
    import click

ROWS = rows()
HERE = "\n".join(row.here for row in ROWS)
SYSTEMS = ("NL", "CB", "AC", "SP", "VS")
NAMES = r"((?:`\w[\w-]*`(?:, | and )?)+)"


def named(what: str) -> set[str]:
    """Return the names in backticks that follow a word."""
    lists = re.findall(rf"\b{what} {NAMES}", HERE)
    return {name for each in lists for name in re.findall(r"`([\w-]+)`", each)}


def options(command: "click.Command") -> set[str]:
    return {flag for each in command.params for flag in (*each.opts, *each.secondary_opts)}


def test_the_page_is_made_of_the_rows() -> None:
    assert PAGE.read_text() == page(), "run: python tests/docs/generate.py features"


def test_every_number_has_one_row_in_order() -> None:
    assert [row.number for row in ROWS] == [f"F{number:03}" for number in range(1, 256)]


def test_every_row_says_what_whose_and_where() -> None:
    for row in ROWS:
        assert all((row.feature, row.whose, row.here)), row
        whose = row.whose.split(", ")
        in_order = [each for each in SYSTEMS if each in whose]
        assert whose in (in_order, ["ours"]), row


def test_every_row_is_left_out_with_a_reason_or_shown() -> None:
    for row in ROWS:
        is_shown = bool(row.run and (row.shows or row.json or row.same)) or bool(row.test)
        assert is_shown != row.is_left_out, row.number


def test_nothing_is_put_off_or_left_out_without_a_reason() -> None:
    for row in ROWS:
        assert not re.search(r"\blater\b|\btodo\b|\bplanned\b", row.here, re.IGNORECASE), row.number
        assert row.here.count("left out") == len(re.findall(r"\bleft out: \S", row.here)), (
            row.number
        )


@pytest.mark.parametrize("row", [row for row in ROWS if row.run], ids=lambda row: row.number)
def test_a_row_is_shown_by_its_commands(row: Row) -> None:
    found = outcome(tuple(row.run), tuple(row.same))
    assert found.code == row.code, found.text
    for text in row.shows:
        assert text in found.text, text
    document = json.loads(found.last) if row.json else {}
    values = {path: value_at(document, path) for path in row.json}
    assert values == row.json
    assert len(set(found.files)) <= 1


def test_every_test_that_shows_a_row_is_there() -> None:
    for path, _, name in (row.test.partition("::") for row in ROWS if row.test):
        assert f"def {name}(" in (ROOT / path).read_text()


def test_every_option_is_there() -> None:
    known = set().union(*map(options, (cli, *Commands().values())))
    assert set(re.findall(r"--[a-z][a-z-]*", HERE)) - known == set()


def test_every_command_has_the_options_it_is_named_with() -> None:
    commands = Commands()
    for name, rest in re.findall(r"`compactctl ([\w-]+)([^`]*)`", HERE):
        assert name in commands
        assert set(re.findall(r"--[a-z][a-z-]*", rest)) - options(commands[name]) == set(), name


def test_every_stage_and_profile_is_there() -> None:
    assert named("stages?") - {stage.name for stage in ALL_STAGES} == set()
    assert named("profiles?") - set(PROFILES) == set()


def test_every_file_that_is_named_is_there() -> None:
    for path in re.findall(r"`(compactctl/[\w./-]+)`", HERE):
        assert (ROOT / path).is_file(), path


def test_every_section_that_is_linked_is_there() -> None:
    for name, section in re.findall(r"\]\((\w[\w-]*\.md)#([\w-]+)\)", HERE):
        titles = re.findall(r"^#+ (.+)$", (ROOT / "docs" / name).read_text(), re.MULTILINE)
        assert section in {title.lower().replace(" ", "-") for title in titles}, (name, section)


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
