"""``view``: what it finds, and how much of a text it shows."""

from pathlib import Path

from cli.asking import Ask


def test_hidden_messages_are_found_page_by_page(ask: Ask, compacted: Path) -> None:
    every = ask("view", compacted, "--archived", "--grep", "depth")
    page = ask("view", compacted, "--archived", "--grep", "depth", "--limit", "2", "--page", "2")
    assert every.code == page.code == 0
    assert page.out.count("── #") == 2
    _, _, messages = page.out.partition("\n\n")
    assert messages.strip() in every.out
    assert "matching messages, 3 to 4 shown" in page.err
    assert every.err.endswith("matching messages\n")


def test_lines_and_documents_hold_what_was_found(ask: Ask, compacted: Path) -> None:
    search = ("--all", "--grep", "depth", "--grep", "(?i)BERTH", "--limit", "1")
    lines = ask("view", compacted, *search, "--jsonl").out.splitlines()
    assert len(lines) == 1
    assert "depth" in lines[0]
    document = ask("view", compacted, *search, "--json").json
    assert len(document["messages"]) == 1
    assert document["found"] > 1
    assert document["before"] == 0


def test_nothing_found_is_told_and_no_error(ask: Ask, compacted: Path) -> None:
    outcome = ask("view", compacted, "--grep", "no such words here")
    assert (outcome.code, outcome.out) == (0, "")
    assert "0 matching messages" in outcome.err


def test_what_means_nothing_is_a_usage_error(ask: Ask, compacted: Path) -> None:
    assert ask("view", compacted, "--page", "2").code == 2
    assert ask("view", compacted, "--limit", "0").code == 2
    outcome = ask("view", compacted, "--grep", "[")
    assert outcome.code == 2
    assert "--grep '[' is not a regular expression" in outcome.err


def test_long_texts_are_cut_unless_full(ask: Ask, desk: Path) -> None:
    short, full = ask("view", desk).out, ask("view", desk, "--full").out
    assert "more characters; see them with --full]" in short
    assert "see them with --full" not in full
    assert len(full) > len(short)
