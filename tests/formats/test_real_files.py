from pathlib import Path

import pytest
from formats.jsonl import decoded, file_lines
from formats.known import REAL, WRITTEN, Known, each_known

from compactctl.clients.detection import detect
from compactctl.errors import NotUnderstoodError
from compactctl.history.pairs import find_orphans
from compactctl.model.transcript import Transcript

# One prompt without an answer: there is nothing in it to edit.
READ = (
    *WRITTEN,
    *REAL,
    Known("copilot-cli/copilot-cli-small.jsonl", "copilot-cli"),
    # Nothing can be hidden in it, only contents replaced.
    Known("vscode-copilot-chat/copilot-chat-export.json", "vscode-copilot-chat"),
)
REFUSED = (
    "aider", "anthropic-managed-agent", "cursor", "factory-droid", "inspect",
    "kiro", "langchain", "openhands", "parquet", "sharegpt", "specstory-cursor", "swe-agent",
    "tau-bench",
    # The screen and the metadata of tasks, beside their histories.
    "cline/task-1769064454592/ui_messages.json", "cline/task-1769064454592/task_metadata.json",
    "roo/heavy-uncondensed/ui_messages.json", "roo/heavy-uncondensed/task_metadata.json",
    "roo/natural-already-condensed/ui_messages.json",
    "roo/natural-already-condensed/task_metadata.json",
)  # fmt: skip


def transcript(path: Path) -> Transcript:
    lines = decoded(file_lines(path))
    return detect(lines, path.name).read(lines)


@each_known(READ)
def test_every_line_of_a_file_is_accounted_for(known: Known) -> None:
    path = known.place
    found = transcript(path)

    assert found.format == known.format
    assert found.n_bytes == path.stat().st_size
    assert len(found.opaque) == known.damaged
    # A line that was cut had text, which is not sent if it stands before a compaction.
    is_compacted = any(message.origin.is_summary for message in found.effective)
    assert found.unread.is_significant is (bool(known.damaged) and not is_compacted)
    lines_with_messages = {message.line for message in found.messages}
    # In a document, what is silent are records.
    silent = sum(volume.count for volume in found.metadata.values()) if found.n_lines > 1 else 0
    assert len(lines_with_messages) + silent + known.damaged == found.n_lines


@each_known(READ)
def test_reading_a_file_parts_no_tool_pair(known: Known) -> None:
    found = transcript(known.place)

    assert len(find_orphans(found.effective)) == known.orphans


@each_known(READ)
def test_reading_a_file_twice_gives_the_same(known: Known) -> None:
    path = known.place
    found = transcript(path)

    assert found == transcript(path)
    ids = [message.id for message in found.messages]
    assert len(set(ids)) == len(ids)
    assert {message.id for message in found.effective} <= set(ids)


@pytest.mark.parametrize("name", REFUSED)
def test_files_of_other_formats_are_refused_by_name(name: str, real_transcripts: Path) -> None:
    place = real_transcripts / name
    paths = [path for path in [place, *sorted(place.rglob("*"))] if path.is_file()]
    assert paths
    for path in paths:
        lines = decoded(file_lines(path))
        with pytest.raises(NotUnderstoodError, match=r"looks like|this is a"):
            detect(lines, path.name, path.read_bytes()[:4_096])


def test_the_window_and_usage_of_a_codex_session(real_transcripts: Path) -> None:
    found = transcript(real_transcripts / "codex/codex-0.140-compacted3.jsonl")

    reported = [message.usage.context for message in found.messages if message.usage]
    assert (found.session.window, found.session.model) == (258_400, "gpt-5.5")
    assert max(reported) == 237_746
    assert len(reported) == 327
