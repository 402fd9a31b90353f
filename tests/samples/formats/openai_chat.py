"""The two OpenAI chat samples: one message per line, and one dialog per line."""

import json
from typing import Any

from samples import desk
from samples.desk import DeskTurn
from samples.stamps import Ids, jsonl


def messages(turns: list[DeskTurn], ids: Ids) -> list[dict[str, Any]]:
    """A dialog as chat messages, the system message first."""
    told = [{"role": "system", "content": desk.system_text()}]
    for turn in turns:
        told.append({"role": "user", "content": turn.user})
        if turn.calls:
            told += _calls(turn, ids)
        told.append({"role": "assistant", "content": turn.reply})
    return told


def _calls(turn: DeskTurn, ids: Ids) -> list[dict[str, Any]]:
    """One assistant message with all calls, then one result per call in the same order."""
    named = [(ids.token("call_"), call) for call in turn.calls]
    asked = [
        {
            "id": call_id,
            "type": "function",
            "function": {"name": call.tool, "arguments": json.dumps(call.arguments)},
        }
        for call_id, call in named
    ]
    answers = [
        {"role": "tool", "tool_call_id": call_id, "content": call.answer} for call_id, call in named
    ]
    return [{"role": "assistant", "content": None, "tool_calls": asked}, *answers]


def build_lines() -> bytes:
    """One long dialog, one message per line."""
    return jsonl(messages(desk.dialog(desk.LONG), Ids("openai-chat")))


def build_conversations() -> bytes:
    """Twelve short dialogs, one per line, each with the tools it was offered."""
    ids = Ids("openai-chat-conversations")
    return jsonl(
        [
            {"messages": messages(turns, ids), "tools": desk.tools()}
            for turns in desk.short_dialogs()
        ]
    )
