"""A fault that is in many records is shown once, with its first places and their number."""

import json
import re
from pathlib import Path

import pytest
from cli.asking import Ask, Sample

from compactctl.views.faults import _MAX_ROWS


def talk(n_faults: int) -> list[dict[str, object]]:
    """Return a chat with tool calls that were never answered."""
    calls: list[dict[str, object]] = [
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
    more: dict[str, object] = {"role": "user", "content": "Go on."}
    return [
        *(message for call in calls for message in (more, call)),
        {"role": "user", "content": "How deep is it?"},
    ]


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


@pytest.mark.parametrize(
    ("chat", "times"), [(1, ""), (3, " (3 times)")], indirect=["chat"], ids=["1", "3"]
)
def test_a_repair_says_how_often_behind_what_it_did(ask: Ask, chat: Path, times: str) -> None:
    shown = ask("compact", chat, "--stages", "repair", "--dry-run").out
    (row,) = [line for line in shown.splitlines() if line.startswith("repair ")]
    assert row.endswith(f"  orphaned call fixed{times}")


def test_without_a_stage_to_run_there_is_no_table(ask: Ask, sample: Sample) -> None:
    shown = ask("compact", sample("openai-chat"), "--target", "100k", "--dry-run").out
    assert "nothing was changed" in shown
    assert "total" not in shown
