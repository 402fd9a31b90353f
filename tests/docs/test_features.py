"""The table of features is whole, names only what is there, and is true row by row."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from docs.feature_rows import PAGE, Row, missing_evidence, outcome, page, rows
from docs.generate import ROOT
from docs.weak_rows import unused_names, weaknesses

from compactctl.__main__ import run
from compactctl.cli.group import COMMANDS, Commands, cli, words_of
from compactctl.profiles.registry import PROFILES
from compactctl.stages.registry import ALL_STAGES

if TYPE_CHECKING:
    import click

ROWS = rows()
HERE = "\n".join(row.here for row in ROWS)
SYSTEMS = ("NL", "CB", "AC", "SP", "VS")
# Rows that are quick, with an option, a file in TOML, a variable and a policy.
QUICK = ("F063", "F080", "F217", "F249")
GROUPS = "|".join({words_of(name)[0] for name in COMMANDS if len(words_of(name)) > 1})
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
    assert [row.number for row in ROWS] == [f"F{number:03}" for number in range(1, 256)], (
        "tests/docs/features: the numbers of the rows go from F001 to F255, each once and in order"
    )


def test_every_row_says_what_whose_and_where() -> None:
    for row in ROWS:
        assert all((row.feature, row.whose, row.here)), (
            f"tests/docs/features, {row.number}: feature, whose and here must not be empty"
        )
        whose = row.whose.split(", ")
        in_order = [each for each in SYSTEMS if each in whose]
        assert whose in (in_order, ["ours"]), (
            f"tests/docs/features, {row.number}: whose is ours, or some of {', '.join(SYSTEMS)}"
        )


def test_every_row_is_omitted_with_a_reason_or_shown() -> None:
    for row in ROWS:
        is_shown = bool(row.run and (row.shows or row.json or row.same)) or bool(row.test)
        assert is_shown != row.is_omitted, (
            f"tests/docs/features, {row.number}: needs run with shows, json or same; or a test; or "
            'here = "omitted: " with the reason'
        )


def test_nothing_is_put_off_or_left_out_without_a_reason() -> None:
    for row in ROWS:
        where = f"tests/docs/features, {row.number}: "
        assert not re.search(r"\blater\b|\btodo\b|\bplanned\b", row.here, re.IGNORECASE), (
            f"{where}say what there is today, or why it is omitted"
        )
        assert row.here.count("omitted") == len(re.findall(r"\bomitted: \S", row.here)), (
            f"{where}give the reason after each 'omitted: '"
        )


@pytest.mark.parametrize("row", [row for row in ROWS if row.run], ids=lambda row: row.number)
def test_a_row_is_shown_by_its_commands(row: Row) -> None:
    result = outcome(tuple(row.run), tuple(row.same))
    assert missing_evidence(row, result) == (), (
        f"tests/docs/features, {row.number}: correct the row, or the program; its commands print\n"
        f"{result.text}"
    )


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=row.number, marks=() if row.number in QUICK else pytest.mark.long)
        for row in ROWS
        if row.run
    ],
)
def test_nothing_can_be_left_out_of_the_commands_of_a_row(row: Row) -> None:
    assert list(weaknesses(row)) == [], (
        f"tests/docs/features, {row.number}: leave out what makes no difference, or choose "
        "commands that need it"
    )


def test_a_row_is_weak_that_its_commands_show_in_any_case() -> None:
    row = Row(
        number="",
        feature="",
        whose="",
        here="`--trigger`, profile `codebuddy`, stage `prune`, JSON `level`, `compactctl stats`",
        run=("compactctl check tests/features/talk.jsonl --window 64k --strict",),
        shows=("compaction is not due", "of 64,000 tokens"),
    )
    assert list(weaknesses(row)) == [
        "is shown without --strict",
        "says `compaction is not due`, whatever is left out",
    ]
    assert list(unused_names(row)) == [
        "--trigger",
        "prune",
        "codebuddy",
        "level",
        "compactctl stats",
    ]


def test_every_name_in_a_row_is_used_by_its_commands() -> None:
    for row in ROWS:
        # What a test shows is in the test.
        assert row.test or row.is_omitted or list(unused_names(row)) == [], (
            f"tests/docs/features, {row.number}: show what it names, or leave out the name"
        )


def test_every_test_that_shows_a_row_is_there() -> None:
    for path, _, name in (row.test.partition("::") for row in ROWS if row.test):
        assert f"def {name}(" in (ROOT / path).read_text(), (
            f"tests/docs/features: {path} has no {name}; correct the test of its row"
        )


def test_every_option_is_there() -> None:
    known = set().union(*map(options, (cli, *Commands().values())))
    missing = set(re.findall(r"--[a-z][a-z-]*", HERE)) - known
    assert missing == set(), "tests/docs/features: rows name options that no command has"


def test_every_command_has_the_options_it_is_named_with() -> None:
    commands = Commands()
    for words, rest in re.findall(rf"`compactctl ((?:(?:{GROUPS}) )?[\w-]+)([^`]*)`", HERE):
        name = words.split()[-1]
        assert name in commands, f"tests/docs/features: compactctl has no command {name}"
        missing = set(re.findall(r"--[a-z][a-z-]*", rest)) - options(commands[name])
        assert missing == set(), f"tests/docs/features: compactctl {name} has none of these options"


def test_every_stage_and_profile_is_there() -> None:
    missing = named("stages?") - {stage.name for stage in ALL_STAGES}
    assert missing == set(), "tests/docs/features: rows name stages that do not exist"
    missing = named("profiles?") - set(PROFILES)
    assert missing == set(), "tests/docs/features: rows name profiles that do not exist"


def test_every_file_that_is_named_is_there() -> None:
    for path in re.findall(r"`(compactctl/[\w./-]+)`", HERE):
        assert (ROOT / path).is_file(), f"tests/docs/features: {path} has moved: correct the name"


def test_every_section_that_is_linked_is_there() -> None:
    for name, section in re.findall(r"\]\((\w[\w-]*\.md)#([\w-]+)\)", HERE):
        titles = re.findall(r"^#+ (.+)$", (ROOT / "docs" / name).read_text(), re.MULTILINE)
        assert section in {title.lower().replace(" ", "-") for title in titles}, (
            f"tests/docs/features: a row links to docs/{name}#{section}, which does not exist"
        )


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
        ["harness", "chunks", source],
        ["view", small, "--archived"],
        ["log", small],
        ["harness", "overflow", "prompt is too long: 201 tokens > 200 maximum"],
        ["show", "models", "gpt-4.1-2025-04-14"],
        ["harness", "file-budget", source],
        ["harness", "limit-output", source],
        ["lab", "simulate", source, "--profile", "spring-tokens"],
    )
    printed: set[str] = set()
    for line in lines:
        run([*map(str, line), "--json"])
        printed.update(fields_in(json.loads(capfd.readouterr().out)))
    missing = named("JSON") - printed
    assert missing == set(), "tests/docs/features: rows name JSON keys that no command prints"
