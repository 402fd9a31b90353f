"""Which files a batch works on."""

import os
from pathlib import Path

import pytest
from batch.inputs import write
from hypothesis import given
from hypothesis import strategies as st

from compactctl.commands.reading.discover import FileChoice, discover
from compactctl.commands.reading.trees import matches
from compactctl.errors import NoInputError, UsageError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def made(*paths: str) -> None:
    for path in paths:
        write(Path(path), b"{}\n")


def found(*paths: str, include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> list[str]:
    choice = FileChoice(paths=paths, include=include, exclude=exclude)
    return [file.path for file in discover(choice)]


def test_what_clients_keep_beside_transcripts_is_passed_by_unless_asked_for() -> None:
    names = ("api_conversation_history.json", "ui_messages.json", "task_metadata.json")
    made(*(f"tasks/1/{name}" for name in names))
    assert found("tasks") == ["tasks/1/api_conversation_history.json"]
    assert found("tasks/*") == ["tasks/1/api_conversation_history.json"]
    assert found("tasks/*/ui_messages.json") == ["tasks/1/ui_messages.json"]
    assert found("tasks/1/ui_messages.json") == ["tasks/1/ui_messages.json"]
    assert found("tasks", include=("ui_*.json",)) == ["tasks/1/ui_messages.json"]


def test_a_folder_gives_its_transcripts_sorted() -> None:
    made("in/b/z.jsonl", "in/b.jsonl", "in/a.json", "in/c.jsonl.gz", "in/d.json.gz", "in/B.jsonl")
    made("in/notes.txt", "in/b/.hidden/x.jsonl")
    names = ["B.jsonl", "a.json", "b/.hidden/x.jsonl", "b/z.jsonl", "b.jsonl", "c.jsonl.gz"]
    assert found("in") == [f"in/{name}" for name in (*names, "d.json.gz")]


def test_the_working_folder_gives_plain_names() -> None:
    made("b/z.jsonl", "a.jsonl")
    assert found(".") == ["a.jsonl", "b/z.jsonl"]


def test_a_file_named_like_standard_input_stays_a_file() -> None:
    made("-")
    assert found(".", include=("*",)) == ["./-"]
    with pytest.raises(UsageError, match="standard input"):
        found("-")


def test_an_empty_path_is_not_the_working_folder() -> None:
    made("a.jsonl")
    with pytest.raises(UsageError, match="empty path"):
        found("")


def test_a_named_file_is_taken_whatever_it_is() -> None:
    made("notes.txt", "run.compacted.jsonl")
    named = ("notes.txt", "run.compacted.jsonl", "missing.jsonl")
    assert found(*named, include=("*.json",)) == list(named)


def test_what_compactctl_wrote_is_passed_by() -> None:
    made("run.jsonl", "run.compacted.jsonl", "run.compacted.2.jsonl", "doc.compacted.json")
    made("run.compacted.jsonl.archive/0001-compact-0123456789ab.parquet")
    made("run.compacted.jsonl.archive/late.jsonl", ".run.jsonl.cctl-123-0")
    assert found(".") == ["run.jsonl"]
    assert found(".", include=("*",)) == ["run.jsonl"]
    assert found("*") == ["run.jsonl"]


def test_a_folder_that_is_only_called_an_archive_is_searched() -> None:
    made("2024.archive/run.jsonl")
    assert found(".") == ["2024.archive/run.jsonl"]


def test_links_to_files_are_followed_and_links_to_folders_are_not() -> None:
    made("kept/run.jsonl", "elsewhere/other.jsonl")
    Path("kept/link.jsonl").symlink_to("../elsewhere/other.jsonl")
    Path("kept/round").symlink_to("..", target_is_directory=True)
    Path("kept/folder.jsonl").symlink_to("../elsewhere", target_is_directory=True)
    assert found("kept") == ["kept/link.jsonl", "kept/run.jsonl"]
    assert found("kept/**/*.jsonl") == ["kept/link.jsonl", "kept/run.jsonl"]
    assert found("kept/round/elsewhere") == ["kept/round/elsewhere/other.jsonl"]


def test_a_link_that_leads_nowhere_is_not_left_out() -> None:
    Path("gone.jsonl").symlink_to("nowhere")
    assert found(".") == ["gone.jsonl"]


def test_a_file_given_twice_is_taken_once() -> None:
    made("in/a.jsonl", "in/b.jsonl")
    Path("in/c.jsonl").symlink_to("a.jsonl")
    full = os.path.realpath("in/b.jsonl")
    assert found("in/b.jsonl", "in", "./in/b.jsonl", full) == ["in/b.jsonl", "in/a.jsonl"]


def test_patterns_stand_for_files_and_folders() -> None:
    made("logs/a/1.jsonl", "logs/a/x/2.jsonl", "logs/b/1.jsonl", "logs/b/odd.txt", "logs/top.jsonl")
    assert found("logs/*/1.jsonl") == ["logs/a/1.jsonl", "logs/b/1.jsonl"]
    assert found("logs/b/*") == ["logs/b/1.jsonl", "logs/b/odd.txt"]
    assert found("logs/[a]") == ["logs/a/1.jsonl", "logs/a/x/2.jsonl"]
    assert found("logs/a*/**") == ["logs/a/1.jsonl", "logs/a/x/2.jsonl"]
    assert found("**/?.jsonl") == [
        "logs/a/1.jsonl",
        "logs/a/x/2.jsonl",
        "logs/b/1.jsonl",
    ]


def test_a_file_whose_name_is_a_pattern_is_that_file() -> None:
    made("run[1].jsonl", "run1.jsonl")
    assert found("run[1].jsonl") == ["run[1].jsonl"]


def test_a_pattern_without_a_match_is_an_error() -> None:
    made("a.jsonl")
    with pytest.raises(NoInputError, match=r"\*\.log: no file matches"):
        found("a.jsonl", "*.log")


def test_nothing_at_all_is_an_error() -> None:
    Path("empty").mkdir()
    with pytest.raises(NoInputError, match="empty: no transcript found"):
        found("empty")
    with pytest.raises(NoInputError, match="no path"):
        found()


def test_include_takes_the_place_of_the_usual_endings() -> None:
    made("in/a.jsonl", "in/b.log", "in/sub/c.log")
    assert found("in", include=("*.log",)) == ["in/b.log", "in/sub/c.log"]
    assert found("in", include=("sub/*",)) == ["in/sub/c.log"]
    assert found("in/*", include=("b.*",)) == ["in/b.log"]


@pytest.mark.parametrize(
    "pattern",
    [
        "old", "old/", "old/**", "**/old", "**/old/", "**/old/**", "old/*", "/old", "/old/**",
        "in/old", "in/old/", "in/**/old", "in/old/**", "in/old/*.jsonl", "./in/old", "ol?",
        "b.jsonl", "*b.jsonl", "**/b.jsonl", "old/**/b.jsonl", "in/**/b.jsonl",
    ],
)  # fmt: skip
def test_a_pattern_excludes_as_in_gitignore(pattern: str) -> None:
    made("in/a.jsonl", "in/old/b.jsonl")
    assert found("in", exclude=(pattern,)) == ["in/a.jsonl"]
    assert found("./in/", exclude=(pattern,)) == ["in/a.jsonl"]
    assert found("in/**/*.jsonl", exclude=(pattern,)) == ["in/a.jsonl"]
    if not pattern.startswith(("/", "old/*")) or pattern == "old/**":
        # As a shell expands in/*/*.jsonl.
        assert found("in/a.jsonl", "in/old/b.jsonl", exclude=(pattern,)) == ["in/a.jsonl"]


@pytest.mark.parametrize("pattern", ["a.jsonl/", "ol", "/b.jsonl", "/a", "in/b.jsonl", "", "/"])
def test_a_pattern_excludes_nothing_else(pattern: str) -> None:
    made("in/a.jsonl", "in/old/b.jsonl")
    assert found("in", exclude=(pattern,)) == ["in/a.jsonl", "in/old/b.jsonl"]
    named = ["in/a.jsonl", "in/old/b.jsonl"]
    assert found(*named, exclude=(pattern,)) == named


def test_exclude_leaves_out_files_and_folders() -> None:
    made("in/a.jsonl", "in/agent-1.jsonl", "in/sub/deep/c.jsonl", "in/x/sub.jsonl")
    assert found("in", exclude=("agent-*", "sub")) == ["in/a.jsonl", "in/x/sub.jsonl"]
    assert found("in/**/*.jsonl", exclude=("sub",)) == [
        "in/a.jsonl",
        "in/agent-1.jsonl",
        "in/x/sub.jsonl",
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may look into every folder")
def test_a_folder_that_cannot_be_looked_into_is_reported(tmp_path: Path) -> None:
    made("in/a.jsonl", "in/locked/b.jsonl")
    locked = tmp_path / "in/locked"
    locked.chmod(0)
    items = discover(FileChoice(paths=("in",)))
    locked.chmod(0o700)
    assert [(item.path, bool(item.problem)) for item in items] == [
        ("in/a.jsonl", False),
        ("in/locked", True),
    ]


@given(st.text(st.characters(exclude_characters="/*?[]"), min_size=1), st.text())
def test_a_name_fits_itself_wherever_it_is(name: str, above: str) -> None:
    assert matches(f"{above}/{name}", [name])
