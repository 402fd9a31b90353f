"""How tests call each command: its arguments, in a folder with the files that they name."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from cli.asking import SAMPLES, SERVERS

from compactctl.__main__ import run
from compactctl.cli.group import COMMANDS, words_of

# What ``furnish`` puts into a folder: samples, and what is made of the first of them.
_SAMPLES = {
    "run.jsonl": "openai-chat.jsonl",
    "damaged.jsonl": "damaged.jsonl",
    "session.jsonl": "claude-code-session.jsonl",
}
_MADE = (
    ("compact", "run.jsonl", "--target", "5k"),
    ("batch", "run.jsonl", "--report", "batch.parquet"),
)
# Commands that do not take a transcript, or show more of one with other arguments.
_OTHERWISE: Mapping[str, Sequence[str]] = {
    "sessions": (),
    "rescue": ("run.jsonl", "-n"),
    "stats": ("damaged.jsonl",),
    "compact": ("run.jsonl", "--target", "5k", "-n", "--explain"),
    "view": ("run.compacted.jsonl", "--full"),
    "log": ("run.compacted.jsonl",),
    "rewind": ("run.compacted.jsonl", "--check"),
    "archive": (),
    "verify": ("run.compacted.jsonl",),
    "report": ("batch.parquet",),
    "cache": (),
    "audit": ("run.compacted.jsonl",),
    "simulate": ("run.jsonl", "--profile", "spring-tokens"),
    "eval": ("session.jsonl", "--keep", "0.1", "--stages", "distill"),
    "stages": (),
    "profiles": (),
    "models": ("gpt-4.1",),
    "settings": ("compact", "--all"),
    "integrate": ("codex",),
    "hook": ("codex",),
    "statusline": (),
    "overflow": ("prompt is too long",),
}
CALLS: Mapping[str, Sequence[str]] = {
    **{
        name: (*words_of(name), *_OTHERWISE.get(name, ("run.jsonl",)))
        for name in COMMANDS
        if name not in SERVERS
    },
    "view --message": ("view", "session.jsonl", "--message", "9"),
}
"""The command line of each command that comes to a result, by its name."""


def furnish(folder: Path) -> None:
    """Put the files that ``CALLS`` name into a folder, which is the one that tests are in."""
    for name, sample in _SAMPLES.items():
        shutil.copy(SAMPLES / sample, folder / name)
    for call in _MADE:
        assert run(list(call)) == 0
