"""``compactctl harness file-budget``."""

from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask
from cli.screens.terminal import run_on_terminal

from compactctl.views.terminal.tables import cell_width


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Return a large text, a small one, an image and an empty file."""
    paths = [tmp_path / name for name in ("large.txt", "small.md", "photo.png", "empty")]
    for path, size in zip(paths, (40_000, 400, 9, 0), strict=True):
        path.write_bytes(b"x" * size)
    return paths


def document(ask: Ask, *arguments: str | Path) -> dict[str, Any]:
    outcome = ask("harness", "file-budget", *arguments, "--json")
    assert outcome.code == 0
    found = outcome.json
    assert isinstance(found, dict)
    return found


def test_files_get_their_share_in_order(ask: Ask, files: list[Path]) -> None:
    found = document(ask, *files, "--window", "20k", "--max-tokens", "4000", "--used", "1k")
    assert found["fileBudgetTokens"] == 9_000
    assert [(each["outcome"], each["maxChars"]) for each in found["files"]] == [
        ("cut", 36_000),
        ("excluded", None),
        ("excluded", None),
        ("whole", None),
    ]
    assert found["estimatedTokens"] == 9_000
    assert len(found["notices"]) == 3


def test_the_smallest_files_first(ask: Ask, files: list[Path]) -> None:
    found = document(ask, *files, "--window", "20k", "--aggregate")
    assert found["included"] == [str(files[each]) for each in (3, 2, 1)]
    assert found["excluded"] == [str(files[0])]
    assert found["notices"] == [f'Skipped "{files[0]}" (39 KB) — exceeds context budget']


def test_as_neurolink_does(ask: Ask, files: list[Path]) -> None:
    found = document(ask, *files, "--window", "10", "--neurolink")
    assert {each["outcome"] for each in found["files"]} == {"whole"}


def test_the_window_of_a_model(ask: Ask, files: list[Path], tmp_path: Path) -> None:
    assert document(ask, files[1], "--model", "gpt-4")["windowTokens"] == 8_192
    own = tmp_path / "own.toml"
    own.write_text('mine = "32k"')
    found = document(ask, files[1], "--model", "mine", "--windows", own)
    assert (found["windowTokens"], found["windowSource"]) == (32_000, "'mine' in own.toml")


@pytest.mark.parametrize("width", [60, 80])
def test_the_report_fits_a_terminal(files: list[Path], width: int) -> None:
    names = [path.name for path in files]
    shown = run_on_terminal(
        width, files[0].parent, "file-budget", *names, "--window", "20k", NO_COLOR="1"
    )
    assert "What fits" in shown
    assert 'Cut "large.txt"' in shown
    assert [line for line in shown.splitlines() if cell_width(line) > width] == []


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("none.txt",), 3),
        ((".",), 3),
        (("FILE", "--used", "-1"), 2),
        (("FILE", "--used", "much"), 2),
        (("FILE", "--share", "1.1"), 2),
        (("FILE", "--window", "0"), 2),
        (("FILE", "--aggregate", "--neurolink"), 2),
        (("FILE", "--aggregate", "--proportional"), 2),
        ((), 2),
    ],
)
def test_what_means_nothing_is_refused(
    ask: Ask, files: list[Path], arguments: tuple[str, ...], code: int
) -> None:
    given = [str(files[1]) if each == "FILE" else each for each in arguments]
    outcome = ask("harness", "file-budget", *given)
    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.err.count("\n") == 1
