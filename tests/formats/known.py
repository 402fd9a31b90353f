"""What is known of sessions, written and real ones: their formats, and what is wrong with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from real.choice import WRITTEN as WRITTEN_PATHS
from real.choice import client_of, name_of, written
from transcripts import FOLDER, VARIABLE


@dataclass(frozen=True)
class Known:
    """A file: its format, and what is wrong with the file itself.

    That is orphaned calls or results, and lines that are not JSON.
    """

    path: str
    format: str
    orphans: int = 0
    damaged: int = 0
    is_written: bool = False

    @property
    def place(self) -> Path:
        """Where the file is; a test is skipped without it."""
        if self.is_written:
            return written(self.path)
        if not FOLDER.is_dir():
            pytest.skip(f"no real transcripts: {VARIABLE} can name their folder")
        return FOLDER / self.path


# The newest call of a session that was interrupted, and calls in logged answers.
_ORPHANS = {
    "codex/compacted-twice.jsonl": 1,
    "anthropic-messages/log.jsonl": 3,
    "bedrock-converse/log.jsonl": 3,
    "gemini-api/log.jsonl": 3,
    "openai-chat/log.jsonl": 3,
    "openai-responses/log.jsonl": 3,
    "api-log/mixed.jsonl": 3,
}
# A line of it is cut off.
_DAMAGED = {"pi/tree.jsonl": 1}
WRITTEN = tuple(
    Known(
        name,
        client_of(path),
        orphans=_ORPHANS.get(name, 0),
        damaged=_DAMAGED.get(name, 0),
        is_written=True,
    )
    for path in WRITTEN_PATHS
    for name in (name_of(path),)
)
REAL = (
    Known("codex/codex-0.12x-small.jsonl", "codex", 1),
    Known("codex/codex-0.140-compacted3.jsonl", "codex"),
    Known("codex/codex-0.142-images-compacted2.jsonl", "codex"),
    Known("codex/codex-0.142-spark-121k-compacted2.jsonl", "codex"),
    Known("codex/codex-0.58-2025-11.jsonl", "codex"),
    Known("openai-responses/items-from-codex-small.jsonl", "openai-responses", 1),
    Known("anthropic-messages/from-cc-2.1.119.one-message-per-line.jsonl", "anthropic-messages"),
    # One tool message answers several calls at once.
    Known("openai-chat/hf-messages-reasoning-tools.jsonl", "openai-chat", 26),
    # The logged answer calls a tool.
    Known("openai-chat/llm-call-log-with-tools.json", "openai-chat", 1),
    Known("openai-chat/messages-doc-codex-export.json", "openai-chat"),
    Known("openai-chat/tau-airline-task0.one-message-per-line.jsonl", "openai-chat"),
    Known("openai-chat/tau-airline.messages-per-line.jsonl", "openai-chat"),
    # A plain array of chat messages.
    Known("mini-swe-agent/github_issue.traj.json", "mini-swe-agent"),
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
    Known("gemini-cli/gemini-session-a.json", "gemini-cli"),
    Known("gemini-cli/gemini-session-b.json", "gemini-cli"),
    Known("cline/task-1769064454592/api_conversation_history.json", "cline"),
    Known("cline/cline-sdk-basic.compaction.json", "cline"),
    Known("roo/heavy-uncondensed/api_conversation_history.json", "roo"),
    Known("roo/natural-already-condensed/api_conversation_history.json", "roo"),
    Known("roo/synthetic-3-tool-dedup/api_conversation_history.json", "roo"),
)


def each_known(files: Sequence[Known]) -> pytest.MarkDecorator:
    """Parametrize a test over files.

    A change is tried on all that are written, and on the first real one of each client.
    """
    first: dict[str, Known] = {}
    for file in files:
        if not file.is_written:
            first.setdefault(file.path.partition("/")[0], file)
    return pytest.mark.parametrize(
        "known",
        [
            pytest.param(
                file,
                id=file.path,
                marks=() if file.is_written or file in first.values() else pytest.mark.long,
            )
            for file in files
        ],
    )
