"""``hook`` as clients expect it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, assert_never

from compactctl.commands.integrations.clients import STARTED
from compactctl.commands.integrations.hook import HookResult
from compactctl.reports.rendering.screen import Raw
from compactctl.reports.rendering.text import one_line

# Clients show it above the conversation, or hand it to the agent.
_LONGEST = 2_000


def hook_terminal(result: HookResult) -> Iterator[Raw]:
    """Yield what the client reads: JSON or text, nothing where there is nothing to say."""
    match result.integration.answer:
        case "decision":
            said = _answer(result, {"decision": "block", "reason": result.refusal})
        case "continue":
            said = _answer(result, {"continue": False, "stopReason": result.refusal})
        case "text":
            said = one_line(result.message or result.context, _LONGEST)
        case _:
            assert_never(result.integration.answer)
    if said:
        yield Raw([said.encode("utf-8", "replace"), b"\n"])


def _answer(result: HookResult, refusal: Mapping[str, Any]) -> str:
    answer: dict[str, Any] = dict(refusal) if result.refusal else {}
    if result.message:
        answer["systemMessage"] = one_line(result.message, _LONGEST)
    if result.context:
        answer["hookSpecificOutput"] = {
            "hookEventName": STARTED,
            "additionalContext": result.context,
        }
    return json.dumps(answer) if answer else ""
