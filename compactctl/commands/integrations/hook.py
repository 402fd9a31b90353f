"""What a hook of a client has to say before and after the client compacts.

All four clients leave what they compact in their files: nothing has to be saved before that.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from compactctl.commands.integrations.clients import AFTER, BEFORE, STARTED, Integration
from compactctl.commands.integrations.losses import losses
from compactctl.commands.loading.told_by_client import transcript_of
from compactctl.formats.records.json_values import text_or_empty, text_or_none

_BY_COMPACTION = "compact"
_BY_HAND = "manual"
_REASON = (
    "compactctl was told to keep this session from being summarized by hand. To make it smaller "
    "without losing anything, run: compactctl compact {path}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HookResult:
    """What a hook says; each is "" for nothing.

    ``message`` is for the person, ``context`` for the agent, ``refusal`` keeps the client from
    compacting.
    """

    integration: Integration
    event: str
    message: str = ""
    context: str = ""
    refusal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookOptions:
    """Whose hook it is, the command that agents are told to run, and what is refused."""

    integration: Integration
    program: str
    block_manual: bool = False


def hook(told: Mapping[str, Any], options: HookOptions) -> HookResult:
    """Say what there is to say of an event that a client tells. Raises as ``audit`` does."""
    event = text_or_empty(told.get("hook_event_name"))
    result = HookResult(integration=options.integration, event=event)
    path = transcript_of(told)
    if path is None:
        return result
    if event == BEFORE and options.block_manual and told.get("trigger") == _BY_HAND:
        return replace(result, refusal=_REASON.format(path=shlex.quote(path)))
    if event == AFTER:
        is_heard = options.integration.tells_agent
        lost = losses(path, text_or_none(told.get("compact_summary")))
        message = _message(lost, options) if lost else ""
        return replace(result, message=message, context=_way(options) if is_heard else "")
    if event == STARTED and told.get("source") == _BY_COMPACTION:
        return replace(result, context=_way(options))
    return result


def _message(lost: str, options: HookOptions) -> str:
    return f"The summary does not tell: {lost}. {_way(options)}"


def _way(options: HookOptions) -> str:
    return (
        "What was compacted is still in the session; to search it: "
        f"{options.program} view {options.integration.client}:. --archived --grep 'REGEX' --limit 5"
    )
