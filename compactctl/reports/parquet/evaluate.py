"""The trials of an evaluation as a Parquet file."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from compactctl.commands.evaluate.trial import Trial
from compactctl.evaluation.score import ANSWERS, MEASURES, Tally
from compactctl.reports.parquet.table_file import write_table

METADATA = "compactctl.eval"
VERSION = 1
"""Goes up when a column is removed or changes its meaning."""

# Column -> Arrow type; each is the field of Trial of that name.
COLUMNS: Mapping[str, str] = {
    "session": "large_string",
    "project": "large_string",
    "cut": "float64",
    "requests": "int64",
    "policy": "large_string",
    "asked": "float64",
    "prefix": "int64",
    "tokens": "int64",
    "kept": "float64",
    "pair_errors": "int64",
    "milliseconds": "float64",
}
# Each has two columns: how many were asked for, and how many were there.
TALLIES = (*MEASURES, ANSWERS, "chance")


def write_trials(
    trials: Sequence[Trial], path: str | Path, *, force: bool = False
) -> tuple[str, ...]:
    """Write one line per context; see ``write_table``. Null is what was not measured."""
    counts = {f"{name}_{what}": "int64" for name in TALLIES for what in ("asked", "hits")}
    types = {**COLUMNS, **counts}
    return write_table(map(_flat, trials), types, {METADATA: VERSION}, path, force=force)


def _flat(trial: Trial) -> dict[str, object]:
    row: dict[str, object] = {name: getattr(trial, name) for name in COLUMNS}
    tallies: dict[str, Tally | None] = {**trial.tallies, "chance": trial.chance}
    for name in TALLIES:
        tally = tallies.get(name)
        row[f"{name}_asked"] = None if tally is None else tally.asked
        row[f"{name}_hits"] = None if tally is None else tally.hits
    return row
