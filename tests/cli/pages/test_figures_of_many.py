"""Pages of what many sessions come to: their figures are those of the documents."""

from pathlib import Path
from typing import Any

import pytest
from batch.inputs import transcript, write
from cli.asking import SAMPLES, Ask
from cli.pages.hostile import HOSTILE
from cli.pages.reading import Page, assert_inert

SESSION = SAMPLES / "claude-code-session.jsonl"
EVALUATED = ("--counter", "chars/4", "--stages", "distill", "--keep", "50%,10%")
BAD = "a<img src=x onerror=alert(1)> b"


def paged(ask: Ask, made: Path, *arguments: str | Path, code: int = 0) -> tuple[Page, Any]:
    """Return a page and the document about the same."""
    outcome = ask(*arguments, "--html", made, "--json")
    assert outcome.code == code, outcome.err
    assert f"wrote {made} (a page of " in outcome.err
    page = Page(made)
    assert_inert(page)
    return page, outcome.json


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def test_an_evaluation_has_the_figures_of_its_document(
    ask: Ask, session: Path, tmp_path: Path
) -> None:
    page, document = paged(ask, tmp_path / "page.html", "lab", "eval", session, *EVALUATED)
    rows = [
        (row["Policy"], row["Asked"], row["Kept"], row["Recall"]) for row in page.table_of("Policy")
    ]
    assert rows[: len(document["figures"])] == [
        (
            row["policy"],
            f"{100 * row['asked']:g}%",
            percent(row["kept"]["value"]),
            percent(row["measures"]["recall"]["value"]),
        )
        for row in document["figures"]
    ]
    drawn = [row for row in document["figures"] if row["asked"] < 1]
    assert page.tags["circle"] == len(drawn)
    for row in drawn:
        told = f"{row['policy']}: {percent(row['measures']['recall']['value'])}% recall at"
        assert f"{told} {percent(row['kept']['value'])}% kept" in page.says


def test_intervals_are_drawn_where_there_are_several_sessions(
    ask: Ask, session: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text("".join(session.read_text().splitlines(keepends=True)[:134]))
    page, document = paged(ask, tmp_path / "page.html", "lab", "eval", session, *EVALUATED, other)
    *_, row = (row for row in document["figures"] if row["policy"] == "distill")
    recall = row["measures"]["recall"]
    told = f"({percent(recall['low'])} to {percent(recall['high'])})"
    assert recall["low"] < recall["high"]
    assert f"{percent(recall['value'])} {told}" in page.says
    assert "95% intervals of the mean over resampled sessions" in page.says


def test_nothing_to_evaluate_is_said(ask: Ask, desk: Path, tmp_path: Path) -> None:
    page, _ = paged(ask, tmp_path / "page.html", "eval", desk, "--stages", "distill")
    assert "No cuts: a cut needs 8,000 tokens" in page.says


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Return a folder of sessions of two projects and two weeks, and a file that is none."""
    folder = tmp_path / "in"
    for week, name, size in (("01", "a", 20), ("01", "b", 40), ("15", "a", 90)):
        lines = SESSION.read_text().splitlines()[: 4 * size]
        said = "\n".join(lines).replace("/home/dev/quayside", f"/home/dev/{name}")
        write(folder / f"{name}{week}.jsonl", said.encode() + b"\n")
    write(folder / f"{BAD}.jsonl", transcript(12))
    write(folder / "binary.jsonl", bytes(range(256)))
    return folder


def test_a_batch_has_the_figures_of_its_document(ask: Ask, files: Path, tmp_path: Path) -> None:
    asked = ("batch", files, "--counter", "chars/4", "--no-cache", "-j", "1")
    page, document = paged(ask, tmp_path / "page.html", *asked, code=4)
    good = [row for row in document["files"] if row["status"] != "failed"]
    assert f"{document['totals']['tokensBefore']:,}" in page.says
    for row in good:
        name = Path(row["path"]).name
        assert [name, f"{row['context']:,}"] in page.bars
    assert "exit 4" in page.says
    assert "binary.jsonl" in page.says
    assert BAD in page.says


def test_a_report_has_the_page_of_its_batch(ask: Ask, files: Path, tmp_path: Path) -> None:
    asked = ("batch", files, "--counter", "chars/4", "--no-cache", "-j", "1")
    rows, made = tmp_path / "r.parquet", tmp_path / "batch.html"
    assert ask(*asked, "--report", rows, "--html", made).code == 4
    page, document = paged(ask, tmp_path / "report.html", "report", rows)
    assert page.says == Page(made).says
    projects = {row["Project"]: row for row in page.table_of("Project")}
    for each in document["projects"]:
        assert projects[each["name"]]["Tokens"] == f"{each['tokens']:,}"
        assert projects[each["name"]]["Median request"] == f"{each['context']:,}"


def test_growth_since_a_baseline_is_said(ask: Ask, files: Path, tmp_path: Path) -> None:
    asked = ("batch", files / "a01.jsonl", "--counter", "chars/4", "--no-cache", "-j", "1")
    before, after = tmp_path / "before.parquet", tmp_path / "after.parquet"
    assert ask(*asked, "--report", before).code == 0
    page, _ = paged(ask, tmp_path / "same.html", *asked, "--baseline", before)
    assert "nothing grew by more than 10" in page.says
    grown = ("batch", files / "a15.jsonl", "--counter", "chars/4", "--no-cache", "-j", "1")
    page, _ = paged(
        ask, tmp_path / "grown.html", *grown, "--report", after, "--baseline", before, code=1
    )
    assert "/home/dev/a: the median request grew from" in page.says


@pytest.mark.parametrize("command", ["eval", "batch"])
def test_a_page_for_others_names_no_file_and_no_project(
    ask: Ask, files: Path, tmp_path: Path, command: str
) -> None:
    made = tmp_path / "page.html"
    given = {
        "batch": ("--no-cache", "-j", "1"),
        "eval": ("--stages", "distill", "--keep", "30%"),
    }[command]
    done = ask(command, files, "--counter", "chars/4", *given, "--redact", "--html", made)
    assert done.code == 4
    said = made.read_text()
    for name in ("/home/dev", "a01.jsonl", "binary", "onerror", str(tmp_path)):
        assert name not in said
    assert "This page contains figures only" in said


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_files_are_text(ask: Ask, tmp_path: Path, name: str) -> None:
    safe = HOSTILE[name].replace("/", "_").replace("\0", "")[:80]
    write(tmp_path / "in" / f"{safe}.jsonl", transcript(4))
    made = tmp_path / "page.html"
    assert ask("batch", tmp_path / "in", "--no-cache", "-j", "1", "--html", made).code == 0
    assert_inert(Page(made))
