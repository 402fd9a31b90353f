from dataclasses import dataclass
from pathlib import Path

import pytest
from formats.jsonl import decoded, file_lines

from compactctl.errors import NotUnderstoodError
from compactctl.formats.registry import detect
from compactctl.history.pairs import orphans
from compactctl.model.transcript import Transcript


@dataclass(frozen=True)
class Known:
    """A real file: its format, and what is wrong with the file itself.

    That is orphaned calls or results, and lines that are not JSON.
    """

    path: str
    format: str
    orphans: int = 0
    damaged: int = 0


OURS = (
    Known("codex/codex-0.12x-small.jsonl", "codex", 1),
    Known("codex/codex-0.140-compacted3.jsonl", "codex"),
    Known("codex/codex-0.142-images-compacted2.jsonl", "codex"),
    Known("codex/codex-0.142-spark-121k-compacted2.jsonl", "codex"),
    Known("codex/codex-0.58-2025-11.jsonl", "codex"),
    # The items of a rollout without their envelope, as the oldest clients wrote them.
    Known("openai-responses/items-from-codex-small.jsonl", "codex", 1),
    Known("anthropic-messages/from-cc-2.1.119.one-message-per-line.jsonl", "anthropic-messages"),
    # One tool message answers several calls at once.
    Known("openai-chat/hf-messages-reasoning-tools.jsonl", "openai-chat", 26),
    # The logged answer calls a tool.
    Known("openai-chat/llm-call-log-with-tools.json", "openai-chat", 1),
    Known("openai-chat/messages-doc-codex-export.json", "openai-chat"),
    Known("openai-chat/tau-airline-task0.one-message-per-line.jsonl", "openai-chat"),
    Known("openai-chat/tau-airline.messages-per-line.jsonl", "openai-chat"),
    # A plain array of chat messages.
    Known("mini-swe-agent/github_issue.traj.json", "openai-chat"),
    Known("claude-code/cc-1.0.98-inline-sidechains.jsonl", "claude-code"),
    Known("claude-code/cc-2.0.76-compact1.jsonl", "claude-code"),
    Known("claude-code/cc-2.1.119-attachments.jsonl", "claude-code"),
    # The session ends while its subagent runs.
    Known("claude-code/cc-2.1.15-progress-noise.jsonl", "claude-code", 1),
    Known("claude-code/cc-2.1.20-compact2-microcompact2.jsonl", "claude-code"),
    Known("claude-code/cc-2.1.217-1m-images.jsonl", "claude-code"),
    Known("claude-code/cc-2.1.217-1m-manual-compact-preserved.jsonl", "claude-code"),
    Known("claude-code/cc-2.1.45-compact1-images.jsonl", "claude-code"),
    Known("claude-code/cc-2.1.49-images18.jsonl", "claude-code"),
    Known("claude-code/cc-2.1.7-dupreads87.jsonl", "claude-code"),
    Known("claude-code/cc-2.1.79-userfork.jsonl", "claude-code"),
    Known("copilot-cli/copilot-cli-1.0.20.jsonl", "copilot-cli"),
    Known("copilot-cli/copilot-cli-1.0.64.jsonl", "copilot-cli"),
    Known("pi/gjc-compaction-badline.jsonl", "pi", damaged=1),
    # A call was cut off by a compaction.
    Known("pi/pi-v1-compaction2.jsonl", "pi", 1),
    Known("pi/pi-v3-small.jsonl", "pi"),
    Known("opencode/opencode-1.2.20-pruned.json", "opencode"),
    Known("opencode/opencode-1.2.24-subagent.json", "opencode"),
    Known("cline/task-1769064454592/api_conversation_history.json", "cline"),
    Known("cline/cline-sdk-basic.compaction.json", "cline"),
    Known("roo/heavy-uncondensed/api_conversation_history.json", "roo"),
    Known("roo/natural-already-condensed/api_conversation_history.json", "roo"),
    Known("roo/synthetic-3-tool-dedup/api_conversation_history.json", "roo"),
)
# One prompt without an answer: there is nothing in it to edit.
READ = (*OURS, Known("copilot-cli/copilot-cli-small.jsonl", "copilot-cli"))
REFUSED = (
    "aider", "anthropic-managed-agent", "cursor", "factory-droid", "gemini-cli", "inspect",
    "kiro", "langchain", "openhands", "parquet", "sharegpt", "specstory-cursor", "swe-agent",
    "tau-bench", "vscode-copilot-chat",
    # The screen and the metadata of tasks, beside their histories.
    "cline/task-1769064454592/ui_messages.json", "cline/task-1769064454592/task_metadata.json",
    "roo/heavy-uncondensed/ui_messages.json", "roo/heavy-uncondensed/task_metadata.json",
    "roo/natural-already-condensed/ui_messages.json",
    "roo/natural-already-condensed/task_metadata.json",
)  # fmt: skip


def transcript(path: Path) -> Transcript:
    lines = decoded(file_lines(path))
    return detect(lines, path.name).read(lines)


@pytest.mark.parametrize("known", READ, ids=lambda known: known.path)
def test_every_line_of_a_real_file_is_accounted_for(known: Known, real_transcripts: Path) -> None:
    path = real_transcripts / known.path
    found = transcript(path)

    assert found.format == known.format
    assert found.n_bytes == path.stat().st_size
    assert len(found.opaque) == known.damaged
    lines_with_messages = {message.line for message in found.messages}
    silent = sum(volume.count for volume in found.meta.values())
    assert len(lines_with_messages) + silent + known.damaged == found.n_lines


@pytest.mark.parametrize("known", READ, ids=lambda known: known.path)
def test_reading_a_real_file_parts_no_tool_pair(known: Known, real_transcripts: Path) -> None:
    found = transcript(real_transcripts / known.path)

    assert len(orphans(found.effective)) == known.orphans


@pytest.mark.parametrize("known", READ, ids=lambda known: known.path)
def test_reading_a_real_file_twice_gives_the_same(known: Known, real_transcripts: Path) -> None:
    path = real_transcripts / known.path
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
    assert (found.window, found.model) == (258_400, "gpt-5.5")
    assert max(reported) == 237_746
    assert len(reported) == 327
