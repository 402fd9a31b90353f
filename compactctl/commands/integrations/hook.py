"""The answer of a hook before and after a client compacts.

All four clients keep what they compact in their files, so nothing has to be saved first.
"""

import shlex
from collections.abc import Mapping
from typing import Any

from compactctl.asks import GATES, WRITES, flag
from compactctl.clients.integration import Integration
from compactctl.clients.records.json_values import text_or_empty, text_or_none
from compactctl.commands.integrations.integrate import AFTER, BEFORE, STARTED
from compactctl.commands.reading.hook_input import transcript_of
from compactctl.records import Record, replace

_BY_COMPACTION = "compact"
_BY_HAND = "manual"
_REASON = (
    "compactctl blocks manual compactions of this session. To compact it without losing anything, "
    "run: compactctl compact {path}"
)


class HookOptions(Record):
    """The client of the hook, and the command that agents are told to run."""

    integration: Integration
    program: str
    block_manual: bool = flag("Block manual compactions (Claude Code, Codex).", GATES, WRITES)


class HookResult(Record):
    """The answer of a hook; "" where it says nothing.

    ``message`` is for the user, ``context`` for the agent; ``refusal`` keeps the client from
    compacting.
    """

    options: HookOptions
    event: str
    message: str = ""
    context: str = ""
    refusal: str = ""


def hook(hook_input: Mapping[str, Any], options: HookOptions) -> HookResult:
    """Return the answer to an event of a client. Raises as ``audit`` does."""
    event = text_or_empty(hook_input.get("hook_event_name"))
    result = HookResult(options=options, event=event)
    path = transcript_of(hook_input)
    if path is None:
        return result
    if event == BEFORE and options.block_manual and hook_input.get("trigger") == _BY_HAND:
        return replace(result, refusal=_REASON.format(path=shlex.quote(path)))
    if event == AFTER:
        from compactctl.commands.integrations.omissions import describe_losses

        is_heard = options.integration.tells_agent
        losses = describe_losses(path, text_or_none(hook_input.get("compact_summary")))
        message = _message(losses, options) if losses else ""
        return replace(result, message=message, context=_way(options) if is_heard else "")
    if event == STARTED and hook_input.get("source") == _BY_COMPACTION:
        return replace(result, context=_way(options))
    return result


def _message(losses: str, options: HookOptions) -> str:
    return f"The summary omits: {losses}. {_way(options)}"


def _way(options: HookOptions) -> str:
    return (
        "The compacted messages are still in the session. To search them: "
        f"{options.program} view {options.integration.client}:. --archived --grep 'REGEX' --limit 5"
    )
