"""The tables of docs/quality.md: what counts as tuned on, what is met, what the referee decides."""

import pytest
from benchmarks.quality_page import BEGIN, END, Row, page, project_of

from compactctl.commands.lab.eval_session import Trial
from compactctl.lab.score import Tally


def row(policy: str, recall: int, referee: int, *, project: str = "pond", tokens: int = 30) -> Row:
    trial = Trial(
        session="talk.jsonl",
        project=project,
        cut=0.6,
        requests=9,
        policy=policy,
        asked=0.3,
        prefix=100,
        tokens=tokens,
        tallies={"recall": Tally(recall, 10), "rules": Tally(2, 2)},
        chance=Tally(1, 10),
    )
    words = {"words": (referee, 10), "arguments": (0, 0), "edits": (0, 0), "outputs": (0, 0)}
    return Row(
        session="talk.jsonl",
        project=project,
        policy=policy,
        asked=0.3,
        trial=trial,
        referee=words,
    )


def made(*rows: Row) -> str:
    return page(f"# Page\n{BEGIN}\nold\n{END}\n", rows)


def test_a_row_is_read_as_it_was_written() -> None:
    written = row("distill digest", 9, 8)
    assert Row.from_json(written.as_json()) == written


def test_the_page_says_what_is_met_and_what_is_missed() -> None:
    shown = made(row("distill digest", 9, 8, tokens=31))
    assert "| 30% | recall | 99 | 90.0 |  |" in shown
    assert "| 30% | rules | 100 | **100.0** |  |" in shown
    assert "| 30% | too large | 0 | 1 |  |" in shown
    assert "\nold\n" not in shown


def test_sessions_of_tuned_projects_stand_apart() -> None:
    shown = made(row("distill digest", 9, 8), row("distill digest", 2, 8, project="entireio/cli"))
    others, _, tuned = shown.partition("### Projects it was tuned on")
    assert "| distill digest | 30% | 30.0 | 90.0 |" in others
    assert "| distill digest | 30% | 30.0 | 20.0 |" in tuned


@pytest.mark.parametrize(
    ("stem", "folder", "project"),
    [
        ("cli-0fc364-0", "/home/a/cli", "entireio/cli"),
        ("nimbus-1", "", "dayhaysoos/nimbus"),
        ("talk", "/home/a/pond", "/home/a/pond"),
        ("talk", "", "talk"),
    ],
)
def test_a_session_belongs_to_a_project(stem: str, folder: str, project: str) -> None:
    assert project_of(stem, folder) == project


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ((row("a", 9, 9), row("b", 1, 1)), "(Kendall's tau): 1.00. Of 1 pairs"),
        ((row("a", 9, 1), row("b", 1, 9)), "- b asked for 30% is better than a asked for 30%"),
        ((row("a", 9, 1), row("b", 1, 9, tokens=60)), "(Kendall's tau): -1.00. Of 0 pairs"),
    ],
)
def test_the_referee_decides_about_what_keeps_alike(rows: tuple[Row, ...], said: str) -> None:
    assert said in " ".join(made(*rows).split("\n"))
