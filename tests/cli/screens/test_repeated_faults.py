"""A fault that is in many records is shown once, with its first places and their number."""

import json
import re
from pathlib import Path

import pytest
from cli.asking import Ask

from compactctl.views.faults import _MAX_ROWS


def talk(n_faults: int) -> list[dict[str, object]]:
    """Return a chat with tool calls that were never answered."""
    calls = [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": f"call_{number}",
                    "type": "function",
                    "function": {"name": "sound", "arguments": "{}"},
                }
            ],
        }
        for number in range(n_faults)
    ]
    turns = [message for call in calls for message in ({"role": "user", "content": "Go on."}, call)]
    return [*turns, {"role": "user", "content": "How deep is it?"}]


@pytest.fixture
def chat(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "chat.jsonl"
    path.write_text("".join(f"{json.dumps(message)}\n" for message in talk(request.param)))
    return path


@pytest.mark.parametrize(
    ("chat", "n_faults"),
    [(n, n) for n in (1, 2, _MAX_ROWS, _MAX_ROWS + 1, 3 * _MAX_ROWS)],
    indirect=["chat"],
)
def test_its_places_add_up(ask: Ask, chat: Path, n_faults: int) -> None:
    (rule,) = {fault["rule"] for fault in ask("check", chat, "--json").json["faults"]}
    rows = [line for line in ask("check", chat).out.splitlines() if f"  {rule}  " in line]
    more = [int(match[1]) for row in rows if (match := re.match(r"(\d+) more ", row))]
    assert len(rows) - len(more) + sum(more) == n_faults
    assert len(rows) <= _MAX_ROWS + 1

    (row,) = [line for line in ask("batch", chat).out.splitlines() if "will be refused  " in line]
    assert row.count(rule) == 1
    assert (f"{rule} on line 2 and {n_faults - 1} more" in row) == (n_faults > 1)
