"""The tables of figures: what counts once, what is compared, and where they stand."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from benchmarks.accuracy import Result as AccuracyResult
from benchmarks.accuracy_tables import accuracy_tables
from benchmarks.estimates.strict_protocol import Trial
from benchmarks.figures import ROOT, ResultCache
from benchmarks.quality import Checkout, Result, compare_with_earlier
from benchmarks.quality_tables import quality_tables
from benchmarks.samples import interval, summarize
from benchmarks.sessions import LIST, find_sessions
from benchmarks.tables import renew
from excerpts import excerpt


def test_a_session_counts_once_and_the_tail_is_the_worst_tenth() -> None:
    values = [("pond", float(value)) for value in range(1, 11)] + [("brook", 100.0)]

    found = summarize(values, min)

    assert found is not None
    assert (found.sessions, found.projects, found.worst, found.tail) == (11, 2, 1, 2)
    assert found.mean == 155 / 11
    assert summarize([], min) is None


def test_projects_vary_more_than_their_sessions() -> None:
    by_session = interval([[1.0], [1.0], [1.0], [9.0], [9.0], [9.0]])
    by_project = interval([[1.0, 1.0, 1.0], [9.0, 9.0, 9.0]])

    assert by_project == (1, 9)
    assert by_project[0] < by_session[0] < by_session[1] < by_project[1]


def test_few_projects_have_no_interval() -> None:
    found = summarize([("pond", 1.0), ("brook", 2.0)], max)

    assert found is not None
    assert found.by_project is None


def result(policy: str, recall: float, default: float | None = None, session: str = "a") -> Result:
    def shares(value: float) -> dict[str, float]:
        return {"kept": 0.25, "visible": 0.2, "recall": value}

    return Result(
        session=session,
        project="pond",
        policy=policy,
        asked=0.3,
        shares=shares(recall),
        default=None if default is None else shares(default),
    )


def test_a_session_is_the_mean_over_its_cuts() -> None:
    shown = quality_tables(
        [result("default", 0.9), result("default", 0.7), result("default", 0.6, session="b")]
    )

    assert "| Recall | 2 / 1 | 70.0 [60.0, 80.0] |  |  |" in shown


def test_a_rival_is_compared_with_the_default_profile_at_its_size() -> None:
    shown = quality_tables([result("newest", 0.4, 0.8), result("newest", 0.2)])

    assert "| newest, 30% | 1 / 1 | 25.0 | 40.0 +40.0 [40.0, 40.0] |" in shown


def test_an_earlier_commit_is_compared_by_what_both_have() -> None:
    shown = quality_tables([result("earlier", 0.4, 0.5)], Checkout("0ff1ce00", ROOT))

    assert "The default profile of commit 0ff1ce00" in shown
    assert "| Recall | 1 / 1 | 40.0 +10.0 [10.0, 10.0] |  |  |" in shown


def test_the_contexts_of_the_same_code_are_judged_the_same(tmp_path: Path) -> None:
    session = tmp_path / "session.jsonl"
    # Long enough for two cuts.
    session.write_bytes(excerpt("claude-code-session", 160))
    rows = compare_with_earlier(session, Checkout("now", ROOT))

    assert {row["asked"] for row in rows} == {0.3, 0.1, 0.05}
    for row in rows:
        assert row["shares"] == {name: row["default"][name] for name in row["shares"]}


def test_an_error_is_a_mean_over_the_requests_of_a_session() -> None:
    def trial(guess: float) -> Trial:
        return Trial(
            family="Codex", horizon="last request", truth=1_000, crosses=False, guess=guess
        )

    def result(project: str, *trials: Trial) -> AccuracyResult:
        return AccuracyResult(project=project, requests=9, above_window=1, trials=trials)

    results = [
        result("pond", trial(1_100), trial(900)),
        result("brook", trial(1_000)),
    ]

    shown = accuracy_tables(results)

    assert "| Codex | last request | 2 / 2 | 5.00 | [0.00, 10.00] |" in shown
    assert "Of 18 answered requests, 2 exceeded" in shown


def test_tables_take_the_place_of_those_in_the_block() -> None:
    page = "before\n<!-- measured -->\nold\n<!-- end of measured -->\nafter\n"

    assert renew(page, "new") == page.replace("old\n", "\nnew\n\n")


def test_results_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    ResultCache(path).get_or_measure("a", lambda: [1])

    assert ResultCache(path).get_or_measure("a", lambda: [2]) == [1]
    assert json.loads(path.read_text()) == ["a", [1]]


def test_the_listed_sessions_of_a_folder_are_found(tmp_path: Path) -> None:
    project, entry = next(iter(tomllib.loads(LIST.read_text()).items()))
    name = next(iter(entry["sessions"]))
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).touch()

    (found,) = find_sessions(tmp_path)

    assert (found.name, found.project, found.path) == (name, project, tmp_path / name)


@pytest.mark.parametrize("page", ["counting", "quality"])
def test_the_tables_of_a_page_name_their_commit(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text()

    assert re.search(
        r"<!-- measured -->\n\nMeasured on \d{4}-\d\d-\d\d with commit [0-9a-f]{8} ", text
    )
