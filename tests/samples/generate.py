"""Write sample_transcripts/, or check with --check that it is up to date."""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from samples import damaged
from samples.formats import (
    anthropic_messages,
    claude_code,
    codex,
    gemini_cli,
    neurolink,
    openai_chat,
)

FOLDER = Path(__file__).resolve().parents[2] / "sample_transcripts"


@dataclass(frozen=True, slots=True)
class Sample:
    """One file of the folder: its format, how it is built and what it shows."""

    name: str
    format: str
    build: Callable[[], bytes]
    story: str
    shows: str


SAMPLES = (
    Sample(
        "claude-code-session.jsonl",
        "`claude-code`",
        claude_code.build,
        "a long coding session: tide windows, an off-by-one-cent invoice, an audit",
        "about 173,000 o200k tokens of history; the next request would not fit a 200k window; "
        "parallel calls, repeated reads, edits, a subagent, a picture, hooks, usage per response",
    ),
    Sample(
        "codex-session.jsonl",
        "`codex`",
        codex.build,
        "a second session: statements of account",
        "one compaction in the middle, encrypted reasoning, screen copies, repeated token counts",
    ),
    Sample(
        "openai-chat.jsonl",
        "`openai-chat`, one message per line",
        openai_chat.build_lines,
        "a day at the harbour desk",
        "parallel tool calls with large JSON answers, no ids and no times",
    ),
    Sample(
        "openai-chat-conversations.jsonl",
        "`openai-chat`, one dialog per line",
        openai_chat.build_conversations,
        "twelve short calls to the harbour desk",
        "`messages` with `tools`, a dialog without calls, a tool that fails",
    ),
    Sample(
        "anthropic-messages.jsonl",
        "`anthropic-messages`",
        anthropic_messages.build,
        "a third session: notices that never go away",
        "content blocks with thinking and signatures, several results in one message",
    ),
    Sample(
        "gemini-cli-session.jsonl",
        "`gemini-cli`",
        gemini_cli.build,
        "the third session in another client, where it was resumed and a slip taken back",
        "a log in which later lines replace earlier ones, usage per response",
    ),
    Sample(
        "neurolink.jsonl",
        "`neurolink`",
        neurolink.build,
        "the night watch",
        "separate call and result messages, a group that is already condensed",
    ),
    Sample(
        "damaged.jsonl",
        "`claude-code`, damaged",
        damaged.build,
        "the night the disk ran full",
        "CRLF, NUL bytes, torn and glued records, invalid UTF-8, a lone surrogate, duplicate keys, "
        "numbers that do not survive a parser, a cut last line",
    ),
)

INTRODUCTION = """# Sample transcripts

Invented from beginning to end: the harbour, its software, the people and the numbers do not exist.
`python tests/samples/generate.py` writes every file of this folder, the same bytes on every
machine; `--check` compares them.

| file | format | bytes | what it is | what it shows |
|---|---|---|---|---|
"""


def folder() -> dict[str, bytes]:
    """Every file of the folder by name."""
    files = {sample.name: sample.build() for sample in SAMPLES}
    rows = [
        f"| `{sample.name}` | {sample.format} | {len(files[sample.name]):,} | {sample.story} "
        f"| {sample.shows} |\n"
        for sample in SAMPLES
    ]
    return files | {"README.md": (INTRODUCTION + "".join(rows)).encode()}


def stale(files: dict[str, bytes]) -> list[str]:
    """Names of files whose bytes on disk are missing or different."""
    return [
        name
        for name, data in files.items()
        if not (FOLDER / name).is_file() or (FOLDER / name).read_bytes() != data
    ]


def main() -> int:
    """Write the folder, or report what is stale and return 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare and write nothing")
    wanted = parser.parse_args()
    files = folder()
    names = stale(files)
    if wanted.check:
        sys.stdout.write("".join(f"stale: {name}\n" for name in names))
        return 1 if names else 0
    FOLDER.mkdir(exist_ok=True)
    for name in names:
        (FOLDER / name).write_bytes(files[name])
    return 0


if __name__ == "__main__":
    sys.exit(main())
