"""A compaction as a page: the fates of the document, what was said, and what is there now."""

import json
from pathlib import Path

import pytest
from cli.asking import Ask, Sample, archives
from cli.pages.reading import Page

STAGES = ("--stages", "dedup,prune,summarize", "--keep", "30%", "--prune-min-savings", "0")


def made(ask: Ask, page: Path, *arguments: str | Path) -> Page:
    outcome = ask("compact", *arguments, "--html", page, "-f")
    assert outcome.code == 0, outcome.err
    assert f"wrote {page} (a page of " in outcome.err
    return Page(page)


@pytest.mark.parametrize("name", ["codex-session", "openai-chat"])
def test_its_figures_are_those_of_the_document(
    ask: Ask, sample: Sample, tmp_path: Path, name: str
) -> None:
    path = sample(name)
    page = made(ask, tmp_path / "page.html", path, *STAGES, "-n")
    document = ask("compact", path, *STAGES, "-n", "--explain", "--json").json
    assert f"→ {document['largestRequestTokens']:,} tokens in the next request (" in page.says
    stages = [
        {
            "Tokens before": f"{stage['tokensBefore']:,}",
            "After": f"{stage['tokensAfter']:,}",
            "Stage": stage["name"],
        }
        for stage in document["stages"]
    ]
    told = [{title: row[title] for title in stages[0]} for row in page.table_of("Stage")]
    assert told == stages
    assert len(page.texts) == len(document["messages"])
    for fate in {row["fate"] for row in document["messages"]}:
        rows = [row for row in document["messages"] if row["fate"] == fate]
        before, after = (sum(row[size] for row in rows) for size in ("tokens", "tokensAfter"))
        assert f"{fate}: {before:,} tokens → {after:,} {len(rows):,}" in page.says
    for row in document["messages"]:
        assert " ".join(row["reason"].split())[:100] in page.says


def test_what_was_hidden_and_what_stands_for_it_can_be_read(
    ask: Ask, sample: Sample, tmp_path: Path
) -> None:
    path = sample("openai-chat")
    page = made(ask, tmp_path / "page.html", path, *STAGES, "-n")
    document = ask("compact", path, *STAGES, "-n", "--json").json
    summary = next(each["summaryText"] for each in document["stages"] if each["summaryText"])
    shown = "".join(page.texts.values())
    assert summary.splitlines()[0] in shown
    for line in path.read_text().splitlines():
        content = json.loads(line).get("content") or ""
        assert content.splitlines()[:1] == [] or content.splitlines()[0][:200] in shown
    assert "What the summary lost" in page.says


def test_a_run_writes_both_and_the_page_is_no_part_of_the_transcript(
    ask: Ask, desk: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    plain = ask("compact", desk, *STAGES, "-o", tmp_path / "plain.jsonl")
    drawn = ask("compact", desk, *STAGES, "-o", tmp_path / "drawn.jsonl", "--html", page)
    assert plain.code == drawn.code == 0
    assert drawn.out == plain.out
    assert "dry run" not in Page(page).says
    assert len(archives(tmp_path / "drawn.jsonl")) == 1
    assert ask("rewind", tmp_path / "drawn.jsonl", "--check").code == 0


def test_a_page_takes_the_place_of_no_transcript(ask: Ask, desk: Path, tmp_path: Path) -> None:
    before = desk.read_bytes()
    for page in (desk, desk.with_name("openai-chat.compacted.jsonl"), tmp_path / "out.jsonl"):
        outcome = ask("compact", desk, "-o", tmp_path / "out.jsonl", "--html", page, "-f")
        is_free = page.name == "openai-chat.compacted.jsonl"
        assert outcome.code == (0 if is_free else 2), page
    assert desk.read_bytes() == before


def test_a_redacted_page_holds_figures_only(ask: Ask, sample: Sample, tmp_path: Path) -> None:
    path = sample("codex-session")
    whole = made(ask, tmp_path / "page.html", path, *STAGES, "-n")
    redacted = made(ask, tmp_path / "page.html", path, *STAGES, "-n", "--redact")
    assert "figures only" in redacted.says
    assert not redacted.texts
    assert path.name not in redacted.source
    said = {word for text in whole.texts.values() for word in text.split() if len(word) > 24}
    assert said
    assert not [word for word in said if word in redacted.source]
