"""Rounds as rows of a file, and what gives way to it."""

import csv
import json
from pathlib import Path

import pytest
from cli.asking import Ask, Sample
from pyarrow import parquet

from compactctl.history.categories import CATEGORIES
from compactctl.history.usage.rounds import Round, RoundPlace
from compactctl.model.message import ReportedUsage
from compactctl.views.results.rounds import ENTERED_COLUMNS, ROUND_COLUMNS, ROUNDS, ROUNDS_VERSION

NAME = "claude-code-session"


@pytest.fixture
def made(ask: Ask, sample: Sample, tmp_path: Path) -> Path:
    path = tmp_path / "rounds.parquet"
    outcome = ask(
        "stats", sample(NAME), "--counter", "chars/4", "--prices", "builtin", "--rounds-out", path
    )
    assert outcome.code == 0
    assert f"wrote {path} (70 rows)" in outcome.err
    return path


def test_rows_are_what_the_document_says(ask: Ask, sample: Sample, made: Path) -> None:
    again = ask("stats", sample(NAME), "--counter", "chars/4", "--prices", "builtin", "--json")
    document = again.json
    rows = parquet.read_table(made).to_pylist()
    assert len(rows) == len(document["rounds"]) == 70
    for row, told in zip(rows, document["rounds"], strict=True):
        assert [row[name] for name in ("number", "turn", "step", "line", "context")] == [
            told[name] for name in ("number", "turn", "step", "line", "contextTokens")
        ]
        assert (row["cache_read"], row["new"]) == (told["cacheReadTokens"], told["newTokens"])
        assert row["cost_input"] == told["cost"]["input"]
        assert row["marks"] == ",".join(told["marks"])
        assert json.loads(row["results"]) == told["results"]
        entered = {name: row[column] for column, name in ENTERED_COLUMNS.items() if row[column]}
        assert entered == told["entered"]


def test_rows_can_be_text(ask: Ask, sample: Sample, made: Path, tmp_path: Path) -> None:
    rows = parquet.read_table(made).to_pylist()
    lines, cells = tmp_path / "rounds.jsonl", tmp_path / "rounds.csv"
    for path in (lines, cells):
        arguments = ("--counter", "chars/4", "--prices", "builtin", "--rounds-out", path)
        assert ask("stats", sample(NAME), *arguments).code == 0
    objects = [json.loads(line) for line in lines.read_text().splitlines()]
    assert [{**row, "marks": ",".join(row["marks"])} for row in objects] == rows
    table = list(csv.DictReader(cells.read_text().splitlines()))
    assert [list(row) for row in table] == [list(row) for row in rows]
    assert [(int(row["context"]), row["marks"]) for row in table] == [
        (row["context"], row["marks"]) for row in rows
    ]


def test_every_field_of_a_round_is_a_column_and_the_version_is_named(made: Path) -> None:
    named = {
        name for record in (RoundPlace, Round, ReportedUsage) for name in record.__struct_fields__
    }
    apart = {"place", "usage", "context_growth", "cache_miss_tokens", "entered", "tools"}
    # How far a report can be believed, and parts of other figures.
    details = {"cache_write_1h", "growth", "is_sum", "is_trimmed", "is_final", "is_before_edit"}
    assert named - apart - details < set(ROUND_COLUMNS)
    schema = parquet.read_schema(made)
    assert schema.names == [*ROUND_COLUMNS, *ENTERED_COLUMNS]
    assert set(ENTERED_COLUMNS.values()) == set(CATEGORIES), (
        "ENTERED_COLUMNS needs a column for each of history/categories.py, and another version"
    )
    assert json.loads(schema.metadata[ROUNDS.encode()]) == {"version": ROUNDS_VERSION}


def test_its_own_file_gives_way_and_no_other(
    ask: Ask, sample: Sample, made: Path, tmp_path: Path
) -> None:
    path, notes = sample(NAME), tmp_path / "notes"
    assert ask("stats", path, "--counter", "chars/4", "--rounds-out", made).code == 0
    notes.write_text("mine")
    refused = ask("stats", path, "--counter", "chars/4", "--rounds-out", notes)
    assert (refused.code, refused.out, notes.read_text()) == (2, "", "mine")
    assert "exists, and may not be compactctl's own output" in refused.err
    onto = ask("stats", path, "--rounds-out", path, "--force")
    assert (onto.code, "is an input or an output" in onto.err) == (2, True)
    assert ask("stats", path, "--counter", "chars/4", "--rounds-out", notes, "-f").code == 0
    assert parquet.read_table(notes).num_rows == 70


def test_a_table_of_prices_that_is_none_is_a_usage_error(
    ask: Ask, sample: Sample, tmp_path: Path
) -> None:
    table = tmp_path / "prices.toml"
    table.write_text('"m" = {input = 1}')
    refused = ask("stats", sample(NAME), "--prices", table)
    assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert "prices.toml: 'm': output is missing" in refused.err


@pytest.mark.parametrize("option", ["rounds-out", "prices"])
def test_a_project_sets_neither(
    ask: Ask, sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    (tmp_path / "compactctl.toml").write_text(f'{option} = "there"\n')
    monkeypatch.chdir(tmp_path)
    refused = ask("stats", sample(NAME))
    assert (refused.code, option in refused.err, "a project's file may not set" in refused.err) == (
        2,
        True,
        True,
    )
