"""Messages are found by what they say, hidden ones too, and shown page by page."""

import json
from pathlib import Path

import pytest
from file_commands import rewind_file
from unit.commands.conversations import TALK, append, group_of, saved, squeeze, turns, view_of

from compactctl.commands.inspect.view import ViewResult, ViewScope
from compactctl.errors import UsageError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = saved(tmp_path / "run.jsonl", TALK)
    squeeze(found, "window")
    return found


def found(path: Path, *patterns: str, what: ViewScope = "archived", **wanted: int) -> ViewResult:
    return view_of(path, what, patterns=patterns, **wanted)


def said(result: ViewResult) -> list[str]:
    """Return what the lines shown begin with, or the arguments of the call on them."""
    records = [json.loads(line.data) for line in result.lines]
    return [(r["content"] and r["content"][:8]) or "a call" for r in records]


def test_what_was_archived_is_found_by_its_text(path: Path) -> None:
    assert said(found(path, "prompt 1")) == ["prompt 1"]
    assert said(found(path, "prompt 1", what="effective")) == []
    assert said(found(path, "prompt [13]", what="all")) == ["prompt 1", "prompt 3"]
    assert found(path, "prompt").n_matches == 3


def test_every_pattern_must_be_found(path: Path) -> None:
    assert said(found(path, "answer", "2")) == ["answer 2"]
    assert said(found(path, "answer", "prompt")) == []


def test_case_counts_unless_told_otherwise(path: Path) -> None:
    assert said(found(path, "PROMPT 1")) == []
    assert said(found(path, "(?i)PROMPT 1")) == ["prompt 1"]


def test_tool_names_and_arguments_are_searched(path: Path) -> None:
    assert said(found(path, "read_file")) == ["a call"] * 3
    assert said(found(path, r"f1\.py")) == ["a call"]


def test_pages_follow_one_another(path: Path) -> None:
    pages = [found(path, "prompt|answer", limit=4, page=page) for page in (1, 2, 3)]
    assert [said(page) for page in pages] == [
        ["prompt 0", "answer 0", "prompt 1", "answer 1"],
        ["prompt 2", "answer 2"],
        [],
    ]
    assert [(page.n_matches, page.before) for page in pages] == [(6, 0), (6, 4), (6, 6)]


def test_pages_need_no_pattern(path: Path) -> None:
    assert len(found(path, limit=5).messages) == 5
    assert found(path, limit=5).n_matches == 12
    with pytest.raises(UsageError, match="--page needs --limit"):
        found(path, page=2)


def test_a_pattern_that_is_none_is_refused(path: Path) -> None:
    with pytest.raises(UsageError, match=r"--grep '\(' is not a regular expression"):
        found(path, "(")


def test_messages_on_one_line_are_found_one_by_one(tmp_path: Path) -> None:
    path = saved(tmp_path / "run.jsonl", [{"messages": TALK}])
    result = found(path, "prompt [12]", what="effective")
    assert len(result.messages) == 2
    assert [line.data for line in result.lines] == [path.read_bytes()]


def test_nothing_is_lost_by_windows_and_summaries_of_summaries(tmp_path: Path) -> None:
    path = saved(tmp_path / "run.jsonl", TALK)
    first = squeeze(path, "recursive")
    append(path, turns(4, 5))
    second = squeeze(path, "recursive", "window")
    texts = [f"prompt {number}" for number in range(6)]
    assert said(found(path, "^prompt", what="all")) == texts
    assert said(found(path, "^Summarize the conv", what="archived")) == ["Summariz"]
    rewind_file(path, group=group_of(second, "recursive"))
    shown = view_of(path).messages
    ours = [item.message for item in shown if item.message.origin.is_synthetic]
    assert [m.role for m in ours] == ["user", "assistant"]
    assert {m.tags.condense_id for m in ours} == {group_of(first, "recursive")}
    assert said(found(path, "^prompt", what="effective")) == texts[3:]
    rewind_file(path, all=True)
    assert path.read_bytes().count(b"\n") == 24
