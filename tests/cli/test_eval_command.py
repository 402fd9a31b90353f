"""What compactions keep, from the command line."""

import csv
import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from cli.asking import Ask, first_turns
from pyarrow import parquet

SHARES = (0.5, 0.3, 0.1)
# Answers with the first sentence of the context that begins as the question says.
READER = """
import re, sys
asked = sys.stdin.read()
start = re.search(r'begins with "(.*?)"', asked)
rest = start and re.escape(start[1]) + r"[^\\n]*?[.!?](?=\\s)"
found = rest and re.search(rest, asked.split("Question:")[0])
print(found[0] if found else "?")
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the first turns of a session, which are enough to cut and to ask about."""
    return first_turns(tmp_path_factory.mktemp("session"))


def document(ask: Ask, session: Path, *arguments: str | Path) -> dict[str, Any]:
    found = ask("lab", "eval", session, "--counter", "chars/4", "--json", *arguments)
    assert found.code == 0, found.err
    read: dict[str, Any] = found.json
    return read


def timeless(value: Any) -> Any:
    """Return a document without how long things took."""
    if isinstance(value, dict):
        return {name: timeless(each) for name, each in value.items() if name != "milliseconds"}
    return [timeless(each) for each in value] if isinstance(value, list) else value


def test_distill_is_compared_with_controls(ask: Ask, session: Path) -> None:
    found = document(ask, session, "--stages", "distill")
    rows = {(row["policy"], row["asked"]): row for row in found["figures"]}
    controls = {(name, share) for name in ("newest", "random", "mask") for share in SHARES}
    assert set(rows) == {("none", 1.0), *controls, *(("distill", share) for share in SHARES)}
    assert all(mean["value"] == 1 for mean in rows["none", 1.0]["measures"].values())
    for share in SHARES:
        row = rows["distill", share]
        assert row["kept"]["value"] <= share
        assert (row["pairErrors"], row["over"]) == (0, 0)
        assert (
            row["measures"]["recall"]["value"]
            > rows["newest", share]["measures"]["recall"]["value"]
        )
    recalls = [rows["distill", share]["measures"]["recall"]["value"] for share in SHARES]
    assert all(more >= less - 0.01 for more, less in pairwise(recalls))


def test_the_screen_says_what_the_figures_are_not(ask: Ask, session: Path) -> None:
    found = ask(
        "lab", "eval", session, "--stages", "distill", "--keep", "30%", "--counter", "chars/4"
    )
    assert found.code == 0
    assert "but the model may not recall them" in found.out
    assert "needs sessions of two projects" in found.out
    assert "recall by  A distill, B newest, C random, D mask" in found.out


def test_a_policy_that_kept_everything_neither_wins_nor_passes(
    ask: Ask, session: Path, tmp_path: Path
) -> None:
    arguments = ("lab", "eval", session, "--counter", "chars/4", "--keep", "10%")
    everything = (*arguments, "--profile", "spring-turns")
    gated = ask(*everything, "--gate", "recall>=0.5@0.1", "--json")
    [figures] = [row for row in gated.json["figures"] if row["policy"] == "spring-turns"]
    assert figures["kept"]["value"] == 1
    assert (figures["verdict"], gated.code) == ("over target", 1)
    assert gated.json["findings"] == ["recall>=0.5@0.1: spring-turns is over target"]
    assert ask(*everything).out.startswith(
        "no policy keeps to 10% of the tokens: spring-turns is over target and keeps 100.0%"
    )
    compared = ask(*arguments, "--profile", "spring-turns,default")
    assert compared.out.startswith("default keeps ")
    baseline = tmp_path / "baseline.json"
    small = gated.out.replace('"over": 1', '"over": 0')
    assert small != gated.out
    baseline.write_text(small)
    again = ask(*everything, "--baseline", baseline)
    assert (again.code, "within it in the baseline" in again.err) == (1, True)


def test_a_session_with_unread_text_passes_no_gate(ask: Ask, session: Path, tmp_path: Path) -> None:
    lines = session.read_text().splitlines(keepends=True)
    number = next(n for n, line in enumerate(lines) if json.loads(line).get("type") == "assistant")
    record = json.loads(lines[number])
    record["message"]["body"] = "Some text that no client is known to write. " * 300
    lines[number] = json.dumps(record) + "\n"
    path = tmp_path / "unread.jsonl"
    path.write_text("".join(lines))
    arguments = ("--counter", "chars/4", "--stages", "distill", "--keep", "30%")
    gate = ("--gate", "recall>=0.1@0.3")
    assert ask("lab", "eval", session, *arguments, *gate).code == 0
    gated = ask("lab", "eval", path, *arguments, *gate)
    assert (gated.code, "recall>=0.1@0.3: distill is incomplete" in gated.err) == (1, True)
    assert "of text in `body`" in gated.err
    baseline = tmp_path / "baseline.json"
    baseline.write_text(ask("lab", "eval", session, *arguments, "--json").out)
    assert ask("lab", "eval", session, *arguments, "--baseline", baseline).code == 0
    compared = ask("lab", "eval", path, *arguments, "--baseline", baseline)
    assert (compared.code, "distill at 0.3: incomplete" in compared.err) == (1, True)
    assert gated.out.startswith("distill keeps ")


@pytest.mark.long
def test_it_is_the_same_under_any_hash_seed(session: Path) -> None:
    given = ("lab", "eval", str(session), "--counter", "chars/4", "--keep", "0.2", "--json")
    runs = [
        subprocess.run(
            [sys.executable, "-m", "compactctl", *given],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        )
        for seed in ("1", "2")
    ]
    one, other = (timeless(json.loads(run.stdout)) for run in runs)
    assert one == other


def test_cuts_can_be_many(ask: Ask, session: Path) -> None:
    given = ("--stages", "dedup", "--keep", "0.3")
    at = document(ask, session, *given, "--at", "0.4,0.6")
    every = document(ask, session, *given, "--every", "5000")
    assert [row["cuts"] for row in at["sessions"]] == [2]
    assert next(row["cuts"] for row in every["sessions"]) >= 2


def test_the_largest_share_comes_first_in_whatever_order_they_are_written(
    ask: Ask, session: Path
) -> None:
    found = document(ask, session, "--stages", "dedup", "--keep", "0.1,30%")
    assert [row["asked"] for row in found["figures"] if row["policy"] == "dedup"] == [0.3, 0.1]


def test_options_of_stages_count(ask: Ask, session: Path) -> None:
    given = ("--stages", "distill", "--keep", "0.3")
    forms = [
        document(ask, session, *given, "--distill-form", form) for form in ("digest", "in-place")
    ]
    kept = [
        [row["kept"] for row in each["figures"] if row["policy"] == "distill"] for each in forms
    ]
    assert kept[0] != kept[1]


def test_files_are_written_on_request(ask: Ask, session: Path, tmp_path: Path) -> None:
    rows, plot = tmp_path / "rows.parquet", tmp_path / "plot.svg"
    given = ("--stages", "distill", "--keep", "0.3,0.1", "--report", rows, "--plot", plot)
    found = document(ask, session, *given)
    table = parquet.read_table(rows).to_pylist()
    assert len(table) == len(found["trials"])
    assert {(row["policy"], row["asked"]) for row in table} >= {("distill", 0.3), ("none", 1.0)}
    assert all(row["recall_hits"] <= row["recall_asked"] for row in table)
    drawn = ET.fromstring(plot.read_text())  # noqa: S314 - written above
    lines = drawn.findall("{http://www.w3.org/2000/svg}polyline")
    assert [len((line.get("points") or "").split()) for line in lines] == [2, 2, 2, 2]
    again = ask("lab", "eval", session, "--plot", plot)
    assert (again.code, "or --force to overwrite it" in again.err) == (2, True)


def test_a_report_has_the_format_of_its_name(ask: Ask, session: Path, tmp_path: Path) -> None:
    arguments = ("lab", "eval", session, "--counter", "chars/4", "--stages", "distill")
    reports = {kind: tmp_path / f"rows.{kind}" for kind in ("parquet", "csv", "jsonl", "md")}
    for report in reports.values():
        assert ask(*arguments, "--keep", "10%", "--report", report).code == 0
    rows = parquet.read_table(reports["parquet"]).to_pylist()
    lines = [json.loads(line) for line in reports["jsonl"].read_text().splitlines()]
    cells = list(csv.DictReader(reports["csv"].read_text().splitlines()))
    assert [timeless(line) for line in lines] == [timeless(row) for row in rows]
    assert [list(row) for row in cells] == [list(row) for row in rows]
    assert [(row["policy"], float(row["kept"])) for row in cells] == [
        (row["policy"], row["kept"]) for row in rows
    ]
    page = reports["md"].read_text().splitlines()
    assert page[2].startswith("distill keeps ")
    [titles] = [line for line in page if line.startswith("| Policy | Asked | Kept |")]
    [figures] = [line for line in page if line.startswith("| distill |")]
    assert titles.count("|") == figures.count("|")


@pytest.mark.parametrize(
    "arguments",
    [
        ("lab", "eval", "SESSION", "--report", "out.txt"),
        ("lab", "eval", "SESSION", "--plot", "out.png"),
        ("stats", "SESSION", "--rounds-out", "out.md"),
        ("batch", "SESSION", "--report", "out.html"),
        ("batch", "SESSION", "--messages-out", "out.csv"),
        ("batch", "SESSION", "--rounds-out", "out.csv"),
        ("report", "SESSION", "--merge", "out.csv"),
    ],
)
def test_no_file_is_written_under_the_name_of_another_format(
    ask: Ask,
    session: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = ask(*(session if word == "SESSION" else word for word in arguments))
    assert (refused.code, f"{arguments[-2]} {arguments[-1]}: cannot write ." in refused.err) == (
        2,
        True,
    )
    assert not (tmp_path / arguments[-1]).exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--report", "SESSION"),
        ("--plot", "SESSION"),
        ("--html", "SESSION"),
        ("--report", "out", "--plot", "out"),
        ("--plot", "out", "--html", "out"),
        ("--plan", "plan.json", "--report", "plan.json"),
    ],
)
def test_no_file_is_written_over_another_one_of_the_same_run(
    ask: Ask,
    session: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ask("compact", session, "--stages", "dedup", "-n", "--plan-out", "plan.json").code == 0
    before = (session.read_bytes(), Path("plan.json").read_bytes())
    named = [session if word == "SESSION" else word for word in arguments]
    outcome = ask("lab", "eval", session, "--force", *named)
    assert (outcome.code, outcome.out) == (2, "")
    assert f"{named[-1]}: is an input or an output" in outcome.err
    assert (session.read_bytes(), Path("plan.json").read_bytes()) == before
    assert not Path("out").exists()


@pytest.mark.parametrize(("limit", "code"), [("0.1", 0), ("1", 1)])
def test_a_gate_decides_about_the_exit_code(ask: Ask, session: Path, limit: str, code: int) -> None:
    gate = f"support>={limit}@0.1"
    given = ("--stages", "distill", "--keep", "0.1", "--counter", "chars/4", "--gate", gate)
    found = ask("lab", "eval", session, *given)
    assert found.code == code
    assert (f"gate: {gate}: distill has" in found.err) == bool(code)


def test_a_baseline_decides_about_the_exit_code(ask: Ask, session: Path, tmp_path: Path) -> None:
    given = ("--stages", "distill", "--keep", "0.1", "--counter", "chars/4")
    before = document(ask, session, *given)
    path = tmp_path / "before.json"
    path.write_text(json.dumps(before))
    assert ask("lab", "eval", session, *given, "--baseline", path).code == 0
    row = next(row for row in before["figures"] if row["policy"] == "distill")
    shares = {name: share for name, share in row["measures"].items() if share}
    name = min(shares, key=lambda measure: shares[measure]["value"])
    shares[name]["value"] = 1
    path.write_text(json.dumps(before))
    found = ask("lab", "eval", session, *given, "--baseline", path)
    assert (found.code, f"gate: {name} of distill at 0.1" in found.err) == (1, True)


def test_a_command_answers_questions_about_each_context(
    ask: Ask, session: Path, tmp_path: Path
) -> None:
    reader = tmp_path / "reader.py"
    reader.write_text(READER)
    command = f"{sys.executable} -IS {reader}"
    found = document(ask, session, "--stages", "distill", "--keep", "0.1", "--answers", command)
    shares = {row["policy"]: row["measures"]["answers"]["value"] for row in found["figures"]}
    assert shares["none"] == shares["distill"] > shares["newest"]


def test_a_command_that_fails_is_not_one_that_is_wrong(ask: Ask, session: Path) -> None:
    found = ask("lab", "eval", session, "--keep", "0.1", "--answers", "false")
    assert (found.code, "--answers false: exit code 1" in found.err) == (2, True)
    found = ask("lab", "eval", session, "--answers", "no-such-reader")
    assert (found.code, "--answers no-such-reader: no such program" in found.err) == (2, True)


def test_a_file_that_fails_does_not_stop_the_others(
    ask: Ask, session: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text("not JSON\n")
    found = ask("lab", "eval", broken, session, "--keep", "0.1", "--json", "--counter", "chars/4")
    assert (found.code, "not evaluated: " in found.err) == (4, True)
    read = found.json
    assert [failure["path"] for failure in read["failures"]] == [str(broken)]
    assert read["figures"]


def test_a_short_session_has_nothing_to_tell(ask: Ask, desk: Path) -> None:
    found = ask("lab", "eval", desk, "--gate", "recall>=0.1@0.3", "--at", "0.99")
    assert (found.code, "a cut needs 8,000 tokens before it" in found.out) == (1, True)
    assert "recall>=0.1@0.3: nothing was measured" in found.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--keep", "3"), "is not a share"),
        (("--at", "no"), "is not a share"),
        (("--profile", "fame"), "no profile or file named"),
        (("--profile", "default,default"), "named twice"),
        (("--stages", "fame"), "no stage named"),
        (("--gate", "fame"), "is not a gate"),
        (("--baseline", "no-such.json"), "no such file"),
        (("--plot", "no-such/plot.svg"), "create it first"),
    ],
)
def test_what_means_nothing_is_refused_before_any_work(
    ask: Ask, session: Path, arguments: tuple[str, ...], said: str
) -> None:
    found = ask("lab", "eval", session, *arguments)
    assert found.code in {2, 3}
    assert said in found.err
    assert not found.out
