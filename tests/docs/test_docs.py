"""The documentation is complete, and what it shows is what the program does."""

import json
import re
from collections.abc import Collection, Iterable
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from cli.calls import CALLS, furnish
from docs.command_rows import page as index_page
from docs.generate import (
    INDEX,
    PAGES,
    ROOT,
    commands,
    generated,
    is_plain,
    parts,
    split_at_headings,
    stable,
)

from compactctl import __main__ as program
from compactctl import errors
from compactctl.__main__ import run
from compactctl.cli.command_index import COMMAND_INDEX
from compactctl.cli.group import COMMANDS, Commands, words_of
from compactctl.cli.precedence import flag_of, options_of
from compactctl.clients.registry import ALL_FORMATS
from compactctl.commands.batch.attempts import TOOK_TOO_LONG
from compactctl.history.categories import CATEGORIES
from compactctl.stages.registry import ALL_STAGES
from compactctl.stages.support.stage import options_of as options_of_stage
from compactctl.store.archive.parquet import COLUMNS
from compactctl.store.files.filesystem import DiskError
from compactctl.tokens.counters.claude import claude_is_installed
from compactctl.tokens.counters.selection import COUNTER_NAMES

DOCS = ROOT / "docs"


def marks(part: str) -> Collection[pytest.MarkDecorator]:
    """A shell takes its time: when a change is tested, it is started for the README alone."""
    is_usual = part.startswith("# compactctl") or all(map(is_plain, commands(part)))
    return () if is_usual else (pytest.mark.long,)


SHOWN = [
    pytest.param(
        path, part, id=f"{path.name} {part.splitlines()[0].lstrip('# ')}", marks=marks(part)
    )
    for path in PAGES
    for part in parts(path)
    if any(commands(part))
]


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text()


def sections(text: str) -> dict[str, str]:
    pieces = (piece.partition("\n") for piece in split_at_headings(text)[1:])
    return {heading.removeprefix("## "): body for heading, _, body in pieces}


def in_backticks(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


@pytest.mark.skipif(claude_is_installed(), reason="ctok counts Claude in its own way")
@pytest.mark.parametrize(("path", "shown"), SHOWN)
def test_what_is_shown_is_what_is_printed(path: Path, shown: str) -> None:
    assert stable(generated(shown)) == stable(shown), (
        f"{path.name} shows something else than its commands print; "
        f"if that is meant: python tests/docs/generate.py {path.stem}"
    )


def test_the_index_of_commands_says_what_each_says_itself() -> None:
    assert INDEX.read_text() == index_page(), f"run: python tests/docs/generate.py {INDEX.stem}"
    assert sorted(COMMANDS) == sorted(COMMAND_INDEX), (
        "compactctl/cli/group.py: name each command in a section of the first page or in a group"
    )


def test_every_command_has_a_section_with_its_help() -> None:
    shown = set(commands(page("commands")))
    for name in COMMANDS:
        line = " ".join(("compactctl", *words_of(name), "--help"))
        assert any(each.startswith(line) for each in shown), (
            f"docs/commands.md: add a section with {name} and, in a block marked console, the line "
            f"$ {line}; then run: python tests/docs/generate.py commands"
        )


@pytest.mark.parametrize("stage", ALL_STAGES, ids=lambda stage: stage.name)
def test_every_stage_has_a_section_that_says_when_it_does_nothing(stage: Any) -> None:
    section = sections(page("stages")).get(stage.name, "")
    needed = ("It does nothing", f"--stages {stage.name}")
    missing = [words for words in needed if words not in section]
    assert missing == [], (
        f"docs/stages.md, ## {stage.name}: write {in_backticks(missing)} in "
        f"{'this section' if section else 'a new section of this name'}: a command that"
        " runs the stage, and when it does nothing"
    )


def test_every_option_of_a_stage_is_shown() -> None:
    text = page("commands")
    flags = {
        f"--{stage.name}-{option.name}".replace("_", "-")
        for stage in ALL_STAGES
        for option in options_of_stage(stage)
    }
    missing = sorted(flag for flag in flags if flag not in text)
    assert missing == [], "run: python tests/docs/generate.py commands"


@pytest.mark.parametrize("known", ALL_FORMATS, ids=lambda known: known.name)
def test_every_format_is_described(known: Any) -> None:
    row = f"| `{known.name}` |"
    assert row in page("formats"), f"docs/formats.md: add a row {row} to the table of formats"
    section = sections(page("formats")).get(known.name, "")
    assert "Effective history" in section, (
        f'docs/formats.md: add a section ## {known.name} that says what the "Effective history" is'
    )


def test_every_exit_code_is_described() -> None:
    classes: list[type[errors.CompactctlError]] = [
        errors.CompactctlError,
        *errors.CompactctlError.__subclasses__(),
        DiskError,
    ]
    own = (program.INTERRUPTED, program.TERMINATED, program.OUTPUT_ERROR, errors.INTERNAL_ERROR)
    codes = {0, 1, TOOK_TOO_LONG, *own, *(each.exit_code for each in classes)}
    rows = re.findall(r"^\| ([\d, ]+) \|", page("exit-codes"), flags=re.MULTILINE)
    described = {int(code) for row in rows for code in row.split(",")}
    missing, needless = sorted(codes - described), sorted(described - codes)
    assert missing == [], f"docs/exit-codes.md: add rows for {missing} to the table"
    assert needless == [], f"docs/exit-codes.md: nothing exits with {needless}; remove their rows"


EXITS = re.compile(r"\b[Ee]xit (?:with |code )?(\d+)")


def test_every_option_that_changes_the_exit_code_is_in_its_row() -> None:
    rows = dict(re.findall(r"^\| (\d+) \| (.*)$", page("exit-codes"), flags=re.MULTILINE))
    gates = {
        (code, flag_of(option), name)
        for name, command in Commands().items()
        for option in options_of(command)
        for code in EXITS.findall(getattr(option, "help", None) or "")
    }
    assert gates
    for code, flag, name in sorted(gates):
        assert f"`--{flag}" in rows[code], (
            f"docs/exit-codes.md: name `--{flag}` of `{name}` in the row of {code}, which its help"
            " names"
        )


def test_every_category_and_counter_is_described() -> None:
    text = page("counting")
    categories = [name for name in CATEGORIES if f"| {name} |" not in text]
    assert categories == [], f"docs/counting.md: add rows for {categories} to the categories"
    counters = [name for name in COUNTER_NAMES if f"`{name}`" not in text]
    assert counters == [], f"docs/counting.md: add rows for {counters} to the counters"


def test_every_column_of_the_archive_is_described() -> None:
    text = sections(page("storage"))["Archive"]
    missing = [name for name in COLUMNS if f"`{name}`" not in text]
    assert missing == [], f"docs/storage.md, ## Archive: add rows for {missing} to the columns"


def test_the_readme_has_the_two_commands_of_the_quick_start() -> None:
    blocks = re.findall(
        r"^```bash\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL
    )
    assert blocks == [
        "pip install . && compactctl stats sample_transcripts/claude-code-session.jsonl\n",
        "pip install -e '.[dev]' && pytest -n 2 -q\n",
    ]


def test_every_file_that_is_linked_exists() -> None:
    for path in (*PAGES, ROOT / "CHANGELOG.md", *(ROOT / ".github").glob("*.md")):
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text()):
            is_there = link.startswith("https://") or (path.parent / link).exists()
            assert is_there, f"{path.name} links to {link}, which does not exist: correct the link"


DATA = {"breakdown", "metadata", "categories", "options", "tags", "fields"}


def field_names(value: Any) -> set[str]:
    if isinstance(value, dict):
        inner = [field_names(each) for name, each in value.items() if name not in DATA]
        return set(value).union(*inner)
    if isinstance(value, list):
        return set().union(*map(field_names, value))
    return set()


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files that calls of commands name; they change none of them."""
    folder = tmp_path_factory.mktemp("calls")
    with chdir(folder):
        furnish(folder)
    return folder


@pytest.mark.parametrize("name", CALLS)
def test_every_field_of_a_document_is_described(
    name: str,
    furnished: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(furnished)
    capfd.readouterr()
    run([*CALLS[name], "--json"])
    shown = capfd.readouterr()
    assert shown.out, (
        f"compactctl {name} --json shows nothing; the type of its result needs a row in RESULTS in"
        f" compactctl/views/registry.py, and a view whose name ends in _document\n{shown.err}"
    )
    document = json.loads(shown.out)
    described = sections(page("json"))
    schema = document["schema"]
    assert schema in described, (
        f"docs/json.md: add a section ## {schema} with a table of its keys, which are"
        f" {in_backticks(sorted(field_names(document)))}"
    )
    text = described[schema] + described["Measured with"] + described["as"]
    text += described["compactctl.compact/2"] if name in {"log", "rescue"} else ""
    missing = sorted(each for each in field_names(document) if f"`{each}`" not in text)
    assert missing == [], (
        f"docs/json.md, ## {schema}: add a row to the table of keys for {in_backticks(missing)}"
    )
