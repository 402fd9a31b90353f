"""Every figure of the five documents is in a profile, in what it does otherwise, or in a row.

The figures are those of a matrix of features by system, where it lies beside the checkout.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from docs.feature_rows import rows
from transcripts import FOLDER

MATRIX = FOLDER.parent / "reference" / "systems.md"
TABLE = tomllib.loads((Path(__file__).parents[1] / "golden" / "documents.toml").read_text())
SYSTEMS = ("NL", "CB", "AC", "SP", "VS")
PROFILES = {"neurolink": "NL", "codebuddy": "CB", "agent-code": "AC", "copilot": "VS"}
# A number, in thousands where a k follows; 0.4 and 40% are the same.
_NUMBER = re.compile(r"(\d[\d,_]*(?:\.\d+)?)\s?([kK](?![a-z]))?")


class Stated(NamedTuple):
    """What a system states in a row of the matrix, without what is in brackets."""

    row: str
    system: str
    text: str


def stated() -> Iterator[Stated]:
    """Yield the cells of the matrix that hold a figure."""
    for line in MATRIX.read_text().splitlines() if MATRIX.is_file() else ():
        if re.match(r"\| F\d{3} ", line):
            row, _, *cells = (each.strip() for each in re.split(r"(?<!\\)\|", line)[1:-1])
            texts = (re.sub(r"\([^)]*\)", "", cell) for cell in cells)
            found = zip(SYSTEMS, texts, strict=False)
            yield from (Stated(row, who, text) for who, text in found if re.search(r"\d", text))


def settings_of(row: str, system: str) -> list[dict[str, Any]]:
    each = TABLE["setting"]
    return [s for s in each if s["row"] == row and system_of(s["profile"]) == system]


def system_of(profile: str) -> str:
    """Return whose profile it is; a variant, behind an @, is of the same system."""
    return PROFILES.get(profile.partition("@")[0], "SP")


def numbers(text: str) -> set[float]:
    found = _NUMBER.findall(text)
    return {float(re.sub("[,_]", "", n)) * (1_000 if k else 1) for n, k in found}


@pytest.mark.skipif(not MATRIX.is_file(), reason="no matrix of the documents beside the checkout")
def test_every_figure_is_in_a_profile_or_said_to_differ_or_in_a_row() -> None:
    by_row = {(row, system) for system, each in TABLE["answered_by_row"].items() for row in each}
    assert by_row <= {(row, system) for row, system, _ in stated()}
    for row, system, text in stated():
        answers = settings_of(row, system)
        if (row, system) in by_row:
            continue
        assert answers, f"{row} {system}: {text}"
        said = numbers(" ".join(str(value) for each in answers for value in each.values()))
        known = said | {value * 100 for value in said}
        assert numbers(text) <= known, f"{row} {system}: {text}"


def test_rows_that_answer_for_figures_are_shown_or_left_out_with_a_reason() -> None:
    of = {row.number: row for row in rows()}
    for system, each in TABLE["answered_by_row"].items():
        assert system in SYSTEMS
        for number in each:
            assert of[number].run or of[number].is_omitted


def test_every_setting_names_its_row() -> None:
    known = {row.number for row in rows()}
    assert {each["row"] for each in TABLE["setting"]} <= known
