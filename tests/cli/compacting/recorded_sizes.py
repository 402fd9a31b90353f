"""Sessions in which a client recorded how large its context was."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cli.asking import Sample, first_turns
from formats.gemini_cli import talks as gemini
from formats.jsonl import write_lines
from formats.opencode import sessions as opencode
from formats.pi import sessions as pi

Json = dict[str, Any]
FULL = 120_000


def in_pi(_: Sample, folder: Path) -> Path:
    entries = []
    for turn in range(8):
        sent = FULL * (turn + 1) // 8
        usage = {"input": 9, "output": 40, "cacheRead": sent - 49, "cacheWrite": 0,
                 "totalTokens": sent, "cost": {"total": 0.25}}  # fmt: skip
        entries += [
            pi.prompt(f"Question {turn}"),
            pi.called(f"c{turn}"),
            pi.answered(f"c{turn}", "the tide turns " * 5_000),
            pi.said("So it does.", usage=usage),
        ]
    return _written(folder / "pi.jsonl", [pi.HEADER, *pi.chained(*entries)])


def _in_opencode(_: Sample, folder: Path) -> Path:
    messages = []
    for turn in range(8):
        sent = FULL * (turn + 1) // 8
        tokens = {"input": 9, "output": 40, "reasoning": 0, "total": sent,
                  "cache": {"read": sent - 149, "write": 100}}  # fmt: skip
        body = "the tide turns " * 5_000
        read = opencode.tool(f"c{turn}", "read", {"filePath": "a"}, output=body)
        messages += [
            opencode.user(opencode.message_id(2 * turn), opencode.text("And?")),
            opencode.assistant(
                opencode.message_id(2 * turn + 1), read, tokens=tokens, cost=0.25, finish="stop"
            ),
        ]
    return _written(folder / "opencode.json", [{"info": opencode.SESSION, "messages": messages}])


def _read_by_gemini(turn: int) -> Json:
    output = "the tide turns " * 5_000
    answer = gemini.answered(f"c{turn}", "read_file", output=output)
    return gemini.tool(f"c{turn}", "read_file", {"file_path": "a"}, answer)


def _in_gemini(_: Sample, folder: Path) -> Path:
    records: list[Json] = [{"sessionId": "s", "projectHash": "0" * 64, "kind": "main"}]
    for turn in range(8):
        sent = FULL * (turn + 1) // 8
        tokens = {"input": sent - 60, "output": 40, "cached": 100, "thoughts": 15, "tool": 5,
                  "total": sent}  # fmt: skip
        records += [
            gemini.user(f"u{turn}", f"Question {turn}"),
            gemini.gemini(
                f"a{turn}", "So it does.", _read_by_gemini(turn), tokens=tokens, model="gemini-3"
            ),
        ]  # fmt: skip
    return _written(folder / "gemini.jsonl", records)


def _written(path: Path, records: list[Json]) -> Path:
    return write_lines(path, *records)


CLIENTS: dict[str, Callable[[Sample, Path], Path]] = {
    "claude-code": lambda _, folder: first_turns(folder),
    "codex": lambda sample, _: sample("codex-session"),
    "pi": in_pi,
    "opencode": _in_opencode,
    "gemini-cli": _in_gemini,
}


def told_by(counts: Json) -> int:
    """Add up what a client takes for its context."""
    for name in ("total_tokens", "totalTokens", "total"):
        if name in counts:
            return int(counts[name])
    return sum(n for name, n in counts.items() if name.endswith("_tokens"))
