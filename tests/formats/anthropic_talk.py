"""A conversation as messages of the Anthropic API."""

from typing import Any

RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "print(1)"}
CALL = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.py"}}
TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "Read a.py"},
    {"role": "assistant", "content": [{"type": "text", "text": "Sure."}, CALL]},
    {"role": "user", "content": [RESULT]},
    {"role": "assistant", "content": [{"type": "text", "text": "It prints 1."}]},
]
