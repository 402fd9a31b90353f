"""A session as a page: the figures of the document, all of them, and no other."""

import re
from pathlib import Path

import pytest
from cli.asking import SAMPLES, Ask, Sample
from cli.pages.reading import Page, document_of, page_of
from formats.jsonl import write_lines

from compactctl.commands.measuring.timeline import OVERHEAD
from compactctl.history.categories import CATEGORIES
from compactctl.history.usage.costs import UNSEEN
from compactctl.views.pages.session import ORDER

SESSIONS = ["claude-code-session", "codex-session", "openai-chat"]
MOST_BYTES = 4_000_000


def figure(cell: str) -> int:
    return int(cell.replace(",", "") or 0)


def test_a_path_is_cut_at_its_start_and_a_warning_colors_no_figure(
    ask: Ask, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    assert ask("stats", SAMPLES / "codex-session.jsonl", "--html", page).code == 0
    text = page.read_text()
    labels = re.findall(r"<h3>By file</h3>.*?</section>", text, re.DOTALL)
    assert labels
    assert all(label.count('class="label path"><bdi>') > 1 for label in labels)
    assert ".bars .path { direction: rtl;" in text
    # The card of the next request has its level as a class.
    assert not re.search(r"(?m)^\.(warning|critical|over) \{[^}]*color", text)


def test_every_category_has_its_place_in_a_drawing() -> None:
    assert sorted(ORDER) == sorted((*CATEGORIES, OVERHEAD, UNSEEN))


@pytest.mark.parametrize("name", ["claude-code-session", "codex-session"])
def test_the_table_is_what_the_document_says_of_every_round(
    ask: Ask, excerpt: Sample, tmp_path: Path, name: str
) -> None:
    asked = (excerpt(name), "--prices", "builtin")
    page, document = page_of(ask, tmp_path, *asked), document_of(ask, *asked)
    assert len(page.table) == len(document["rounds"]) > 0
    for row, told in zip(page.table, document["rounds"], strict=True):
        assert figure(row["Request"]) == told["number"]
        assert row["Turn"] == f"{told['turn']}.{told['step']}"
        assert figure(row["Context"]) == told["contextTokens"]
        assert figure(row["New"]) == told["newTokens"]
        assert figure(row["Cache read"]) == told["cacheReadTokens"]
        assert figure(row["Cache miss"]) == told["paidAgainTokens"]
        assert figure(row["Output"]) == told["outputTokens"]
        cost = told["cost"]
        assert row["Cost $"] == ("" if cost is None else f"{cost['input'] + cost['output']:.4f}")
        held = [figure(row[name]) for name in ORDER if name in row]
        assert sum(held) == told["contextTokens"]


@pytest.mark.parametrize("name", SESSIONS)
def test_figures_messages_and_links_are_those_of_the_document(
    ask: Ask, sample: Sample, tmp_path: Path, name: str
) -> None:
    path = sample(name)
    page, document = page_of(ask, tmp_path, path), document_of(ask, path)
    assert (
        f"{document['estimatedInputTokens']:,} of {document['windowTokens']:,} tokens" in page.says
    )
    rows = {bar[0]: bar[1] for bar in page.bars if len(bar) > 1}
    for category, tokens in document["breakdown"].items():
        assert not tokens or rows[category] == f"{tokens:,}"
    for row, field in (
        ("system prompt and tools", "overheadTokens"),
        ("hidden reasoning", "hiddenReasoningTokens"),
        ("message overhead", "frameTokens"),
        ("unexplained", "unexplainedTokens"),
    ):
        assert not document[field] or rows[row] == f"{document[field]:,}"
    for use in document["tools"][:10]:
        assert rows[use["tool"]] == f"{use['callTokens'] + use['resultTokens']:,}"
    for large in document["largestMessages"]:
        assert f"{large['tokens']:,}" in [tokens for bar in page.bars for tokens in bar]
    ids = [value for _, attribute, value in page.attributes if attribute == "id"]
    assert len(page.texts) == document["file"]["historyMessages"]
    assert len(ids) == len(set(ids))
    links = {value for _, attribute, value in page.attributes if attribute == "href"}
    assert all(link.startswith("#") and link[1:] in ids for link in links)
    assert len(page.source.encode()) < MOST_BYTES


def test_where_nothing_was_reported_the_sizes_are_counted(
    ask: Ask, sample: Sample, tmp_path: Path
) -> None:
    path = sample("openai-chat")
    page = page_of(ask, tmp_path, path)
    assert "No usage is recorded: sizes are counted" in page.says
    contexts = [figure(row["Context"]) for row in page.table]
    assert contexts == sorted(contexts)
    assert 0 < contexts[0] < contexts[-1] <= document_of(ask, path)["countedTokens"]
    assert "Cache read" not in page.table[0]


def test_the_terminal_shows_the_same_as_without_a_page(
    ask: Ask, sample: Sample, tmp_path: Path
) -> None:
    path = sample("codex-session")
    plain = ask("stats", path)
    drawn = ask("stats", path, "--html", tmp_path / "page.html")
    assert drawn.out == plain.out


def test_a_redacted_page_holds_no_text_and_no_name(ask: Ask, session: Path, tmp_path: Path) -> None:
    whole = page_of(ask, tmp_path, session, "-f")
    redacted = page_of(ask, tmp_path, session, "--redact", "-f")
    assert "figures only" in redacted.says
    assert redacted.table == whole.table
    assert not redacted.texts
    assert session.name not in redacted.source
    said = {word for text in whole.texts.values() for word in text.split() if len(word) > 24}
    assert said
    assert not [word for word in said if word in redacted.source]
    files = [file["path"] for file in document_of(ask, session)["rereads"]]
    assert files
    assert not [file for file in files if file in redacted.source]


def test_long_texts_are_cut_and_that_is_said(ask: Ask, tmp_path: Path) -> None:
    path = chat(tmp_path, *(f"{number} " + "a word or two " * 3_000 for number in range(120)))
    page = page_of(ask, tmp_path, path)
    assert len(page.source.encode()) < MOST_BYTES
    assert "Texts are cut to 8,000 characters." in page.says
    assert all(text.endswith("more characters]") for text in page.texts.values())


def test_of_very_many_messages_the_smallest_are_left_out(ask: Ask, tmp_path: Path) -> None:
    path = chat(tmp_path, *(f"word {'and more ' * (number % 7)}" for number in range(4_100)))
    page = page_of(ask, tmp_path, path, "--counter", "chars/4")
    assert "The 100 smallest messages are not listed." in page.says
    assert "Each column shows the largest of 3 consecutive requests" in page.says
    assert len(page.table) == 684
    assert len(page.source.encode()) < MOST_BYTES


@pytest.mark.parametrize("lines", [b"", b'{"role": "user", "content": "hello"}\n', b"not JSON\n"])
def test_little_and_broken_transcripts_have_pages_too(
    ask: Ask, tmp_path: Path, lines: bytes
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(lines)
    outcome = ask("stats", path, "--format", "openai-chat", "--html", tmp_path / "page.html")
    assert outcome.code == ask("stats", path, "--format", "openai-chat").code
    assert not (tmp_path / "page.html").exists() or Page(tmp_path / "page.html").rows == []


def chat(folder: Path, *texts: str) -> Path:
    """Return a chat that says these texts in turn."""
    import json

    path = folder / "run.jsonl"
    roles = ("user", "assistant")
    lines = (json.dumps({"role": roles[at % 2], "content": text}) for at, text in enumerate(texts))
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_a_page_is_named_after_its_session(ask: Ask, tmp_path: Path) -> None:
    records = [
        {"type": "user", "uuid": "a", "parentUuid": None, "message": {"role": "user",
         "content": "Fix the parser, please."}},
        {"type": "summary", "leafUuid": "a", "summary": "Parser fixed"},
    ]  # fmt: skip
    path = tmp_path / "run.jsonl"
    for title, lines in (("Parser fixed", records), ("Fix the parser, please.", records[:1])):
        write_lines(path, *lines)
        page = page_of(ask, tmp_path, path, "--format", "claude-code")
        assert f"<title>{title} · compactctl</title>" in page.source
        assert f"<h1>{title}</h1>" in page.source
        redacted = page_of(ask, tmp_path, path, "--format", "claude-code", "--redact")
        assert "arser" not in redacted.says
    compacted = tmp_path / "compact.html"
    assert ask("compact", "-n", path, "--format", "claude-code", "--html", compacted).code == 0
    assert "<h1>Fix the parser, please. (compacted)</h1>" in compacted.read_text()
