"""Transcripts on disk, and commands on them that count fast."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from file_commands import compact_file, load_file

from compactctl.commands.compact.result import CompactResult
from compactctl.commands.inspect.log import LogOptions, LogResult, log
from compactctl.commands.inspect.view import ViewOptions, ViewResult, ViewScope, view
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import PlanOptions
from compactctl.commands.reading.transcript import InputOptions
from compactctl.history.protection import ProtectOptions
from compactctl.model.operation import OptionValue
from compactctl.tokens.meter import part_texts

FAST = MeasureOptions(counter="chars/4")
# Small conversations give every stage something to do with these.
EAGER: Mapping[str, Mapping[str, OptionValue]] = {
    "prune": {"min_savings": 0, "protect_tokens": 0},
    "summarize": {"keep_min": 2, "keep_ratio": 0.1, "min_messages": 2},
    "recursive": {"keep_events": 4},
    "window": {"max": 4},
    "truncate": {"fraction": 0.5, "keep_first": 0},
    "collapse": {},
    "dedup": {},
    "microcompact": {"keep_recent": 1},
}


def words(count: int, word: str = "word") -> str:
    return " ".join([word] * count)


def turn(number: int, size: int = 40) -> list[dict[str, Any]]:
    """Return a turn of a chat: a prompt, a read of a file with its result, and an answer."""
    function = {"name": "read_file", "arguments": json.dumps({"path": f"f{number}.py"})}
    call = {"id": f"c{number}", "type": "function", "function": function}
    return [
        {"role": "user", "content": f"prompt {number} {words(size)}"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"file {number} {words(size)}"},
        {"role": "assistant", "content": f"answer {number} {words(size)}"},
    ]


def turns(*numbers: int) -> list[dict[str, Any]]:
    return [record for number in numbers for record in turn(number)]


# What is compacted where any conversation of some turns will do.
TALK = turns(0, 1, 2, 3)


def jsonl(records: Sequence[Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def saved(path: Path, records: Sequence[Any]) -> Path:
    path.write_bytes(jsonl(records))
    return path


def append(path: Path, records: Sequence[Any]) -> bytes:
    more = jsonl(records)
    with path.open("ab") as stream:
        stream.write(more)
    return more


def squeeze(path: Path, *stages: str, **fields: Any) -> CompactResult:
    """Compact in place, or to ``output``, with eager options."""
    usual = {
        "in_place": "output" not in fields,
        "measure": FAST,
        "plan": PlanOptions(stages=stages, settings={name: EAGER[name] for name in stages}),
        "protect": ProtectOptions(keep_turns=0),
    }
    return compact_file(path, **(usual | fields))


def log_of(path: Path) -> LogResult:
    return log(LogOptions(input=InputOptions(path=str(path))))


def view_of(path: Path, what: ViewScope = "effective", **how: Any) -> ViewResult:
    return view(ViewOptions(input=InputOptions(path=str(path)), what=what, **how))


def group_of(result: CompactResult, stage: str) -> str:
    """Return the group that a stage made."""
    return next(r.group for r in result.stages if r.name == stage and r.group)


def said(path: Path) -> list[str]:
    """Return the first words of every message that is sent."""
    messages = load_file(path).transcript.effective
    texts = ("".join(t for part in m.parts for t in part_texts(part)) for m in messages)
    return [" ".join(text.split()[:2]) for text in texts]
