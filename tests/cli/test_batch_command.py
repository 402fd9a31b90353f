"""``compactctl batch``: a row per file, sums, files written, and an exit code that gates."""

import re
from pathlib import Path

import pytest
from cli.asking import SAMPLES, Ask, Sample
from pyarrow import parquet


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two transcripts, one of them below, one cut off, and other data."""
    runs = tmp_path / "runs"
    (runs / "older").mkdir(parents=True)
    (runs / "desk.jsonl").write_bytes((SAMPLES / "openai-chat.jsonl").read_bytes())
    (runs / "older" / "night.jsonl").write_bytes((SAMPLES / "neurolink.jsonl").read_bytes())
    (runs / "older" / "broken.jsonl").write_text('[{"role": "user", "content": "no')
    (runs / "parts.jsonl").write_text('{"name": "bolt"}\n')
    return runs


def test_a_row_per_file_and_the_errors_in_full(ask: Ask, folder: Path) -> None:
    outcome = ask("batch", folder)
    assert outcome.code == 4
    assert re.search(r"desk\.jsonl +openai-chat +unknown( +[\d,]+){2} +\d+\.\d% +ok\n", outcome.out)
    assert re.search(r"broken\.jsonl +failed\n", outcome.out)
    assert re.search(r"\nfailed +\S+broken\.jsonl: .* \(exit 4\)\n", outcome.out)
    assert outcome.out.count("broken.jsonl: ") == 1
    assert "4 files: 1 failed, 2 ok, 1 not a transcript" in outcome.out
    assert "parts.jsonl" not in outcome.out


def test_measuring_writes_nothing(ask: Ask, folder: Path) -> None:
    before = sorted(folder.parent.rglob("*"))
    ask("batch", folder, "--stages", "summarize")
    assert sorted(folder.parent.rglob("*")) == before


@pytest.mark.parametrize(
    ("options", "is_compacted"),
    [
        ((), False),
        (("--fail-over", "2"), False),
        (("--stages", "summarize"), True),
        (("--target", "1000"), True),
        (("--prune-min-savings", "0"), True),
    ],
)
def test_stages_run_when_asked_for(
    ask: Ask, folder: Path, options: tuple[str, ...], *, is_compacted: bool
) -> None:
    document = ask("batch", folder, "--json", *options).json
    assert document["compacted"] is is_compacted
    assert any(file["saved"] is not None for file in document["files"]) is is_compacted


def test_out_gets_every_transcript_at_its_place(ask: Ask, folder: Path) -> None:
    out = folder.parent / "out"
    outcome = ask("batch", folder, "--out", out, "--target", "1000", "--exclude", "broken*")
    assert outcome.code == 0
    assert "wrote 2 transcripts" in outcome.err
    small = out / "older" / "night.compacted.jsonl"
    assert ask("rewind", small).code == 0
    assert small.read_bytes() == (folder / "older" / "night.jsonl").read_bytes()


def test_an_unchanged_copy_is_not_said_to_be_undone(ask: Ask, folder: Path) -> None:
    night = folder / "older" / "night.jsonl"
    night.write_bytes(b"".join(night.read_bytes().splitlines(keepends=True)[:2]))
    options = ("--target", "1000", "--exclude", "broken*")
    outcome = ask("batch", folder, "--out", folder.parent / "out", *options)
    assert "wrote 2 transcripts, 1 of them compacted; undo one with" in outcome.err
    copies = ask("batch", folder / "older", "--out", folder.parent / "copies", *options)
    assert "wrote 1 transcript, none of them compacted\n" in copies.err


def test_the_report_is_a_parquet_file(ask: Ask, folder: Path) -> None:
    report = folder.parent / "report.parquet"
    outcome = ask("batch", folder, "--report", report)
    assert f"wrote {report} (4 rows)" in outcome.err
    rows = parquet.read_table(report).to_pylist()
    assert [Path(row["path"]).name for row in rows] == [
        "desk.jsonl", "broken.jsonl", "night.jsonl", "parts.jsonl",
    ]  # fmt: skip
    assert [row["status"] for row in rows] == ["ok", "failed", "ok", "skipped"]
    assert "first record has: name" in rows[3]["error"]
    assert "4 files: 2 ok, 1 failed, 1 not a transcript\n" in ask("report", report).out


def test_every_form_counts_what_is_not_a_transcript(ask: Ask, tmp_path: Path) -> None:
    """Other data is in every report, fails nothing, and adds nothing to a sum."""
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / "desk.jsonl").write_bytes((SAMPLES / "neurolink.jsonl").read_bytes())
    before = ask("batch", runs, "--json").json["totals"]
    (runs / "parts.jsonl").write_text('{"name": "bolt"}\n')
    names = ("r.csv", "r.md", "r.xml", "r.html")
    csv, md, junit, page = (tmp_path / name for name in names)
    outcome = ask("batch", runs, "--report", csv, "--report", md, "--junit", junit,
                  "--html", page, "--json")  # fmt: skip
    assert outcome.code == 0
    document = outcome.json
    assert document["totals"] == before | {"files": 2, "skipped": 1}
    assert document["files"][1] | {"milliseconds": 0} == {
        **dict.fromkeys(document["files"][1]),
        "path": str(runs / "parts.jsonl"), "status": "skipped", "exitCode": 0, "milliseconds": 0,
        "verdicts": [], "gates": [], "tools": [], "stages": [], "flags": [], "faults": [],
        "categories": {}, "savedBy": {},
        "errorClass": "NotATranscriptError", "error": document["files"][1]["error"],
    }  # fmt: skip
    assert "parts.jsonl,,,,,skipped" in csv.read_text()
    assert "2 files: 1 ok, 1 not a transcript" in md.read_text()
    assert 'tests="2" failures="0" errors="0" skipped="1"' in junit.read_text()
    assert "<skipped message=" in junit.read_text()
    assert "1 not a transcript" in page.read_text()
    assert "<h1>1 transcript</h1>" in page.read_text()


def test_a_folder_without_a_transcript_has_no_input(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"name": "x"}')
    outcome = ask("batch", tmp_path)
    assert outcome.code == 3
    assert "no transcript found: no format recognizes the file" in outcome.err


def test_the_gate_counts_what_is_over(ask: Ask, folder: Path) -> None:
    outcome = ask("batch", folder, "--fail-over", "0.1", "--exclude", "broken*")
    assert outcome.code == 1
    assert "1 file over the limit: 10% of the available input" in outcome.err
    assert re.search(r"desk\.jsonl .* over limit\n", outcome.out)


def test_a_file_that_failed_is_told_beside_the_gate(ask: Ask, folder: Path) -> None:
    outcome = ask("batch", folder, "--fail-over", "0.1")
    assert outcome.code == 1
    assert "exit code 1; not returned: 4 from 1 file\n" in outcome.err
    assert ask("batch", folder).code == 4


def test_only_what_is_included_is_taken(ask: Ask, folder: Path) -> None:
    document = ask("batch", folder, "--include", "night*", "--json").json
    assert [Path(row["path"]).name for row in document["files"]] == ["night.jsonl"]


def test_paths_can_be_piped_in_and_named_as_well(ask: Ask, folder: Path) -> None:
    listed = f"{folder / 'desk.jsonl'}\n".encode()
    named = ("batch", "--files-from", "-", "--json")
    documents = [
        ask(*named, *paths, stdin=listed).json
        for paths in ((), (folder / "older" / "night.jsonl",))
    ]
    names = [{Path(row["path"]).name for row in document["files"]} for document in documents]
    assert names == [{"desk.jsonl"}, {"desk.jsonl", "night.jsonl"}]


def test_tokens_of_different_counters_are_not_added_up(ask: Ask, sample: Sample) -> None:
    paths = [sample("codex-session"), sample("openai-chat")]
    page = paths[0].with_name("page.md")
    result = ask("batch", *paths, "--json").json
    totals, files = result["totals"], result["files"]
    assert len(totals["counters"]) == 2
    assert totals["tokensBefore"] is None
    shown = ask("batch", *paths, "--report", page).out
    for file in files:
        counted = (
            f"{file['tokensBefore']:,} tokens in {file['messages']} messages with {file['counter']}"
        )
        assert counted in shown
    for text in (shown, page.read_text()):
        assert "not added up" in text
        assert f"{sum(file['tokensBefore'] for file in files):,}" not in text


def test_a_report_over_different_counters_names_them_and_has_no_sum(
    ask: Ask, sample: Sample
) -> None:
    paths = [sample("codex-session"), sample("openai-chat")]
    rows = paths[0].with_name("rows.parquet")
    ask("batch", *paths, "--report", rows)
    document = ask("report", rows, "--json").json
    assert document["tokens"] is None
    assert len(document["counters"]) == 2
    shown = ask("report", rows).out
    assert f"not added up: counted with {', '.join(document['counters'])}" in shown
