"""The files that cases name: bundled transcripts, those of the features, and small damaged ones."""

import json
from collections.abc import Mapping
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_BUNDLED = _ROOT / "sample_transcripts"
_FEATURES = _ROOT / "tests" / "features"
SMALL = ("anthropic-messages", "damaged", "neurolink", "openai-chat", "openai-chat-conversations")
_CHAT = (_BUNDLED / "openai-chat.jsonl").read_bytes()
_LINES = _CHAT.splitlines(keepends=True)


def _settings(**options: object) -> bytes:
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in options.items()).encode()


# Each is damaged in a way of its own; together they reach every class of errors of reading.
DAMAGED: Mapping[str, bytes] = {
    "empty.jsonl": b"",
    "blank.jsonl": b"\n\n",
    "no-json.jsonl": b"harbour log, 24 March\nthe tide is out\n",
    "binary.jsonl": bytes(range(256)) * 8,
    "no-messages.jsonl": b'{"name": "bolt", "price": 3}\n{"name": "nut", "price": 1}\n',
    "cut.jsonl": _CHAT[:-200],
    "no-newline.jsonl": b"".join(_LINES[:4]).rstrip(b"\n"),
    "torn.jsonl": b"".join([*_LINES[:6], _LINES[6][:40] + b"\n", *_LINES[7:]]),
    "nul.jsonl": b"".join([*_LINES[:6], b"\0" * 64 + b"\n", *_LINES[6:]]),
    "windows-lines.jsonl": _CHAT.replace(b"\n", b"\r\n"),
    "bom.jsonl": b"\xef\xbb\xbf" + _CHAT,
    "latin.jsonl": b"".join(_LINES[:3]) + '{"role": "user", "content": "Café"}\n'.encode("latin-1"),
    "no-result.jsonl": b"".join(
        line for line in _LINES if b'"role":"tool"' not in line.replace(b" ", b"")
    ),
    "no-call.jsonl": b"".join(line for line in _LINES if b"tool_calls" not in line),
    "pretty.json": json.dumps([json.loads(line) for line in _LINES], indent=2).encode(),
    "api-log.jsonl": b"".join(
        json.dumps(
            {"at": number, "request": {"messages": list(map(json.loads, _LINES[:number]))}}
        ).encode()
        + b"\n"
        for number in (2, 4, 8)
    ),
    "not-read.jsonl": b"".join(
        json.dumps({"role": "user", "content": "Go on.", "scratch": "tide " * 400}).encode() + b"\n"
        for _ in range(4)
    ),
    "new.rank": b"",
}
_WRITTEN: Mapping[str, bytes] = {
    **DAMAGED,
    "told.txt": b"They looked up two ships.\n",
    "sections.md": b"# Goal\n# House rules\n# Files\n# Anything else\n",
    "error.txt": b"prompt is too long: 205,000 tokens > 200,000 maximum\n",
    "prices.toml": b'"gpt-4.1" = {input = 2.5, output = 15, cache_read = 0.25}\n',
    "wrong-prices.toml": b'"gpt-4.1" = {inputs = 2.5}\n',
    "models.toml": b'"gpt-4.1" = {window = "20k", max_output = "4k", counter = "chars/4"}\n',
    "wrong-models.toml": b'"gpt-4.1" = {windows = "20k"}\n',
    "good.toml": _settings(target="5k", layout="inline"),
    "wrong-option.toml": _settings(targets="5k"),
    "wrong-value.toml": _settings(target="five"),
    "no.toml": b"target = \n",
    "mine.toml": b'base = "neurolink"\ntitle = "mine"\n',
    "wrong-profile.toml": b'base = "neurolink"\nthresholds = 0.5\n',
    "tools.json": b'[{"type": "function", "function": {"name": "look", "parameters": {}}}]\n',
    "count.py": (_FEATURES / "count.py").read_bytes(),
    "summarize.py": b"import sys\nprint('They looked up ships.', sys.stdin.read() > '')\n",
    "fails.py": b"import sys\nsys.exit('no summary today')\n",
    **{
        f"hook-{name}.json": json.dumps(
            {
                "session_id": "6f0c",
                "cwd": ".",
                "transcript_path": "claude-code-session.jsonl",
                **event,
            }
        ).encode()
        for name, event in (
            ("before", {"hook_event_name": "PreCompact", "trigger": "manual"}),
            ("after", {"hook_event_name": "PostCompact", "compact_summary": "They fixed it."}),
            ("start", {"hook_event_name": "SessionStart", "source": "compact"}),
        )
    },
    "statusline.json": json.dumps(
        {
            "session_id": "6f0c",
            "version": "2.1.197",
            "transcript_path": "claude-code-session.jsonl",
            "context_window": {
                "context_window_size": 200_000,
                "current_usage": {"input_tokens": 3, "cache_read_input_tokens": 150_000},
            },
        }
    ).encode(),
}
POOL: Mapping[str, bytes | Path] = {
    **{
        path.name: path
        for path in sorted(_FEATURES.iterdir())
        if path.suffix in (".jsonl", ".json")
    },
    **{path.name: path for path in sorted(_BUNDLED.glob("*.jsonl"))},
    "sample_transcripts": _BUNDLED,
    **{f"runs/{name}.jsonl": _BUNDLED / f"{name}.jsonl" for name in SMALL},
    "talks.parquet": Path(__file__).with_name("talks.parquet"),
    "budget": _FEATURES / "budget",
    "systems": _FEATURES / "profiles",
    **_WRITTEN,
}
"""A file by the name that a command line gives it."""
